"""The loss of a model on pairs it was not trained on."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import nn

from headway.data.loader import Loader
from headway.models import Model
from headway.train.batches import Share
from headway.train.precision import Precision
from headway.train.ranks import Ranks
from headway.train.update import to_device


class Judgement(NamedTuple):
    """What translating validation sentences gave."""

    scores: dict[str, float]
    sample: tuple[str, str, str] | None = None
    """A source, its reference and the translation."""


Judge = Callable[[Model], Judgement]
"""Really translates, and scores; search and evaluation are not the trainer's."""


@contextmanager
def asking(model: nn.Module) -> Iterator[None]:
    """Inside, the model is asked, not trained."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def perplexity(module: nn.Module, valid: Loader[Share], precision: Precision, ranks: Ranks) -> float:
    """The exponential of the mean unsmoothed loss of all target tokens of an epoch, each rank computing its share."""
    total, count = 0.0, 0.0
    with asking(module):
        for rows in valid.epoch(0):
            for part in valid.make(rows).parts:
                with precision.autocast():
                    loss = module(to_device(part.batch, precision.device))
                total += float(loss.plain)
                count += loss.tokens
    total, count = ranks.total(total, count)
    return math.exp(min(total / max(count, 1), 700.0))
