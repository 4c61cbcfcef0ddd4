"""Forced scoring: how probable a model finds outputs that are given to it."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from headway.data.objectives import padded
from headway.search.steps import StepModel
from headway.text.specials import BOS, EOS


@torch.no_grad()
def score_targets(
    model: StepModel, source: Tensor, targets: Sequence[Sequence[int]], first: int = BOS
) -> list[list[float]]:
    """The log-probability of each token of the targets, then of EOS, for the sources (B, S)."""
    expected = padded([np.asarray([*target, EOS]) for target in targets]).to(source.device)  # (B, T)
    newest = source.new_full((len(source),), first)
    state = model.start(source)
    columns = []
    for column in expected.unbind(1):
        log_probabilities, state = model.step(newest[:, None], state)
        columns.append(log_probabilities[:, 0].gather(1, column[:, None])[:, 0])
        newest = column
    table = torch.stack(columns, dim=1).tolist()  # (B, T)
    return [row[: len(target) + 1] for row, target in zip(table, targets, strict=True)]
