"""What an attention keeps between decoding steps, so that a step computes keys and values of new tokens only.

Two kinds, with one interface. Self-attention appends the newest tokens to what it has. Cross-attention is
given the keys and values of the source once.

The beams of a sentence share one cache: nothing is copied when a beam splits or ends. The newest tokens of all beams
are appended side by side, and a `Lineage` knows which of the remembered tokens each beam descends from.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

import torch
from torch import Tensor

from headway.nn.masks import Band, Full, Pattern, TopK

KeysValues = tuple[Tensor, Tensor]
Project = Callable[[Tensor], KeysValues]
Restriction = tuple[Tensor | None, Pattern]
"""A mask that broadcasts to (B, H, Q, K), and the pattern that still has to be applied."""


class Cache(Protocol):
    """Remembered keys and values."""

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:
        """Keys and values to attend to, those of `memory` included; `project` makes the ones not yet known."""

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """What may be attended to among the remembered, given what a `mask` and a `pattern` allow."""


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

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """No more than without a cache: the tokens stand in order."""
        return mask, pattern

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows of the batch, in that order; a row may come more than once."""
        chosen = type(self)()
        if self._buffers is not None:
            keys, values = self._buffers
            chosen._buffers = (keys.index_select(0, rows), values.index_select(0, rows))
            chosen.length = self.length
        return chosen

    def keep(self, places: Tensor) -> Self:
        """A copy that remembers only the tokens at the given places (B, K), in that order."""
        assert self._buffers is not None, "nothing is remembered yet"
        chosen = type(self)()
        chosen.length = places.size(1)
        keys, values = (self._kept(buffer, places) for buffer in self._buffers)
        chosen._buffers = (keys, values)
        return chosen

    def _kept(self, buffer: Tensor, places: Tensor) -> Tensor:
        """The tokens of a buffer (B, H, K', E) at the given places, in one that has room for as many again."""
        batch, heads, _, width = buffer.shape
        index = places[:, None, :, None].expand(-1, heads, -1, width)  # (B, H, K, E)
        roomy = buffer.new_empty(batch, heads, 2 * places.size(1), width)
        roomy[:, :, : places.size(1)] = buffer.gather(2, index)
        return roomy

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

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """No more than without a cache."""
        return mask, pattern

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows of the batch, in that order; a row may come more than once."""
        return type(self)(*(x.index_select(0, rows) for x in self._contents))


@dataclass(frozen=True)
class Lineage:
    """Which of the K remembered tokens of a sentence each of its N beams descends from."""

    is_ancestor: Tensor
    """(B, N, K)."""
    positions: Tensor
    """Where each of the remembered tokens stands (B, K)."""

    @classmethod
    def of_one_beam(cls, rows: int, length: int, device: torch.device) -> "Lineage":
        """Every one of `length` remembered tokens belongs to the only beam."""
        is_ancestor = torch.ones(rows, 1, length, dtype=torch.bool, device=device)
        return cls(is_ancestor, torch.arange(length, device=device).expand(rows, -1))

    def branch(self, parents: Tensor) -> "Lineage":
        """Beam n of sentence b goes on from its beam `parents[b, n]` (B, N)."""
        index = parents[..., None].expand(-1, -1, self.positions.size(1))  # (B, N, K)
        return Lineage(self.is_ancestor.gather(1, index), self.positions)

    def extend(self, position: int) -> "Lineage":
        """Every beam gets one more token, at `position`, which no other beam sees."""
        rows, beams, _ = self.is_ancestor.shape
        own = torch.eye(beams, dtype=torch.bool, device=self.positions.device).expand(rows, -1, -1)
        new = self.positions.new_full((rows, beams), position)
        return Lineage(torch.cat([self.is_ancestor, own], dim=-1), torch.cat([self.positions, new], dim=-1))

    def select(self, rows: Tensor) -> "Lineage":
        """That of the given sentences."""
        return Lineage(self.is_ancestor.index_select(0, rows), self.positions.index_select(0, rows))

    def places_in_use(self) -> Tensor | None:
        """Where the tokens are (B, K') that beams still descend from, once most are of beams that ended."""
        is_used = self.is_ancestor.any(dim=1)  # (B, K)
        most = int(is_used.sum(1).max())
        if 2 * most >= is_used.size(1):
            return None
        return is_used.sort(dim=1, descending=True, stable=True).indices[:, :most]

    def keep(self, places: Tensor) -> "Lineage":
        """That of the remembered tokens at the given places (B, K'), the others being forgotten."""
        index = places[:, None].expand(-1, self.is_ancestor.size(1), -1)  # (B, N, K')
        return Lineage(self.is_ancestor.gather(2, index), self.positions.gather(1, places))


class BeamCache:
    """A growing cache as the beams of its sentences see it: queries (B, H, N, E), all at the newest position."""

    def __init__(self, cache: GrowingCache, lineage: Lineage) -> None:
        self._cache = cache
        self._lineage = lineage

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:
        """Append the newest tokens of all beams (B, N, D) and return all keys and values."""
        return self._cache.recall(memory, project)

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """Only ancestors, and of these only what the pattern shows to the newest position."""
        assert mask is None, "beams are masked by their lineage alone"
        is_seen = self._lineage.is_ancestor[:, None]  # (B, 1, N, K)
        match pattern:
            case Band():
                positions = self._lineage.positions  # (B, K)
                shown = pattern.mask(1, int(positions[0, -1]) + 1, is_seen.device)[0]  # (T,), by position
                return is_seen & shown[positions][:, None, None], Full()
            case TopK():
                return is_seen, TopK(pattern.count)
            case Full():
                return is_seen, Full()
