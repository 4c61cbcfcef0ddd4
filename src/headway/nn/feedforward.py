"""The position-wise feed-forward network (section 3.3): FFN(x) = max(0, x W1 + b1) W2 + b2."""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from headway.nn.dropout import Dropout
from headway.nn.linear import Linear

Activation = Literal["relu", "gelu", "swiglu"]


class FeedForward(nn.Module):
    """Widen, bend, narrow. SwiGLU has a second matrix of W1's size, whose output gates that of the first."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation = "relu", dropout: float = 0.0) -> None:
        super().__init__()
        self.activation = activation
        self.widen = Linear(d_model, 2 * d_ff if activation == "swiglu" else d_ff)
        self.narrow = Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)
        for weight in (*self.widen.weight.split(d_ff), self.narrow.weight):
            nn.init.xavier_uniform_(weight)
        nn.init.zeros_(self.widen.bias)
        nn.init.zeros_(self.narrow.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> the same."""
        return self.narrow(self.dropout(self.bend(self.widen(x))))

    def bend(self, hidden: Tensor) -> Tensor:
        """The activation of what was widened, which may be overwritten."""
        match self.activation:
            case "relu":
                return F.relu_(hidden)
            case "gelu":
                return F.gelu(hidden)
            case "swiglu":
                gate, value = hidden.chunk(2, dim=-1)
                return F.silu(gate) * value
