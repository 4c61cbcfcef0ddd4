"""What a translator asks for outputs: sentences as ids in, hypotheses out.

`TorchEngine` is ours, and the reference; another room may have engines that are faster and can do less. Nothing here
needs torch, so that a process without our own engine does without torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from headway.search.results import Hypothesis

if TYPE_CHECKING:
    from torch import Tensor

    from headway.search.alternatives import Alternative

BATCH_TOKENS = 2000
"""How many source tokens engines like best to translate at once, if nothing else is known of them."""

Wish = Literal["phrases", "alignments", "alternatives"]
"""What not every engine can do: promise phrases, show its attention to the source, say what else could have come."""


@dataclass(frozen=True)
class Part:
    """What is searched as one sentence: a line, or a part of one."""

    number: int
    """Of its line, counted from 1. Together with `place`, what is drawn for it depends on it."""
    place: int
    """Of the part in its line, counted from 0."""
    text: str
    source: list[int] = field(default_factory=list)
    """Without EOS; nothing if there is nothing to translate."""
    prefix: list[int] = field(default_factory=list)
    """How the output begins."""
    phrases: list[list[list[int]]] = field(default_factory=list)
    """What it contains: the spellings of each phrase."""
    target: list[int] | None = None
    """The translation that is to be scored, if one is given; without EOS."""
    problem: str | None = None
    """Why it cannot be searched."""
    is_last: bool = True
    """Whether its line has no more parts."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.problem is not None or (not self.source and self.target is None)

    @property
    def is_line(self) -> bool:
        """Whether it is all of its line."""
        return self.is_last and self.place == 0


class Engine(Protocol):
    """A model that is ready to be searched, and how to search it."""

    @property
    def name(self) -> str:
        """What its translations are signed with."""

    @property
    def workers(self) -> int:
        """How many batches it works on at once, asked for by as many threads; 0: it works in the thread that asks."""

    @property
    def batch_tokens(self) -> int:
        """How many source tokens it is to be asked for at once, padding included: as set, or as it likes best."""

    def cannot(self, wish: Wish, /) -> str | None:
        """Why it cannot do this, and what to do; None if it can."""

    def decode(self, parts: Sequence[Part], /) -> list[list[Hypothesis]]:
        """The best outputs of each part, best first."""

    def score(self, parts: Sequence[Part], /) -> list[list[Hypothesis]]:
        """The given targets of parts as hypotheses, one each."""

    def close(self) -> object:
        """Let go of what it has besides memory; it is not asked again."""


@runtime_checkable
class OpenEngine(Engine, Protocol):
    """An engine whose model can be looked into."""

    def cross_attention(self, parts: Sequence[Part], written: Sequence[Sequence[int]], /) -> "Tensor":
        """The weights (B, H, T, S) with which the tokens written look at the sources."""

    def alternatives(self, part: Part, before: Sequence[int], count: int, /) -> "list[Alternative]":
        """The best `count` tokens after the beginning `before` of an output, and how each goes on."""
