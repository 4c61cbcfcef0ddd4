"""Corpora that have a name and need no file: `builtin:en-fr` and the other directions of the built-in corpus."""

from headway.errors import UserError, did_you_mean
from headway.text.builtin import LANGUAGES, builtin_corpus
from headway.text.corpus import Pair

NAMES = tuple(f"builtin:{source}-{target}" for source in LANGUAGES for target in LANGUAGES if source != target)


def named_corpus(name: str, seed: int = 1) -> dict[str, list[Pair]]:
    """The pairs of each split of a named corpus."""
    source, target = languages_of(name)
    return {
        split: [Pair(sentence.text(source), sentence.text(target)) for sentence in sentences]
        for split, sentences in builtin_corpus(seed).items()
    }


def languages_of(name: str) -> tuple[str, str]:
    """Source and target language of a named corpus."""
    if name not in NAMES:
        raise UserError(f"unknown corpus {name}{did_you_mean(name, NAMES)}")
    source, target = name.partition(":")[2].split("-")
    return source, target
