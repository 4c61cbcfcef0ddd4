"""The tokenizers of both sides as one thing: learned together, kept in one file, known by one hash.

A shared vocabulary is written as the `tokenizers` library writes it, so that other tools can read the file; two
vocabularies as an object with `source` and `target`.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from headway.config import TokenizerConfig
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.learn import default_vocabulary, learn_tokenizer
from headway.text.tokenizer import Tokenizer

LEARN_FROM = 1_000_000
"""Pairs that a vocabulary is learned from at most, spread evenly over the corpus."""


@dataclass(frozen=True)
class Vocabulary:
    """The tokenizer of the source side and that of the target side, which are one object if they are shared."""

    source: Tokenizer
    target: Tokenizer

    @property
    def is_shared(self) -> bool:
        """Whether both sides have the same ids."""
        return self.source is self.target

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of all of it."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def to_json(self) -> str:
        """The text of a `tokenizer.json`."""
        if self.is_shared:
            return self.source.to_json()
        sides = {"source": json.loads(self.source.to_json()), "target": json.loads(self.target.to_json())}
        return json.dumps(sides, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "Vocabulary":
        """The inverse of `to_json`."""
        sides = json.loads(text)
        if "target" not in sides:
            both = Tokenizer.from_json(text)
            return cls(both, both)
        return cls(*(Tokenizer.from_json(json.dumps(sides[side])) for side in ("source", "target")))

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """The vocabulary in a file."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise UserError(f"cannot read the vocabulary {path}: {error.strerror}") from None
        except Exception as error:  # the library raises Exception itself
            raise UserError(f"{path} is not a vocabulary: {error}") from None


def learn_vocabulary(
    pairs: Callable[[], Iterable[Pair]], count: int, config: TokenizerConfig, *, at_most: int = LEARN_FROM
) -> Vocabulary:
    """Learn pieces from `count` pairs, each call of `pairs` reading them anew; the size suits the count by default."""
    size = config.size or default_vocabulary(count)
    every = max(-(-count // at_most), 1)

    def learn(lines: Iterable[str]) -> Tokenizer:
        return learn_tokenizer(lines, config.kind, size, config.normalisation)

    def chosen() -> Iterable[Pair]:
        return islice(pairs(), 0, None, every)

    if config.shared:
        both = learn(text for pair in chosen() for text in pair)
        return Vocabulary(both, both)
    return Vocabulary(learn(pair.source for pair in chosen()), learn(pair.target for pair in chosen()))
