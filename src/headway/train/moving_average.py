"""An exponential moving average of the weights, used in their place when the model is asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class MovingAverage:
    """Of each weight w: decay * average + (1 - decay) * w after every step; at first short, as the mean so far."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._weights = dict(model.named_parameters())
        self.averages = {name: weight.detach().clone() for name, weight in self._weights.items()}
        self._decay = decay

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after `step` updates."""
        decay = min(self._decay, step / (step + 10))
        for name, weight in self._weights.items():
            self.averages[name].lerp_(weight, 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Inside, the model has the averages as its weights."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def load(self, averages: Mapping[str, Tensor]) -> None:
        """Go on from stored averages."""
        for name, average in self.averages.items():
            average.copy_(averages[name])

    @torch.no_grad()
    def _swap(self) -> None:
        for name, weight in self._weights.items():
            kept = weight.detach().clone()
            weight.copy_(self.averages[name])
            self.averages[name].copy_(kept)
