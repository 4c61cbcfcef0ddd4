"""What an attention keeps between decoding steps, so that a step computes keys and values of new tokens only.

Two kinds, with one interface. Self-attention appends the newest tokens to what it has. Cross-attention is
given the keys and values of the source once.
"""

from collections.abc import Callable
from typing import Protocol, Self

from torch import Tensor

KeysValues = tuple[Tensor, Tensor]
Project = Callable[[Tensor], KeysValues]


class Cache(Protocol):
    """Remembered keys and values."""

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:
        """Keys and values to attend to, those of `memory` included; `project` makes the ones not yet known."""

    def select(self, rows: Tensor) -> Self:
        """The cache of the given rows of the batch, in that order; a row may come more than once."""


class GrowingCache:
    """Keys and values (B, H, K, E) of all tokens so far, in a buffer that doubles when it is full."""

    def __init__(self) -> None:
        self.length = 0
        self._buffers: KeysValues | None = None

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:
        """Append the tokens of `memory` (B, Q, D) and return all keys and values."""
        assert memory is not None
        keys, values = project(memory)
        start, self.length = self.length, self.length + memory.size(1)
        if self._buffers is None or self.length > self._buffers[0].size(2):
            self._buffers = (self._grow(keys, start, 0), self._grow(values, start, 1))
        for buffer, new in zip(self._buffers, (keys, values), strict=True):
            buffer[:, :, start : self.length] = new
        keys, values = self._buffers
        return keys[:, :, : self.length], values[:, :, : self.length]

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows."""
        chosen = type(self)()
        if self._buffers is not None:
            keys, values = self._buffers
            chosen._buffers = (keys.index_select(0, rows), values.index_select(0, rows))
            chosen.length = self.length
        return chosen

    def _grow(self, new: Tensor, filled: int, which: int) -> Tensor:
        batch, heads, _, width = new.shape
        bigger = new.new_empty(batch, heads, max(16, 2 * self.length), width)
        if self._buffers is not None:
            bigger[:, :, :filled] = self._buffers[which][:, :, :filled]
        return bigger


class FixedCache:
    """Keys and values (B, H, K, E) of a memory that does not change."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self._contents = (keys, values)

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:  # noqa: ARG002
        """What is known; nothing is new."""
        return self._contents

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows."""
        return type(self)(*(x.index_select(0, rows) for x in self._contents))
