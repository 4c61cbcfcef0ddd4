"""Corpora that have a name and need no file: `builtin:en-fr` and the other directions of the built-in corpus."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from headway.errors import UserError, did_you_mean
from headway.text.builtin import LANGUAGES, SIZES, Sentence, builtin_corpus
from headway.text.corpus import Pair

NAMES = tuple(f"builtin:{source}-{target}" for source in LANGUAGES for target in LANGUAGES if source != target)
SPLITS = tuple(SIZES)


@dataclass(frozen=True)
class NamedSplit:
    """One split of a named corpus. Its pairs are made when they are first asked for."""

    name: str
    split: str
    seed: int = 1
    skipped = 0

    def __post_init__(self) -> None:
        languages_of(self.name)
        if self.split not in SPLITS:
            raise UserError(f"{self.name} has no split {self.split}{did_you_mean(self.split, SPLITS)}")

    @property
    def paths(self) -> tuple[Path, ...]:
        return ()

    def __str__(self) -> str:
        return f"{self.name} {self.split}"

    def fingerprint(self) -> dict[str, str]:
        """The hash of the split as it would be in a TSV file."""
        text = "".join(f"{source}\t{target}\n" for source, target in self)
        return {str(self): sha256(text.encode()).hexdigest()}

    def __iter__(self) -> Iterator[Pair]:
        source, target = languages_of(self.name)
        for sentence in _sentences(self.seed, self.split == "train")[self.split]:
            yield Pair(sentence.text(source), sentence.text(target))


def named_corpus(name: str, seed: int = 1) -> dict[str, NamedSplit]:
    """The splits of a named corpus."""
    return {split: NamedSplit(name, split, seed) for split in SPLITS}


def is_name(text: str) -> bool:
    """Whether `text` is meant to be the name of a corpus, right or wrong; no file with both sides looks like one."""
    return re.fullmatch(r"\w{2,}:[\w-]*", text) is not None


def languages_of(name: str) -> tuple[str, str]:
    """Source and target language of a named corpus."""
    if name not in NAMES:
        raise UserError(f"unknown corpus {name}{did_you_mean(name, NAMES)}")
    source, target = name.partition(":")[2].split("-")
    return source, target


@lru_cache(maxsize=2)  # one with and one without training sentences, which take most of the time
def _sentences(seed: int, with_training: bool) -> dict[str, list[Sentence]]:
    return builtin_corpus(seed, {} if with_training else {"train": 0})
