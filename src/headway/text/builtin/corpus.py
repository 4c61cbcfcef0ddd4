"""The corpus: sentences in three languages, drawn from a seed and dealt into splits.

The *combinations* of a sentence are the sets of content words (nouns, adjectives, verbs) of its clauses, of two words
or more: (animal, cross, street). A hash that depends on nothing but the words holds one combination in ten back. A
sentence with a held-out combination is never in `train` or `valid`; each sentence of `test` and `pronouns` has one. So
what is tested is made of known words in combinations that training never saw.

The splits come from generators of their own, so `test` does not change when `train` grows.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from math import exp
from random import Random
from typing import Any
from zlib import crc32

from headway.errors import UserError, did_you_mean
from headway.text.builtin import chinese, english, french, meanings
from headway.text.builtin.constructions import CONSTRUCTIONS
from headway.text.builtin.draw import Draw
from headway.text.builtin.lexicon import Adjective, Noun, Verb, adjective, noun, verb
from headway.text.builtin.meanings import Joined, Meaning
from headway.text.builtin.pronouns import Riddle, riddles

LANGUAGES = ("en", "fr", "zh")
SIZES = {"train": 40_000, "valid": 1_000, "test": 1_000, "pronouns": 400}
"""Sentences of each split in the standard draw."""
HELD_OUT = 10
"""One combination in so many is never trained on."""
NODES = frozenset(kind for kind in vars(meanings).values() if hasattr(kind, "__slots__")) - {meanings.Pronoun}
"""The classes of which a meaning is built."""
PATIENCE = 20_000
"""So many draws without a new sentence mean that there are no more."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One meaning in three languages.

    `contrasts` is there in the split `pronouns` only: for each language the word that is right in this sentence, and
    the one that is right in its neighbour, the other half of the minimal pair. French marks what *it* is, so there it
    is the pronoun (il, elle); English and Chinese do not, so there it is the adjective (tired, wide; 太累, 太宽).
    """

    en: str
    fr: str
    zh: str
    construction: str
    combinations: tuple[str, ...] = ()
    contrasts: tuple[tuple[str, str], ...] = ()

    def text(self, language: str) -> str:
        """The sentence in one of the `LANGUAGES`."""
        texts = {"en": self.en, "fr": self.fr, "zh": self.zh}
        if language not in texts:
            raise UserError(f"the built-in corpus has no language {language!r}{did_you_mean(language, LANGUAGES)}")
        return texts[language]

    def contrast(self, language: str) -> tuple[str, str]:
        """The word (right, wrong) that shows whether a translation into `language` understood the pronoun."""
        assert self.contrasts, "only the sentences of the split `pronouns` have a contrast"
        return self.contrasts[LANGUAGES.index(language)]

    def is_understood(self, language: str, translation: str) -> bool:
        """Whether a translation into `language` has the right word and not the wrong one."""
        right, wrong = (_has_word(translation, word, language) for word in self.contrast(language))
        return right and not wrong


def _has_word(text: str, word: str, language: str) -> bool:
    return word in text if language == "zh" else re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def builtin_corpus(seed: int = 1, sizes: Mapping[str, int] | None = None) -> dict[str, list[Sentence]]:
    """The splits `train`, `valid`, `test` and `pronouns`, the same for the same seed everywhere.

    `sizes` says how many sentences a split has, where not the standard number. No sentence comes twice, in any
    language, within a split or between them.
    """
    wanted = SIZES | dict(sizes or {})
    for name, size in wanted.items():
        if name not in SIZES:
            raise UserError(f"the built-in corpus has no split {name!r}{did_you_mean(name, SIZES)}")
        if size < 0 or (name == "pronouns" and size % 2):
            expected = "an even number, for they come in pairs" if name == "pronouns" else "0 or more"
            raise UserError(f"the split {name!r} of the built-in corpus cannot have {size} sentences: give {expected}")
    seen: set[str] = set()
    drawn = {name: _split(name, wanted[name], seed, seen) for name in ("pronouns", "test", "valid", "train")}
    return {name: drawn[name] for name in SIZES}


def _split(name: str, size: int, seed: int, seen: set[str]) -> list[Sentence]:
    """So many new sentences of a split; their texts are added to `seen`."""
    random = Random(f"headway {seed} {name}")
    groups = _pairs(random) if name == "pronouns" else _singles(random, held_out=name == "test")
    split: list[Sentence] = []
    idle = 0
    while len(split) < size:
        group = next(groups)
        texts = [text for sentence in group for text in (sentence.en, sentence.fr, sentence.zh)]
        if len(set(texts)) < len(texts) or not seen.isdisjoint(texts):
            idle += 1
            if idle == PATIENCE:
                raise UserError(f"the built-in corpus has no {size} sentences for {name!r}: it has about {len(split)}")
            continue
        idle = 0
        seen.update(texts)
        split += group
    return split


def _singles(random: Random, held_out: bool) -> Iterator[list[Sentence]]:
    """Sentences one by one, all with a held-out combination or all without."""
    for construction, meaning in drawings(random):
        combinations = combinations_of(meaning)
        if any(map(is_held_out, combinations)) == held_out:
            yield [render(meaning, construction, combinations)]


def _pairs(random: Random) -> Iterator[list[Sentence]]:
    """Minimal pairs: two sentences that differ in the adjective, and so in what the pronoun is."""
    famous = next(riddle for riddle in riddles() if _riddle_key(riddle) == FAMOUS)
    yield _pair(famous, "past", (adjective("tired"), adjective("wide")))
    reserved = [riddle for riddle in riddles() if riddle.genders in ("mf", "fm") and is_held_out(_riddle_key(riddle))]
    while True:
        riddle = random.choice(reserved)
        faults = random.choice(riddle.subject_faults), random.choice(riddle.object_faults)
        yield _pair(riddle, random.choice(riddle.tenses), faults)


def _pair(riddle: Riddle, tense: str, faults: tuple[Adjective, Adjective]) -> list[Sentence]:
    pronouns = ("il", "elle") if riddle.subject.gender == "m" else ("elle", "il")
    pair = []
    for i in (0, 1):
        meaning = riddle.meaning(faults[i], tense)
        words = [
            (faults[i].en, faults[1 - i].en),
            (pronouns[i], pronouns[1 - i]),
            (f"太{faults[i].zh}", f"太{faults[1 - i].zh}"),
        ]
        pair.append(render(meaning, "pronoun_reference", combinations_of(meaning), tuple(words)))
    return pair


def drawings(random: Random) -> Iterator[tuple[str, Meaning]]:
    """Meanings without end, with the names of their constructions; nothing is left out, so some come twice."""
    names = list(CONSTRUCTIONS)
    bounds = list(accumulate(CONSTRUCTIONS[name].weight for name in names))
    while True:
        (name,) = random.choices(names, cum_weights=bounds)
        yield name, CONSTRUCTIONS[name].draw(Draw(random))


def render(
    meaning: Meaning,
    construction: str,
    combinations: tuple[str, ...] = (),
    contrasts: tuple[tuple[str, str], ...] = (),
) -> Sentence:
    """The meaning in all the languages."""
    texts = english.sentence(meaning), french.sentence(meaning), chinese.sentence(meaning)
    return Sentence(*texts, construction, combinations, contrasts)


def combinations_of(meaning: Meaning) -> tuple[str, ...]:
    """The combinations of content words of a meaning, one a clause, if it has two words or more."""
    clauses = (meaning.first, meaning.second) if isinstance(meaning, Joined) else (meaning,)
    found = (_content_words(clause) for clause in clauses)
    return tuple(dict.fromkeys(_key(words) for words in found if len(words) > 1))


@cache
def is_held_out(combination: str) -> bool:
    """Whether training must not see it."""
    return combination == FAMOUS or crc32(combination.encode()) % HELD_OUT == 0


def _key(words: list[Noun | Adjective | Verb]) -> str:
    return " + ".join(sorted({f"{word.en} {word.zh}" for word in words}))


def _riddle_key(riddle: Riddle) -> str:
    return _key([riddle.subject, riddle.verb, riddle.object])


FAMOUS = _key([noun("animal"), verb("cross"), noun("street")])
"""The combination of the sentence that everybody knows is always held out, and comes first in `pronouns`."""


def _content_words(node: Any) -> list[Noun | Adjective | Verb]:
    """The nouns, adjectives and verbs in a node and all that is below it."""
    words: list[Noun | Adjective | Verb] = []
    for name in node.__slots__:
        value = getattr(node, name)
        kind = value.__class__
        if kind in (Noun, Adjective, Verb):
            words.append(value)
        elif kind in NODES:
            words += _content_words(value)
    return words


def possible_sentences(draws: int = 1_000) -> dict[str, int]:
    """For each construction, a number of different drawings that it surely has.

    The mean surprise of its choices is the entropy of a construction, and a source with that entropy has at least its
    exponential of different outcomes. The mean is taken over so many draws from a fixed seed.
    """
    return {name: int(exp(_mean_surprise(kind.draw, draws))) for name, kind in CONSTRUCTIONS.items()}


def _mean_surprise(draw_meaning: Callable[[Draw], Meaning], draws: int) -> float:
    draw = Draw(Random("headway count"))
    for _ in range(draws):
        draw_meaning(draw)
    return draw.surprise / draws
