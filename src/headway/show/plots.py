"""The plots that readers of the paper look for, each an SVG that can be opened by itself or stand in a page."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch.nn.functional as F
from torch import Tensor

from headway.errors import UserError
from headway.show.document import Kind
from headway.show.heads import Ablation, Statistics
from headway.show.story import NAMES
from headway.show.svg import Line, bar_chart, line_chart, number_map, picture_map
from headway.train.loss import Smoothing, smoothed_distribution

TITLES = {
    "entropy": "entropy, in bits",
    "distance": "mean distance, in positions",
    "confidence": "confidence, the largest weight of a query",
    "previous": "share of top weights on the previous position",
    "same": "share of top weights on the own position",
    "next": "share of top weights on the next position",
    "first": "share of top weights on the first position",
    "last": "share of top weights on the last position",
}

UNBOUNDED = ("entropy", "distance")
"""Measures that are no shares."""


def positions_plot(table: Tensor, name: str) -> str:
    """Position encodings (T, D), sinusoidal or learned, relative to the largest of them."""
    numbers = (table / table.abs().max()).detach().cpu().numpy()
    return picture_map(f"Position encodings: {name}", numbers, "dimension", "position")


def similarity_plot(table: Tensor, name: str) -> str:
    """How alike the encodings (T, D) of every two positions are: the cosine between them."""
    unit = F.normalize(table.detach().float(), dim=1)
    return picture_map(
        f"Similarity of position encodings: {name}", (unit @ unit.T).cpu().numpy(), "position", "position"
    )


def schedule_plot(steps: Sequence[int], rates: Sequence[float], formula: Sequence[float]) -> str:
    """The learning rates of a run against those of its formula, at the same steps."""
    if not steps:
        raise UserError("the run has recorded no learning rates yet; train for at least train.log_every steps")
    lines = [Line("of the run", steps, rates), Line("by the formula", steps, formula, dashed=True)]
    return line_chart("Learning rate", lines, "step", "learning rate", from_zero=True)


def loss_plot(records: Iterable[Mapping[str, Any]]) -> str:
    """The losses in the records of metrics.jsonl: smoothed as trained, and unsmoothed, which is log perplexity."""
    records = list(records)
    lines = [
        _line("training, smoothed", records, "loss"),
        _line("training", records, "perplexity", math.log),
        _line("validation", records, "valid_perplexity", math.log),
    ]
    return line_chart("Loss", _present(lines, "losses"), "step", "nats a token")


def bleu_plot(records: Iterable[Mapping[str, Any]]) -> str:
    """BLEU on the validation sentences, from the records of metrics.jsonl."""
    lines = _present([_line("validation", list(records), "valid_bleu")], "BLEU scores")
    return line_chart("BLEU", lines, "step", "BLEU", from_zero=True)


def smoothing_plot(vocabulary: int = 8, epsilon: float = 0.1) -> str:
    """The distribution that label smoothing aims at, by both conventions, for a vocabulary small enough to see."""
    groups = ["the right token", f"each of the {vocabulary - 1:,} others"]
    bars: dict[str, Sequence[float]] = {"without smoothing": (1.0, 0.0)}
    names: dict[Smoothing, str] = {"paper": "as in the paper", "torch": "as in torch"}
    for kind, name in names.items():
        bars[name] = smoothed_distribution(vocabulary, epsilon, kind)
    return bar_chart(f"Smoothed target, ε = {epsilon:g}, {vocabulary} tokens", groups, bars, "probability")


def statistics_plot(statistics: Statistics, kind: Kind, measure: str) -> str:
    """One measure of all heads of a kind, layers downwards."""
    heads = [(head.layer, head.head, getattr(head, measure)) for head in statistics.heads if head.kind == kind]
    title = f"{NAMES[kind].capitalize()}: {TITLES[measure]}"
    return number_map(title, _table(heads, kind), "head", "layer", largest_of(statistics, measure))


def ablation_plot(ablation: Ablation, kind: Kind, measure: str = "loss") -> str:
    """How a measure changes without each head of a kind."""
    heads = [(head.layer, head.head, head.change) for head in ablation.heads if head.kind == kind]
    title = f"{NAMES[kind].capitalize()}: {measure} without the head, change from {ablation.whole:.3g}"
    return number_map(title, _table(heads, kind), "head", "layer", largest_effect(ablation))


def largest_of(statistics: Statistics, measure: str) -> float:
    """What has the full colour in maps of a measure, the same for all kinds: 1 for what cannot be more."""
    if measure not in UNBOUNDED:
        return 1.0
    return max(getattr(head, measure) for head in statistics.heads) or 1.0


def largest_effect(ablation: Ablation) -> float:
    """What has the full colour in maps of effects."""
    return max(abs(head.change) for head in ablation.heads) or 1.0


def _table(heads: Sequence[tuple[int, int, float]], kind: Kind) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Numbers of heads as (layers, heads)."""
    if not heads:
        raise UserError(f"the model has no {NAMES[kind]}")
    table = np.zeros((max(layer for layer, _, _ in heads) + 1, max(head for _, head, _ in heads) + 1), np.float32)
    for layer, head, number in heads:
        table[layer, head] = number
    return table


def _line(name: str, records: Sequence[Mapping[str, Any]], key: str, of: Callable[[float], float] = float) -> Line:
    """The values of a key over the steps of the records that have it."""
    found = [record for record in records if key in record]
    return Line(name, [record["step"] for record in found], [of(record[key]) for record in found])


def _present(lines: Sequence[Line], what: str) -> list[Line]:
    """The lines that have points."""
    present = [line for line in lines if line.x]
    if not present:
        raise UserError(
            f"the run has recorded no {what} yet; train on, or see train.log_every and train.validate_every"
        )
    return present
