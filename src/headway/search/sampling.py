"""Sampling: tokens drawn at random, as the model's probabilities have it.

A sentence has its own source of chance, made from the seed and its key: what is drawn for it does not depend on what
else is in the batch. One number a token is drawn, and looked up in the sums of the probabilities.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel
from headway.search.walk import walk


def sample(
    model: StepModel, source: Tensor, rules: Rules, config: SearchConfig, keys: Sequence[tuple[int, ...]]
) -> list[list[Hypothesis]]:
    """`n_best` outputs for each of the sources (B, S), the best first; `keys` are the sentences' own numbers."""
    chances = [[np.random.default_rng((config.seed, *key, each)) for each in range(config.n_best)] for key in keys]

    def choose(log_probabilities: Tensor, sentences: Tensor, length: int) -> Tensor:  # noqa: ARG001
        numbers = [[chance.random() for chance in chances[sentence]] for sentence in sentences.tolist()]
        drawn = torch.tensor(numbers, dtype=torch.float64, device=log_probabilities.device)
        return look_up(probabilities(log_probabilities, config), drawn)

    outputs = walk(model, source, rules, choose, LengthPenalty.of(config), config.n_best)
    return [sorted(each, key=lambda hypothesis: -hypothesis.score) for each in outputs]


def probabilities(log_probabilities: Tensor, config: SearchConfig) -> Tensor:
    """What is drawn from, (..., V): changed by the temperature, then nothing beyond top-k, then beyond top-p."""
    chances = torch.softmax(log_probabilities / config.temperature, dim=-1)
    if config.top_k is not None:
        chances = keep_most_probable(chances, config.top_k)
    if config.top_p < 1:
        chances = keep_nucleus(chances, config.top_p)
    return chances


def keep_most_probable(chances: Tensor, count: int) -> Tensor:
    """The `count` largest of the chances (..., V), zero elsewhere."""
    values, tokens = chances.topk(min(count, chances.size(-1)), dim=-1)
    return torch.zeros_like(chances).scatter(-1, tokens, values)


def keep_nucleus(chances: Tensor, share: float) -> Tensor:
    """The fewest largest of the chances (..., V) that together have `share` of all, zero elsewhere."""
    values, tokens = chances.sort(dim=-1, descending=True, stable=True)
    before = values.cumsum(-1) - values
    values = values.where(before < share * values.sum(-1, keepdim=True), 0.0)
    return torch.zeros_like(chances).scatter(-1, tokens, values)


def look_up(chances: Tensor, drawn: Tensor) -> Tensor:
    """The tokens (B, N) at which the sums of chances (B, N, V) pass the numbers drawn (B, N) from [0, 1)."""
    sums = chances.double().cumsum(-1)
    return torch.searchsorted(sums, drawn[..., None] * sums[..., -1:], right=True)[..., 0]
