"""One token more by as few operations as it takes: the fast twin of `EncoderDecoder.step` and `DecoderOnly.step`.

A step has few rows, and costs less for its products than for the hundreds of small calls around them: modules, checks,
views. Here a layer is its matrices and nothing else. Queries, keys and values of self-attention are one product, and a
residual sum is part of the product before it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.models.decoder_only import DecoderOnly
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.layers import DecoderLayer, EncoderLayer
from headway.models.outputs import DecodingState
from headway.nn.attention import MultiHeadAttention
from headway.nn.cache import FixedCache, GrowingCache
from headway.nn.feedforward import FeedForward
from headway.nn.masks import Full
from headway.nn.products import Product
from headway.nn.residual import LayerNorm, PostNorm, Residual
from headway.nn.scores import ScaledDot

Change = Callable[[Tensor], Tensor]
Shape = tuple[int, int]
"""Rows and beams, B and N."""
SMALL = 400
"""Products with fewer multiplications are slow as a batch of them: torch has another way for those."""


def quickened(model: EncoderDecoder | DecoderOnly) -> "EncoderDecoder | DecoderOnly | QuickSteps":
    """The model with quick steps, or as it is if it has parts that those do not know."""
    return QuickSteps(model) if all(map(is_usual, model.modules())) else model


def is_usual(module: nn.Module) -> bool:
    """Whether a part is one that quick steps know: the paper's attention and norm; all others are."""
    match module:
        case MultiHeadAttention():
            same_width = 2 * module.key_width == module.to_key_value.out_features
            return isinstance(module.score, ScaledDot) and isinstance(module.pattern, Full) and same_width
        case Residual():
            return isinstance(module.norm, LayerNorm)
    return True


class QuickSteps:
    """A model whose weights do not change any more, and its steps."""

    def __init__(self, model: EncoderDecoder | DecoderOnly) -> None:
        self.model = model
        stack, self.embed = (
            (model.decoder, model.target_input) if isinstance(model, EncoderDecoder) else (model.stack, model.input)
        )
        self.layers = [quick_layer(layer) for layer in stack.layers]
        self.close = quick_norm(stack.norm) if isinstance(stack.norm, LayerNorm) else unchanged
        self.output = Product.of(model.output)

    def start(self, source: Tensor) -> DecodingState:
        """Read the source (B, S) as the model does; its keys are then laid in columns."""
        state = self.model.start(source)
        return replace(state, cross_caches=[cache.in_columns() for cache in state.cross_caches])

    def step(self, tokens: Tensor, state: DecodingState) -> tuple[Tensor, DecodingState]:
        """The newest token of each row (B,) or beam (B, N) -> log-probabilities of the next one, and the new state."""
        if state.lineage:
            state = replace(state, self_caches=[cache.in_columns() for cache in state.self_caches])
        _, after = state.advance()
        shape = (len(tokens), tokens.numel() // len(tokens))
        x = self.embed(tokens.reshape(-1, 1), state.position)[:, 0]  # (B N, D)
        seen = as_bias(after.lineage.is_ancestor[:, None], x) if after.lineage else None  # (B, 1, N, K)
        memory = as_bias(state.memory_mask, x) if state.memory_mask is not None else None  # (B, 1, 1, S)
        crosses: Sequence[FixedCache | None] = state.cross_caches or [None] * len(self.layers)
        for layer, own, cross in zip(self.layers, state.self_caches, crosses, strict=True):
            x = layer.own(x, shape, own, seen)
            if layer.cross and cross:
                x = layer.cross(x, shape, cross, memory)
            x = layer.network(x)
        logits = self.output(self.close(x))  # (B N, V)
        log_probabilities = torch.log_softmax(logits, dim=-1, out=logits)  # in place, row by row
        return log_probabilities.view(*tokens.shape, -1), after


@dataclass(frozen=True)
class Around:
    """What is done to the input of a sub-layer, and to the sum of its input and its output."""

    before: Change
    after: Change

    @classmethod
    def of(cls, residual: Residual) -> "Around":
        """The norm, at its place."""
        assert isinstance(residual.norm, LayerNorm)
        norm = quick_norm(residual.norm)
        return cls(unchanged, norm) if isinstance(residual, PostNorm) else cls(norm, unchanged)


@dataclass(frozen=True)
class SelfAttention:
    """Attention to all tokens so far."""

    heads: int
    project: Product
    """Queries, scaled, keys and values, side by side."""
    output: Product
    around: Around

    @classmethod
    def of(cls, attention: MultiHeadAttention, residual: Residual) -> "SelfAttention":
        """That of a layer."""
        project = scaled_query(attention).beside(Product.of(attention.to_key_value))
        return cls(attention.heads, project, Product.of(attention.to_output), Around.of(residual))

    def __call__(self, x: Tensor, shape: Shape, cache: GrowingCache, mask: Tensor | None) -> Tensor:
        """`x` (B N, D) -> the same; the cache is given its keys and values."""
        parts = self.project(self.around.before(x)).view(*shape, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts.unbind()  # (B, H, N, E) each
        return self.around.after(self.output.added_to(x, mixed(queries, *cache.append(keys, values), mask)))


@dataclass(frozen=True)
class CrossAttention:
    """Attention to the memory."""

    heads: int
    query: Product
    """Scaled."""
    output: Product
    around: Around

    @classmethod
    def of(cls, attention: MultiHeadAttention, residual: Residual) -> "CrossAttention":
        """That of a layer."""
        return cls(attention.heads, scaled_query(attention), Product.of(attention.to_output), Around.of(residual))

    def __call__(self, x: Tensor, shape: Shape, cache: FixedCache, mask: Tensor | None) -> Tensor:
        """`x` (B N, D) -> the same."""
        queries = self.query(self.around.before(x)).view(*shape, self.heads, -1).transpose(1, 2)  # (B, H, N, E)
        return self.around.after(self.output.added_to(x, mixed(queries, *cache.contents, mask)))


@dataclass(frozen=True)
class Network:
    """The position-wise network."""

    widen: Product
    bend: Change
    narrow: Product
    around: Around

    @classmethod
    def of(cls, network: FeedForward, residual: Residual) -> "Network":
        """That of a layer."""
        return cls(Product.of(network.widen), network.bend, Product.of(network.narrow), Around.of(residual))

    def __call__(self, x: Tensor) -> Tensor:
        """`x` (B N, D) -> the same."""
        return self.around.after(self.narrow.added_to(x, self.bend(self.widen(self.around.before(x)))))


class Layer(NamedTuple):
    """A layer of a decoder; that of a decoder-only model has no attention to a memory."""

    own: SelfAttention
    cross: CrossAttention | None
    network: Network


def quick_layer(layer: nn.Module) -> Layer:
    """A layer of ours."""
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    network = Network.of(layer.feed_forward, layer.feed_forward_residual)
    if isinstance(layer, EncoderLayer):
        return Layer(SelfAttention.of(layer.attention, layer.attention_residual), None, network)
    return Layer(
        SelfAttention.of(layer.self_attention, layer.self_residual),
        CrossAttention.of(layer.cross_attention, layer.cross_residual),
        network,
    )


def scaled_query(attention: MultiHeadAttention) -> Product:
    """Queries of which the dot product with a key is the score."""
    return Product.of(attention.to_query).scaled((attention.key_width // attention.heads) ** -0.5)


def mixed(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    """What scaled queries (B, H, N, E) find among keys and values (B, H, K, E), the heads side by side: (B N, H E)."""
    batch, heads, beams, width = queries.shape
    if beams * width * keys.size(2) < SMALL:
        found = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, scale=1.0)
    else:
        scores = torch.bmm(queries.reshape(-1, beams, width), keys.mT.flatten(0, 1))  # (B H, N, K)
        if mask is not None:
            scores.view(batch, heads, beams, -1).add_(mask)
        found = torch.bmm(scores.softmax(-1), values.flatten(0, 1)).view(batch, heads, beams, -1)  # (B, H, N, E)
    return found.transpose(1, 2).reshape(batch * beams, -1)


def as_bias(mask: Tensor, like: Tensor) -> Tensor:
    """A boolean mask as what is added to scores, made once for all layers."""
    return like.new_zeros(mask.shape).masked_fill_(~mask, -torch.inf)


def quick_norm(norm: LayerNorm) -> Change:
    """The norm as a function."""
    shape, weight, bias, epsilon = list(norm.normalized_shape), norm.weight.detach(), norm.bias.detach(), norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, epsilon)


def unchanged(x: Tensor) -> Tensor:
    """`x`."""
    return x
