"""Every beam as a row of its own, copied when beams split: the plain twin of beams that share their caches."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headway.search.steps import State, StepModel


@dataclass(frozen=True)
class RowState:
    """A state whose rows are the beams of the sentences, one sentence after the other."""

    rows: Any
    """The model's own state, with one beam a row."""
    beams: int

    def select(self, rows: Tensor) -> "RowState":
        """All beams of the given sentences."""
        each = torch.arange(self.beams, device=rows.device)
        return RowState(self.rows.select((rows[:, None] * self.beams + each).flatten()), self.beams)

    def branch(self, parents: Tensor) -> "RowState":
        """A copy of its parent for each beam."""
        first = torch.arange(len(parents), device=parents.device)[:, None] * self.beams
        return RowState(self.rows.select((first + parents).flatten()), parents.size(1))


class SeparateRows:
    """A model whose beams share nothing."""

    def __init__(self, model: StepModel) -> None:
        self.model = model

    def start(self, source: Tensor) -> State:
        """Read the sources (B, S)."""
        return RowState(self.model.start(source), 1)

    def step(self, tokens: Tensor, state: RowState) -> tuple[Tensor, State]:
        """(B, N) -> (B, N, V), as (B N, 1) -> (B N, 1, V)."""
        log_probabilities, rows = self.model.step(tokens.reshape(-1, 1), state.rows)
        return log_probabilities.view(*tokens.shape, -1), RowState(rows, state.beams)
