"""What the models hand out besides tensors: attention weights to look at, and the state of a decoding."""

from dataclasses import dataclass, field, replace

from torch import Tensor

from headway.nn.cache import FixedCache, GrowingCache


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
    """All that the next step of a decoding needs. A step takes the state over: go on with the one it returns."""

    position: int
    """Where the next token stands."""
    self_caches: list[GrowingCache]
    """Keys and values of the tokens so far, a cache a layer."""
    cross_caches: list[FixedCache] = field(default_factory=list)
    """Keys and values of the memory, a cache a layer."""
    memory_mask: Tensor | None = None
    """Which of the memory is not padding (B, 1, 1, S)."""

    def select(self, rows: Tensor) -> "DecodingState":
        """The state of the given rows of the batch, in that order; beams repeat and drop rows."""
        return replace(
            self,
            self_caches=[cache.select(rows) for cache in self.self_caches],
            cross_caches=[cache.select(rows) for cache in self.cross_caches],
            memory_mask=None if self.memory_mask is None else self.memory_mask.index_select(0, rows),
        )
