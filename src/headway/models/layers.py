"""The layers and the stacks of them (section 3.1). One set of blocks serves all three families.

A layer of self-attention and feed-forward is the paper's encoder layer; built with a causal pattern it is also
all that a decoder-only model needs. The decoder layer adds attention to a memory between the two.
"""

from collections.abc import Callable, Iterable, Sequence

from torch import Tensor, nn

from headway.nn.attention import Attended, MultiHeadAttention
from headway.nn.cache import Cache, KeysValues
from headway.nn.feedforward import FeedForward
from headway.nn.packing import Packing, pack, spread
from headway.nn.residual import Norm, Residual

CrossAttended = tuple[Tensor, Tensor | None, Tensor | None]
"""The output (B, T, D), and the weights of self- and cross-attention if they were asked for."""


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(
        self, attention: MultiHeadAttention, feed_forward: FeedForward, residual: Callable[[], Residual]
    ) -> None:
        super().__init__()
        self.attention = attention
        self.attention_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        real: Tensor | None,
        *,
        packing: Packing | None = None,
        cache: Cache | None = None,
        with_weights: bool = False,
    ) -> Attended:
        """(B, T, D), maybe packed -> the same, and the weights (B, H, T, K) or None; `real` (B, T) are what counts."""
        y = self.attention_residual.before(x, real)
        mixed, weights = self.attention(
            y, y, mask, packing=packing, memory_packing=packing, cache=cache, with_weights=with_weights
        )
        x = self.attention_residual.after(x, mixed, real)
        bent = self.feed_forward(self.feed_forward_residual.before(x, real))
        return self.feed_forward_residual.after(x, bent, real), weights


class DecoderLayer(nn.Module):
    """Self-attention, then attention to the memory, then feed-forward."""

    def __init__(
        self,
        self_attention: MultiHeadAttention,
        cross_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        residual: Callable[[], Residual],
    ) -> None:
        super().__init__()
        self.self_attention = self_attention
        self.self_residual = residual()
        self.cross_attention = cross_attention
        self.cross_residual = residual()
        self.feed_forward = feed_forward
        self.feed_forward_residual = residual()

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        memory_mask: Tensor | None,
        real: Tensor | None,
        *,
        packings: tuple[Packing | None, Packing | None] = (None, None),
        caches: tuple[Cache | None, Cache | None] = (None, None),
        with_weights: bool = False,
    ) -> CrossAttended:
        """`x` (B, T, D) and `memory` (B, S, D), or a cache of it, -> (B, T, D), and both weights or None.

        The packings are those of `x` and of the memory.
        """
        own, others = packings
        y = self.self_residual.before(x, real)
        mixed, self_weights = self.self_attention(
            y, y, packing=own, memory_packing=own, cache=caches[0], with_weights=with_weights
        )
        x = self.self_residual.after(x, mixed, real)
        y = self.cross_residual.before(x, real)
        mixed, cross_weights = self.cross_attention(
            y,
            memory,
            memory_mask,
            packing=own,
            memory_packing=others,
            cache=caches[1],
            with_weights=with_weights,
        )
        x = self.cross_residual.after(x, mixed, real)
        bent = self.feed_forward(self.feed_forward_residual.before(x, real))
        return self.feed_forward_residual.after(x, bent, real), self_weights, cross_weights


class Stack(nn.Module):
    """Layers one upon the other; `norm` closes a pre-norm stack."""

    def __init__(self, layers: Iterable[nn.Module], norm: Norm | None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = norm

    def close(self, x: Tensor, real: Tensor | None) -> Tensor:
        """What comes out at the top."""
        return self.norm(x, real) if self.norm else x


def packed(x: Tensor, real: Tensor | None, packing: Packing | None) -> tuple[Tensor, Tensor | None]:
    """`x` (B, T, D) packed, and which of it counts: then all of it."""
    return (x, real) if packing is None else (packing.pack(x), None)


class Encoder(Stack):
    """A stack of encoder layers."""

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        real: Tensor | None,
        *,
        caches: Sequence[Cache] | None = None,
        with_weights: bool = False,
    ) -> tuple[Tensor, list[Tensor]]:
        """(B, T, D) -> the same, and the weights (B, H, T, K) of each layer if asked for."""
        each: Sequence[Cache | None] = caches or [None] * len(self.layers)
        all_weights = []
        packing = Packing.of(real)
        x, real = packed(x, real, packing)
        for layer, cache in zip(self.layers, each, strict=True):
            x, weights = layer(x, mask, real, packing=packing, cache=cache, with_weights=with_weights)
            all_weights.append(weights)
        return spread(self.close(x, real), packing), all_weights if with_weights else []


class Decoder(Stack):
    """A stack of decoder layers."""

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        memory_mask: Tensor | None,
        real: Tensor | None,
        *,
        caches: Sequence[tuple[Cache, Cache]] | None = None,
        with_weights: bool = False,
    ) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """`x` (B, T, D) -> the same, and each layer's self and cross weights if asked for."""
        each: Sequence[tuple[Cache | None, Cache | None]] = caches or [(None, None)] * len(self.layers)
        all_self, all_cross = [], []
        own = Packing.of(real)
        others = Packing.of(memory_mask[:, 0, 0]) if memory is not None and memory_mask is not None else None
        x, real = packed(x, real, own)
        memory = pack(memory, others) if memory is not None else None
        for layer, pair in zip(self.layers, each, strict=True):
            x, self_weights, cross_weights = layer(
                x, memory, memory_mask, real, packings=(own, others), caches=pair, with_weights=with_weights
            )
            all_self.append(self_weights)
            all_cross.append(cross_weights)
        states = spread(self.close(x, real), own)
        return states, all_self if with_weights else [], all_cross if with_weights else []

    def keys_values(self, memory: Tensor) -> list[KeysValues]:
        """Keys and values (B, H, S, E) of `memory` (B, S, D) for the cross-attention of each layer."""
        return [layer.cross_attention.keys_values(memory) for layer in self.layers]  # type: ignore[operator,union-attr]
