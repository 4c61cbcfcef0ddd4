"""What the heads of a model do over many sentences, and what the model loses without each of them.

Statistics are sums over queries, so that memory does not grow with the number of sentences. A head is switched off
where it enters the output projection of its attention: the model itself knows nothing of it.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from headway.data.objectives import Seq2SeqBatch, TokenBatch
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly, Model
from headway.nn.attention import MultiHeadAttention
from headway.nn.masks import real_tokens
from headway.show.document import Kind
from headway.train.loss import cross_entropy
from headway.train.validation import asking

Batch = Seq2SeqBatch | TokenBatch


@dataclass(frozen=True)
class HeadStatistics:
    """Means over all queries of one head. Layer and head count from 0; positions are those of the pieces."""

    kind: Kind
    layer: int
    head: int
    entropy: float
    """Of the weights of a query, in bits: 0 if it looks at one key, log2 of their number if at all alike."""
    distance: float
    """Positions between a query and where it looks, weighted."""
    confidence: float
    """The largest weight of a query."""
    previous: float
    """How often the largest weight is on the position before the query's."""
    same: float
    """... on the query's own position."""
    next: float
    """... on the position after it."""
    first: float
    """... on the first position of the sentence."""
    last: float
    """... on its last position, which is EOS in a source."""


MEASURES = ("entropy", "distance", "confidence", "previous", "same", "next", "first", "last")


@dataclass(frozen=True)
class Statistics:
    """All heads of a model."""

    sentences: int
    heads: tuple[HeadStatistics, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields, for `json.dumps`."""
        return asdict(self)


@dataclass(frozen=True)
class HeadEffect:
    """What a measure becomes without one head, and by how much it changes."""

    kind: Kind
    layer: int
    head: int
    without: float
    change: float


@dataclass(frozen=True)
class Ablation:
    """The measure of the whole model, and the effect of each head."""

    whole: float
    heads: tuple[HeadEffect, ...]

    def as_json(self) -> dict[str, Any]:
        """The fields, for `json.dumps`."""
        return asdict(self)


def head_statistics(model: Model, batches: Iterable[Batch]) -> Statistics:
    """Statistics of every head over the sentences of batches, which are read once."""
    sums: dict[tuple[Kind, int], Tensor] = {}  # (measures, heads)
    queries: dict[Kind, int] = {}
    sentences = 0
    with asking(model):
        for batch in batches:
            sides = batch[:-1]
            sentences += len(sides[0])
            for kind, layers, is_query, is_key in _weights(model, sides):
                queries[kind] = queries.get(kind, 0) + int(is_query.sum())
                for layer, weights in enumerate(layers):
                    measured = _measures(weights, is_query, is_key).cpu()
                    sums[kind, layer] = sums.get((kind, layer), 0) + measured
    return Statistics(
        sentences,
        tuple(
            HeadStatistics(kind, layer, head, *(total[:, head] / queries[kind]).tolist())
            for (kind, layer), total in sums.items()
            for head in range(total.size(1))
        ),
    )


def ablate_heads(
    model: Model, measure: Callable[[], float], on_progress: Callable[[int, int], None] | None = None
) -> Ablation:
    """What `measure` gives with the whole model and without each head in turn.

    `on_progress` is told how many heads are done, and of how many.
    """
    attentions = list(attentions_of(model))
    count = sum(attention.heads for _, _, attention in attentions)
    whole = measure()
    effects: list[HeadEffect] = []
    for kind, layer, attention in attentions:
        for head in range(attention.heads):
            with head_off(attention, head):
                without = measure()
            effects.append(HeadEffect(kind, layer, head, without, without - whole))
            if on_progress:
                on_progress(len(effects), count)
    return Ablation(whole, tuple(effects))


def loss_per_token(model: Model, batches: Iterable[Batch]) -> float:
    """The negative log-probability of the answers of batches, in nats a token: a measure for `ablate_heads`."""
    total, tokens = 0.0, 0
    with asking(model):
        for batch in batches:
            loss = cross_entropy(model(*batch[:-1]), batch.answer)
            total += float(loss.plain)
            tokens += loss.tokens
    return total / tokens


@contextmanager
def head_off(attention: MultiHeadAttention, head: int) -> Iterator[None]:
    """For a while, let nothing of a head reach the output of its attention."""
    width = attention.to_output.in_features // attention.heads

    def silence(_: object, inputs: tuple[Tensor]) -> tuple[Tensor]:
        mixed = inputs[0].clone()  # (B, Q, H E)
        mixed[..., head * width : (head + 1) * width] = 0
        return (mixed,)

    handle = attention.to_output.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        handle.remove()


def attentions_of(model: Model) -> Iterator[tuple[Kind, int, MultiHeadAttention]]:
    """Every attention of a model with its kind and layer."""
    match model:
        case EncoderDecoder():
            for number, layer in enumerate(model.encoder.layers):
                yield "encoder", number, layer.attention  # type: ignore[misc]
            for number, layer in enumerate(model.decoder.layers):
                yield "decoder", number, layer.self_attention  # type: ignore[misc]
            for number, layer in enumerate(model.decoder.layers):
                yield "cross", number, layer.cross_attention  # type: ignore[misc]
        case EncoderOnly():
            for number, layer in enumerate(model.stack.layers):
                yield "encoder", number, layer.attention  # type: ignore[misc]
        case DecoderOnly():
            for number, layer in enumerate(model.stack.layers):
                yield "decoder", number, layer.attention  # type: ignore[misc]


def _weights(model: Model, sides: tuple[Tensor, ...]) -> Iterator[tuple[Kind, list[Tensor], Tensor, Tensor]]:
    """The weights of each kind, by layer, with which queries and which keys are real."""
    _, maps = model.states(*sides, with_weights=True)
    source, target = real_tokens(sides[0]), real_tokens(sides[-1])
    if maps.encoder:
        yield "encoder", maps.encoder, source, source
    if maps.decoder:
        yield "decoder", maps.decoder, target, target
    if maps.cross:
        yield "cross", maps.cross, target, source


def _measures(weights: Tensor, is_query: Tensor, is_key: Tensor) -> Tensor:
    """Sums over the queries that are real (B, Q) of weights (B, H, Q, K): (measures, H), in the order of `MEASURES`."""
    query = torch.arange(weights.size(2), device=weights.device)  # (Q,)
    key = torch.arange(weights.size(3), device=weights.device)  # (K,)
    confidence, top = weights.max(-1)  # (B, H, Q)
    last = is_key.sum(1)[:, None, None] - 1  # (B, 1, 1)
    measures = [
        torch.special.entr(weights).sum(-1) / math.log(2),
        (weights * (key - query[:, None]).abs()).sum(-1),
        confidence,
        top == query - 1,
        top == query,
        top == query + 1,
        top == 0,
        top == last,
    ]
    real = is_query[:, None]  # (B, 1, Q)
    return torch.stack([(measure * real).sum((0, 2), dtype=torch.float64) for measure in measures])
