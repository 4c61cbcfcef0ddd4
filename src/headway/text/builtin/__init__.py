"""A corpus that needs no download: one grammar that says the same thing in English, French and Chinese.

`builtin_corpus(seed)` gives the splits; `tables.py` has the words, `constructions.py` lists what is said
with them, `english.py`, `french.py` and `chinese.py` turn a meaning into a sentence.
"""

from headway.text.builtin.constructions import CONSTRUCTIONS
from headway.text.builtin.corpus import LANGUAGES, SIZES, Sentence, builtin_corpus, possible_sentences

__all__ = ["CONSTRUCTIONS", "LANGUAGES", "SIZES", "Sentence", "builtin_corpus", "possible_sentences"]
