"""The language that a corpus is translated into, and how it is known: scores depend on it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headway.evaluate.languages import CODES
from headway.text.corpus import Corpus
from headway.text.files import text_suffix
from headway.text.named import NamedSplit, languages_of

ISO_639_1 = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv "
    "ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne "
    "ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st "
    "su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"
)
KNOWN = frozenset((*ISO_639_1.split(), *CODES))
"""What the suffix of a file is taken for a language by."""


class TargetLanguage(NamedTuple):
    """A language code, and where it comes from."""

    code: str | None
    origin: str


def find_language(
    given: str | None, setting: str | None, corpus: Corpus | None, targets: Sequence[Path] = ()
) -> TargetLanguage:
    """The language that was given, that of data.target_language, of a named corpus, or of the targets' file names."""
    if given is not None:
        return TargetLanguage(given, "as given")
    if setting is not None:
        return TargetLanguage(setting, "data.target_language")
    if isinstance(corpus, NamedSplit):
        return TargetLanguage(languages_of(corpus.name)[1], f"of {corpus.name}")
    for path in targets:
        suffix = text_suffix(path).removeprefix(".")
        if suffix.partition("-")[0].partition("_")[0] in KNOWN:
            return TargetLanguage(suffix, f"from the name {path.name}")
    return TargetLanguage(None, "unknown; give it by --language")
