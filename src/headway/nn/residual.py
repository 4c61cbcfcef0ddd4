"""What surrounds every sub-layer: dropout, the residual sum, normalisation (sections 3.1 and 5.4).

The paper normalises the sum, LayerNorm(x + Dropout(Sublayer(x))). The pre-norm form normalises what goes into
the sub-layer and leaves the sum alone, which then needs one more norm at the top of the stack.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from headway.nn.dropout import Dropout


class LayerNorm(nn.LayerNorm):
    """Each position by its own mean and variance."""

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:  # noqa: ARG002
        """(B, T, D) -> the same; padding cannot matter."""
        return super().forward(x)


class MaskedBatchNorm(nn.Module):
    """Each of the D features by its mean and variance over the real tokens of the batch; padding does not count.

    While training, a position is thus normalised with the positions after it: a causal decoder sees a little
    of its future, and of its neighbours in the batch. When not training, running averages are used instead.
    """

    def __init__(self, d_model: int, epsilon: float) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(d_model, eps=epsilon)

    def forward(self, x: Tensor, real: Tensor | None = None) -> Tensor:
        """(B, T, D) -> the same; padding becomes zero while training."""
        if real is None or not self.training:
            return self.norm(x.flatten(0, -2)).view_as(x)
        return torch.zeros_like(x).masked_scatter(real[..., None], self.norm(x[real]))


Norm = LayerNorm | MaskedBatchNorm


class Residual(nn.Module, ABC):
    """The two halves of what surrounds a sub-layer."""

    def __init__(self, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.norm = norm
        self.dropout = Dropout(dropout)

    @abstractmethod
    def before(self, x: Tensor, real: Tensor | None) -> Tensor:
        """What the sub-layer is given, from `x` (B, T, D) whose real tokens are `real` (B, T)."""

    @abstractmethod
    def after(self, x: Tensor, change: Tensor, real: Tensor | None) -> Tensor:
        """The new `x`, from the old one and the sub-layer's output."""


class PostNorm(Residual):
    """Norm(x + Dropout(Sublayer(x))): the paper."""

    def before(self, x: Tensor, real: Tensor | None) -> Tensor:  # noqa: ARG002
        """`x` as it is."""
        return x

    def after(self, x: Tensor, change: Tensor, real: Tensor | None) -> Tensor:
        """Sum, then norm."""
        return self.norm(self.dropout.add(x, change), real)


class PreNorm(Residual):
    """x + Dropout(Sublayer(Norm(x)))."""

    def before(self, x: Tensor, real: Tensor | None) -> Tensor:
        """The norm of `x`."""
        return self.norm(x, real)

    def after(self, x: Tensor, change: Tensor, real: Tensor | None) -> Tensor:  # noqa: ARG002
        """The sum."""
        return self.dropout.add(x, change)
