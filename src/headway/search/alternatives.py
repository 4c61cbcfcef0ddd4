"""What else could have come: the most probable tokens at a position of an output, and how each would go on."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel


@dataclass(frozen=True)
class Alternative:
    """A token that could stand at the position."""

    token: int
    """EOS if the output could end there."""
    log_probability: float
    output: Hypothesis
    """The whole output with this token there: what stood before it, and what greedy search writes after it."""


def alternatives(
    model: StepModel, source: Tensor, before: Sequence[int], count: int, config: SearchConfig
) -> list[Alternative]:
    """The best `count` tokens after `before`, best first, for one source (1, S)."""
    tokens = next_tokens(model, source, before, count, config)
    sources = source.expand(len(tokens), -1)
    rules = Rules.of(sources, config, [[*before, token] for token in tokens])
    outputs = greedy_search(model, sources, rules, LengthPenalty.of(config))
    return [
        Alternative(token, output.token_log_probabilities[len(before)], output)
        for token, output in zip(tokens, outputs, strict=True)
    ]


@torch.no_grad()
def next_tokens(model: StepModel, source: Tensor, before: Sequence[int], count: int, config: SearchConfig) -> list[int]:
    """The most probable tokens after `before` that may stand there, best first."""
    rules = Rules.of(source, config)
    state = model.start(source)
    for token in (rules.first, *before):
        log_probabilities, state = model.step(source.new_tensor([[token]]), state)
    rules.apply(log_probabilities, len(before))
    values, tokens = log_probabilities[0, 0].topk(min(count, log_probabilities.size(-1)))
    return tokens[values.isfinite()].tolist()
