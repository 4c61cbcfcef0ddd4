"""Dropout (section 5.4) from cheap random bits.

On a CPU, torch draws a float for every element, and dropout takes up to a fifth of a training step. We draw
16 bits an element, four elements from each 64-bit number, and compare them with a threshold. The rate is the
one asked for to within 1/131072, and the mean is kept exactly. Elsewhere it is `torch.nn.functional.dropout`,
which is also the plain twin.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_LEVELS = 1 << 16


class Dropout(nn.Module):
    """Set each element to zero with probability `rate` while training, and scale the others up to match."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Same shape as `x`; `x` itself when not training."""
        if not self.training or self.rate == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.rate)
        return x * keep_mask(x, self.rate)

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        """`x` plus the dropped `change`, in one pass over both."""
        if not self.training or self.rate == 0.0 or x.device.type != "cpu":
            return x + self(change)
        return torch.addcmul(x, change, keep_mask(change, self.rate))

    def extra_repr(self) -> str:
        """The rate, for `print(model)`."""
        return f"rate={self.rate}"


def keep_mask(like: Tensor, rate: float) -> Tensor:
    """Zeros with probability `rate`, else the scale that keeps the mean; shape and type of `like`."""
    dropped = min(round(rate * _LEVELS), _LEVELS - 1)
    count = like.numel()
    bits = torch.empty((count + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    levels = bits.view(torch.int16)[:count].view(like.shape)
    keep = torch.empty(like.shape, dtype=like.dtype)
    torch.ge(levels, dropped - _LEVELS // 2, out=keep)
    return keep.mul_(_LEVELS / (_LEVELS - dropped))
