"""x W + b while W is being learned, by whichever library multiplies faster on this processor."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from headway.nn.processor import is_onednn_faster

LARGE = 2**20
"""Multiplications from which on oneDNN's call pays; it takes a few hundred microseconds for every new shape."""


def multiply(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`x` (R, D) times the transpose of `weight` (M, D), plus `bias` (M,) -> (R, M); gradients do not pass.

    `out` (R, M) is memory for the result, which need not be used.
    """
    if suits_onednn(x, weight):
        return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")  # torch has no public name for it
    return torch.mm(x, weight.T, out=out) if bias is None else torch.addmm(bias, x, weight.T, out=out)


def add_product(total: Tensor, x: Tensor, weight: Tensor) -> None:
    """Add `x` (R, D) times the transpose of `weight` (M, D) to `total` (R, M)."""
    if suits_onednn(x, weight):
        total.add_(multiply(x, weight))
    else:
        total.addmm_(x, weight.T)


def suits_onednn(x: Tensor, weight: Tensor) -> bool:
    """Whether oneDNN should multiply `x` (..., D) and `weight` (M, D)."""
    return (
        is_onednn_faster()
        and x.dtype == weight.dtype == torch.float32
        and x.device.type == "cpu"
        and x.numel() * len(weight) >= LARGE
        and not torch.is_autocast_enabled("cpu")
        and not torch.compiler.is_compiling()
    )


def weight_gradient(gradient: Tensor, x: Tensor) -> Tensor:
    """(M, D), from the gradient of the product (R, M) and its input `x` (R, D)."""
    if gradient.size(1) > x.size(1):  # oneDNN copies the first of two that do not lie in rows: the smaller, then
        return multiply(x.T, gradient.T).T
    return multiply(gradient.T, x.T)


class Linear(nn.Linear):
    """A linear layer that is trained; the twin of torch's."""

    def forward(self, x: Tensor) -> Tensor:
        if not suits_onednn(x, self.weight):
            return super().forward(x)
        rows = _Linear.apply(x.reshape(-1, x.size(-1)), self.weight, self.bias)
        return rows.view(*x.shape[:-1], -1)


class _Linear(torch.autograd.Function):
    """x (R, D), W (M, D), b (M,) or None -> (R, M)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return multiply(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        of_input, of_weight, of_bias = ctx.needs_input_grad
        return (
            multiply(gradient, weight.T) if of_input else None,
            weight_gradient(gradient, x) if of_weight else None,
            gradient.sum(0) if of_bias else None,
        )
