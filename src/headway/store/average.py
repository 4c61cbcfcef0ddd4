"""The mean of the weights of several checkpoints (section 6.1: the last 5, or the last 20)."""

from collections.abc import Sequence

import torch

from headway.errors import UserError
from headway.store.checkpoints import Checkpoint, Checkpoints, average_name
from headway.store.tensors import Tensors


def average_weights(checkpoints: Sequence[Checkpoint]) -> Tensors:
    """The mean of each weight, summed in double precision, one checkpoint in memory at a time."""
    first = checkpoints[0].weights()
    total = {name: weight.double() for name, weight in first.items()}
    for checkpoint in checkpoints[1:]:
        for name, weight in checkpoint.weights().items():
            total[name] += weight
    return {name: (weight / len(checkpoints)).to(first[name].dtype) for name, weight in total.items()}


def write_average(checkpoints: Checkpoints, parts: Sequence[Checkpoint]) -> Checkpoint:
    """Average checkpoints into a new one beside them."""
    if not parts:
        raise UserError(f"{checkpoints.directory} has no checkpoint to average")
    with torch.no_grad():
        weights = average_weights(parts)
    steps = [part.step for part in parts]
    return checkpoints.write(average_name(steps[-1]), weights, None, {"step": steps[-1], "averaged": steps})
