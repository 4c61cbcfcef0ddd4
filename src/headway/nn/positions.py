"""Where a token stands (section 3.5): added to the embeddings at the bottom of both stacks.

The paper's table is interleaved: PE(pos, 2i) = sin(pos / 10000^(2i/D)), PE(pos, 2i+1) = cos(the same).
Two other layouts are in use, and weights trained with one do not fit another: HF Marian puts all sines before
all cosines; tensor2tensor, fairseq and Marian do so too, and divide by D/2 - 1 in place of D/2 so that the
last wavelength is exactly 10000 (times 2 pi).
"""

from typing import Literal

import torch
from torch import Tensor, nn

from headway.errors import UserError

Layout = Literal["interleaved", "concatenated", "concatenated-t2t"]


def sinusoids(count: int, d_model: int, layout: Layout = "interleaved") -> Tensor:
    """The encodings of the first `count` positions: (T, D)."""
    half = d_model // 2
    steps = max(half - 1, 1) if layout == "concatenated-t2t" else half
    frequency = 10000.0 ** (-torch.arange(half, dtype=torch.float64) / steps)  # (D/2,)
    angle = torch.arange(count, dtype=torch.float64)[:, None] * frequency  # (T, D/2)
    pair = torch.stack([angle.sin(), angle.cos()], dim=-1)  # (T, D/2, 2)
    if layout != "interleaved":
        pair = pair.transpose(1, 2)  # (T, 2, D/2)
    return pair.reshape(count, d_model).float()


class Sinusoids(nn.Module):
    """The fixed encodings of the paper; the table grows with the longest sequence seen."""

    table: Tensor

    def __init__(self, d_model: int, layout: Layout = "interleaved") -> None:
        super().__init__()
        self.layout: Layout = layout
        self.register_buffer("table", sinusoids(256, d_model, layout), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add to `x` (B, T, D) the encodings of the positions from `start` on."""
        end = start + x.size(1)
        if end > len(self.table):
            longer = sinusoids(max(end, 2 * len(self.table)), x.size(2), self.layout)
            self.table = longer.to(self.table)
        return x + self.table[start:end]


class LearnedPositions(nn.Module):
    """An embedding a position (Table 3, row E). There are no more positions than it was built with."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add to `x` (B, T, D) the embeddings of the positions from `start` on."""
        end = start + x.size(1)
        if end > len(self.table):
            raise UserError(
                f"a sequence of {end} tokens, but the model has learned only {len(self.table)} positions "
                "(model.max_positions); shorten it, or train with more positions or with sinusoidal ones"
            )
        return x + self.table[start:end]


class NoPositions(nn.Module):
    """Attention without any notion of order."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:  # noqa: ARG002
        """`x` as it is."""
        return x


Positions = Sinusoids | LearnedPositions | NoPositions
