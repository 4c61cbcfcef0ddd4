"""Several models as one: the mean of their probabilities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.errors import UserError
from headway.search.steps import State, StepModel


@dataclass(frozen=True)
class EnsembleState:
    """The states of all models."""

    states: tuple[State, ...]

    def select(self, rows: Tensor) -> "EnsembleState":
        """Those of the given sentences."""
        return EnsembleState(tuple(state.select(rows) for state in self.states))

    def branch(self, parents: Tensor) -> "EnsembleState":
        """Those in which beam n of sentence b goes on from its beam `parents[b, n]` (B, N)."""
        return EnsembleState(tuple(state.branch(parents) for state in self.states))


class Ensemble:
    """Models with one vocabulary, searched together."""

    def __init__(self, models: Sequence[StepModel]) -> None:
        if not models:
            raise UserError("an ensemble of no models; give at least one")
        self.models = tuple(models)

    def start(self, source: Tensor) -> State:
        """Let all models read the sources (B, S)."""
        return EnsembleState(tuple(model.start(source) for model in self.models))

    def step(self, tokens: Tensor, state: EnsembleState) -> tuple[Tensor, State]:
        """The newest tokens (B, N) -> the logarithm of the mean of the models' probabilities (B, N, V)."""
        steps = [model.step(tokens, each) for model, each in zip(self.models, state.states, strict=True)]
        sizes = [log_probabilities.size(-1) for log_probabilities, _ in steps]
        if len(set(sizes)) > 1:
            raise UserError(
                f"the models of an ensemble have vocabularies of {', '.join(map(str, sizes))} tokens; "
                "they must have been trained with the same vocabulary"
            )
        together = torch.stack([log_probabilities for log_probabilities, _ in steps]).logsumexp(0)
        return together - math.log(len(steps)), EnsembleState(tuple(after for _, after in steps))
