"""x W + b for weights that do not change any more, in the way that is fastest on a CPU."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from headway.nn.processor import capability, is_packing_worthwhile

LARGE = 2**20
"""Where packing pays: with AVX-512, products of as many multiplications are faster with packed matrices, which cost
more to call, and a millisecond at the first call with so many rows; without it, only matrices of as many numbers."""
FEW = 4
"""Rows that they need without AVX-512: there a single one took three times as long as with a plain matrix."""
PACKED_FOR = 64
"""Rows that a matrix is packed for; from 16 to 256 it makes no difference."""


@dataclass(frozen=True)
class Product:
    """x W + b, W (D, M)."""

    weight: Tensor
    bias: Tensor | None

    @cached_property
    def packed(self) -> Tensor | None:
        """The matrix in the layout that oneDNN multiplies fastest with on x86; torch has no public name for it."""
        if self.weight.dtype != torch.float32 or not is_packing_worthwhile():
            return None
        return torch.ops.mkldnn._reorder_linear_weight(self.weight.mT.contiguous(), PACKED_FOR)

    @classmethod
    def of(cls, linear: nn.Linear) -> "Product":
        """A linear layer; the matrix is its own, not a copy."""
        return cls(linear.weight.detach().mT, None if linear.bias is None else linear.bias.detach())

    def scaled(self, factor: float) -> "Product":
        """The same, times a factor."""
        return Product(self.weight * factor, None if self.bias is None else self.bias * factor)

    def beside(self, other: "Product") -> "Product":
        """What both make of the same input, one after the other."""
        bias = None if self.bias is None or other.bias is None else torch.cat([self.bias, other.bias])
        return Product(torch.cat([self.weight, other.weight], dim=1), bias)

    def __call__(self, x: Tensor) -> Tensor:
        """(R, D) -> (R, M)."""
        if self.is_large(x) and (packed := self.packed) is not None:
            return torch.ops.mkldnn._linear_pointwise.default(x, packed, self.bias, "none", [], "")
        product = torch.mm(x, self.weight)
        return product if self.bias is None else product.add_(self.bias)

    def added_to(self, rest: Tensor, x: Tensor) -> Tensor:
        """`rest` (R, M) + x W + b."""
        if self.is_large(x) and (packed := self.packed) is not None:
            return torch.ops.mkldnn._linear_pointwise.binary(x, rest, packed, self.bias, "add")
        total = torch.addmm(rest, x, self.weight)
        return total if self.bias is None else total.add_(self.bias)

    def is_large(self, x: Tensor) -> bool:
        """Whether a product with `x` (R, D) is worth the call of a packed one."""
        if capability() == "AVX512":
            return len(x) * self.weight.numel() >= LARGE
        return len(x) >= FEW and self.weight.numel() >= LARGE


class FixedLinear(nn.Linear):
    """A linear layer that is not trained any more; the twin of the plain one."""

    product: Product

    @classmethod
    def of(cls, linear: nn.Linear) -> "FixedLinear":
        """The same layer. Its matrix lies in columns: few rows are multiplied with those faster.

        An output matrix that is also an embedding becomes a copy: an embedding is read by rows.
        """
        made = cls(linear.in_features, linear.out_features, device="meta")
        made.weight = nn.Parameter(linear.weight.detach().mT.contiguous().mT, requires_grad=False)
        made.bias = linear.bias
        made.product = Product.of(made)
        return made

    def forward(self, x: Tensor) -> Tensor:
        return self.product(x.reshape(-1, x.size(-1))).view(*x.shape[:-1], -1)


def fix_linears(model: nn.Module) -> None:
    """Put a fixed linear layer in the place of every other one."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear):
                setattr(module, name, FixedLinear.of(child))
