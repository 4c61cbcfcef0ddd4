"""A corpus -> a part to train on and a small part to validate with, for those who have no validation files."""

from collections.abc import Iterator
from dataclasses import dataclass

from headway.errors import UserError
from headway.text.corpus import Corpus, Pair


@dataclass(frozen=True)
class Part:
    """The pairs of a corpus whose number is a multiple of `every`, or all the others."""

    corpus: Corpus
    every: int
    is_held_out: bool

    def __iter__(self) -> Iterator[Pair]:
        for number, pair in enumerate(self.corpus, start=1):
            if (number % self.every == 0) == self.is_held_out:
                yield pair

    def __str__(self) -> str:
        return f"one pair in {self.every:,} of {self.corpus}" if self.is_held_out else f"the rest of {self.corpus}"


def hold_out(corpus: Corpus, pairs: int, wanted: int) -> tuple[Part, Part]:
    """What to train on and what to validate with: about `wanted` of `pairs`, spread evenly, at most every tenth."""
    if pairs < 2:
        count = "one pair" if pairs else "no pair"
        raise UserError(f"{corpus} has {count}, and training needs two: one to learn from, one to validate with")
    every = min(max(-(-pairs // wanted), 10), pairs)
    return Part(corpus, every, False), Part(corpus, every, True)
