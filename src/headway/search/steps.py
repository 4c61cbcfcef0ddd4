"""All that search knows of a model: it reads a batch, then it is asked for the next token again and again.

A sentence is a row of the batch and may be written in several ways at once: its beams. `EncoderDecoder` and
`DecoderOnly` are such models, so is an `Ensemble` of them, and so is a table of probabilities in a test.
"""

from typing import Any, Protocol, Self

from torch import Tensor

EVEN = 8
"""Numbers of sentences that are multiples of this are preferred: products are prepared anew for every new number."""


class State(Protocol):
    """What a model remembers of a batch between two steps."""

    def select(self, rows: Tensor) -> Self:
        """The state of the given sentences, in that order."""

    def branch(self, parents: Tensor) -> Self:
        """The state in which beam n of sentence b goes on from its beam `parents[b, n]` (B, N)."""


class StepModel(Protocol):
    """A model that can be searched. Going on from a state takes it over: use the new one."""

    def start(self, source: Tensor, /) -> State:
        """Read the sources (B, S), padded; each sentence has one beam."""

    def step(self, tokens: Tensor, state: Any, /) -> tuple[Tensor, State]:
        """The newest token of each beam (B, N) -> log-probabilities of the next (B, N, V), ours to overwrite."""


def rows_to_keep(is_over: Tensor) -> Tensor | None:
    """Which sentences (B,) go on, once so many are over that copying the others pays; None: go on with all.

    Some that are over may stay, to make an even number.
    """
    count, live = len(is_over), len(is_over) - int(is_over.sum())
    kept = live if live < EVEN else min(-(-live // EVEN) * EVEN, count)
    if kept == count or 8 * (count - live) < count:
        return None
    return is_over.sort(stable=True).indices[:kept].sort().values
