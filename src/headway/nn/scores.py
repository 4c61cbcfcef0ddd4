"""How well a key answers a query: five score functions, queries (..., Q, E) and keys (..., K, E) -> (..., Q, K).

Section 3.2.1 of the paper chooses `ScaledDot` and names `Dot` and `Additive` as the common alternatives;
`General` is Luong's bilinear form, `Gaussian` the kernel of Nadaraya and Watson.

`fold` rewrites a score as one scaled dot product: scale * queries' . keys' = score + a constant for each query.
Softmax ignores that constant, so the fused kernel, which knows only dot products, can serve.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

Folded = tuple[Tensor, Tensor, float]
"""Queries and keys, not always as wide as before, and the scale of their dot product."""


class Score(nn.Module, ABC):
    """A score function of queries and keys."""

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """The scores (..., Q, K) of queries (..., Q, E) with keys (..., K, E)."""
        folded = self.fold(queries, keys)
        assert folded is not None, "a score that cannot be folded defines its own forward"
        queries, keys, scale = folded
        return scale * queries @ keys.transpose(-2, -1)

    @abstractmethod
    def fold(self, queries: Tensor, keys: Tensor) -> Folded | None:
        """Queries, keys and scale whose dot product is this score up to a constant a query; None if none is."""


class Dot(Score):
    """The dot product q . k."""

    def fold(self, queries: Tensor, keys: Tensor) -> Folded:
        """Already a dot product."""
        return queries, keys, 1.0


class ScaledDot(Score):
    """q . k / sqrt(d_k): the paper's equation 1."""

    def fold(self, queries: Tensor, keys: Tensor) -> Folded:
        """Already a scaled dot product."""
        return queries, keys, queries.size(-1) ** -0.5


class General(Score):
    """q W k, with a matrix W for each head."""

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, d_k, d_k))
        nn.init.normal_(self.weight, std=1 / d_k)  # keeps q W k of unit variance for unit q and k

    def fold(self, queries: Tensor, keys: Tensor) -> Folded:
        """W goes to the queries."""
        return queries @ self.weight, keys, 1.0


class Gaussian(Score):
    """-|q - k|^2 / (2 s^2), the logarithm of a Gaussian kernel, with s^2 = sqrt(d_k).

    With that s it is the scaled dot product less |k|^2 / (2 sqrt(d_k)), up to a constant a query.
    """

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """By distances, without the folding."""
        return -torch.cdist(queries, keys).square() / (2 * queries.size(-1) ** 0.5)

    def fold(self, queries: Tensor, keys: Tensor) -> Folded:
        """The penalty on |k| becomes one more coordinate."""
        penalty = keys.square().sum(-1, keepdim=True) / -2
        one = torch.ones_like(queries[..., :1])
        return torch.cat([queries, one], -1), torch.cat([keys, penalty], -1), queries.size(-1) ** -0.5


class Additive(Score):
    """v . tanh(q + k), Bahdanau's score, with a vector v for each head. Its projections are the attention's own.

    No dot product equals it: it needs room for (..., Q, K, E) numbers and is never fused.
    """

    def __init__(self, heads: int, d_k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(heads, d_k))
        nn.init.normal_(self.weight, std=d_k**-0.5)

    def forward(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Every sum of a query and a key."""
        sums = queries[..., :, None, :] + keys[..., None, :, :]  # (B, H, Q, K, E)
        return torch.einsum("bhqke,he->bhqk", sums.tanh(), self.weight)

    def fold(self, queries: Tensor, keys: Tensor) -> None:  # noqa: ARG002
        """Not a dot product."""
        return
