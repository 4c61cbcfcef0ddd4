"""What the models hand out besides tensors: attention weights to look at, and the state of a decoding."""

from dataclasses import dataclass, field, replace

from torch import Tensor

from headway.nn.cache import BeamCache, Cache, FixedCache, GrowingCache, Lineage


@dataclass(frozen=True)
class AttentionMaps:
    """Attention weights, a tensor a layer; the weights of a query sum to 1."""

    encoder: list[Tensor] = field(default_factory=list)
    """Self-attention of an encoder: N times (B, H, S, S)."""
    decoder: list[Tensor] = field(default_factory=list)
    """Causal self-attention: N times (B, H, T, T)."""
    cross: list[Tensor] = field(default_factory=list)
    """From target to source: N times (B, H, T, S)."""


@dataclass(frozen=True)
class DecodingState:
    """All that the next step of a decoding needs. A step takes the state over: go on with the one it returns.

    A row has one beam until `branch` gives it more; the beams of a row share its caches.
    """

    position: int
    """Where the next token stands."""
    self_caches: list[GrowingCache]
    """Keys and values of the tokens so far, a cache a layer."""
    cross_caches: list[FixedCache] = field(default_factory=list)
    """Keys and values of the memory, a cache a layer."""
    memory_mask: Tensor | None = None
    """Which of the memory is not padding (B, 1, 1, S)."""

    lineage: Lineage | None = None
    """Which tokens belong to which beam; None while a row has only one."""

    def select(self, rows: Tensor) -> "DecodingState":
        """The state of the given rows of the batch, in that order; a row may come more than once."""
        return replace(
            self,
            self_caches=[cache.select(rows) for cache in self.self_caches],
            cross_caches=[cache.select(rows) for cache in self.cross_caches],
            memory_mask=None if self.memory_mask is None else self.memory_mask.index_select(0, rows),
            lineage=None if self.lineage is None else self.lineage.select(rows),
        )

    def branch(self, parents: Tensor) -> "DecodingState":
        """The state in which beam n of row b goes on from its beam `parents[b, n]` (B, N)."""
        lineage = self.lineage or Lineage.of_one_beam(len(parents), self.position, parents.device)
        lineage = lineage.branch(parents)
        places = lineage.places_in_use()
        if places is None:
            return replace(self, lineage=lineage)
        caches = [cache.keep(places) for cache in self.self_caches]
        return replace(self, lineage=lineage.keep(places), self_caches=caches)

    def advance(self) -> tuple[list[Cache], "DecodingState"]:
        """The caches of self-attention, ready for one more token a beam, and the state after it."""
        if self.lineage is None:
            return list(self.self_caches), replace(self, position=self.position + 1)
        lineage = self.lineage.extend(self.position)
        caches: list[Cache] = [BeamCache(cache, lineage) for cache in self.self_caches]
        return caches, replace(self, position=self.position + 1, lineage=lineage)
