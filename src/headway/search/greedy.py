"""Greedy search: the most probable token, at every step."""

from torch import Tensor

from headway.search.candidates import best_tokens
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel
from headway.search.walk import walk


def greedy_search(model: StepModel, source: Tensor, rules: Rules, penalty: LengthPenalty) -> list[Hypothesis]:
    """An output for each of the sources (B, S)."""
    return [only for (only,) in walk(model, source, rules, most_probable, penalty)]


def most_probable(log_probabilities: Tensor, sentences: Tensor, length: int) -> Tensor:  # noqa: ARG001
    """The best token of each beam: (B, N, V) -> (B, N)."""
    return best_tokens(log_probabilities)
