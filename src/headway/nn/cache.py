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


class Buffer:
    """Vectors in the order in which they were appended, along an axis of a tensor that doubles when it is full."""

    def __init__(self, axis: int) -> None:
        self.axis = axis
        self.length = 0
        self._tensor: Tensor | None = None

    @property
    def contents(self) -> Tensor:
        """All so far."""
        assert self._tensor is not None, "nothing is remembered yet"
        return self._tensor.narrow(self.axis, 0, self.length)

    def append(self, new: Tensor) -> Tensor:
        """Append, and return all."""
        count = new.size(self.axis)
        start, self.length = self.length, self.length + count
        if self._tensor is None or self.length > self._tensor.size(self.axis):
            self._grow(new, start)
        assert self._tensor is not None
        self._tensor.narrow(self.axis, start, count).copy_(new)
        return self.contents

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows of the batch, in that order; a row may come more than once."""
        chosen = type(self)(self.axis)
        if self._tensor is not None:
            chosen._tensor = self._tensor.index_select(0, rows)
            chosen.length = self.length
        return chosen

    def keep(self, places: Tensor) -> Self:
        """A copy with only what stands at the given places (B, K), in that order, and with room for as many again."""
        chosen = type(self)(self.axis)
        shape = [-1, *self.contents.shape[1:]]
        shape[self.axis] = -1
        index = places[:, None, :, None] if self.axis == 2 else places[:, None, None]
        chosen.append(self.contents.gather(self.axis, index.expand(shape)))
        return chosen

    def _grow(self, like: Tensor, filled: int) -> None:
        shape = list(like.shape)
        shape[self.axis] = max(16, 2 * self.length)
        bigger = like.new_empty(shape)
        if self._tensor is not None:
            bigger.narrow(self.axis, 0, filled).copy_(self._tensor.narrow(self.axis, 0, filled))
        self._tensor = bigger


class GrowingCache:
    """Keys and values (B, H, K, E) of all tokens so far.

    `in_columns` the keys lie in memory as (B, H, E, K): a CPU multiplies several queries with them much faster.
    """

    def __init__(self, *, in_columns: bool = False) -> None:
        self.is_in_columns = in_columns
        self._keys = Buffer(3 if in_columns else 2)
        self._values = Buffer(2)

    @property
    def length(self) -> int:
        """How many tokens are remembered."""
        return self._values.length

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:
        """Append the tokens of `memory` (B, Q, D) and return all keys and values."""
        assert memory is not None
        return self.append(*project(memory))

    def append(self, keys: Tensor, values: Tensor) -> KeysValues:
        """Append those of the newest tokens (B, H, Q, E) and return all."""
        all_keys = self._keys.append(keys.mT).mT if self.is_in_columns else self._keys.append(keys)
        return all_keys, self._values.append(values)

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """No more than without a cache: the tokens stand in order."""
        return mask, pattern

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows of the batch, in that order; a row may come more than once."""
        return self._with(self._keys.select(rows), self._values.select(rows))

    def keep(self, places: Tensor) -> Self:
        """A copy that remembers only the tokens at the given places (B, K), in that order."""
        return self._with(self._keys.keep(places), self._values.keep(places))

    def in_columns(self) -> "GrowingCache":
        """The same with its keys in columns: itself, if they are."""
        if self.is_in_columns:
            return self
        copy = GrowingCache(in_columns=True)
        if self.length:
            copy.append(self._keys.contents, self._values.contents)
        return copy

    def _with(self, keys: Buffer, values: Buffer) -> Self:
        copy = type(self)(in_columns=self.is_in_columns)
        copy._keys, copy._values = keys, values
        return copy


class FixedCache:
    """Keys and values (B, H, K, E) of a memory that does not change; the keys may lie in columns here, too."""

    def __init__(self, keys: Tensor, values: Tensor, *, in_columns: bool = False) -> None:
        self.contents = (keys, values)
        self._is_in_columns = in_columns

    def recall(self, memory: Tensor | None, project: Project) -> KeysValues:  # noqa: ARG002
        """What is known; nothing is new."""
        return self.contents

    def restrict(self, mask: Tensor | None, pattern: Pattern) -> Restriction:
        """No more than without a cache."""
        return mask, pattern

    def select(self, rows: Tensor) -> Self:
        """A copy for the given rows of the batch, in that order; a row may come more than once."""
        keys, values = self.contents
        chosen = keys.mT.index_select(0, rows).mT if self._is_in_columns else keys.index_select(0, rows)
        return type(self)(chosen, values.index_select(0, rows), in_columns=self._is_in_columns)

    def in_columns(self) -> "FixedCache":
        """A copy with its keys in columns, ready to be multiplied again and again."""
        keys, values = self.contents
        return FixedCache(keys.mT.contiguous().mT, values.contiguous(), in_columns=True)


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
