"""Token ids -> vectors (section 3.4): a scaled table, then positions, then dropout."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.errors import UserError
from headway.nn.dropout import Dropout
from headway.nn.positions import Positions


class Embedding(nn.Module):
    """A table of V vectors, multiplied by sqrt(D) when read, so that it can be the output matrix as well."""

    def __init__(self, vocabulary: int, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocabulary, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, T) -> (B, T, D)."""
        try:
            return F.embedding(ids, self.weight) * self.weight.size(1) ** 0.5
        except IndexError:
            raise UserError(self._explain(ids)) from None

    def _explain(self, ids: Tensor) -> str:
        vocabulary = len(self.weight)
        where = ((ids < 0) | (ids >= vocabulary)).nonzero()
        row, column = where[0].tolist()
        return (
            f"token id {int(ids[row, column])} at row {row}, position {column} is outside the vocabulary: "
            f"ids run from 0 to {vocabulary - 1} (model.vocabulary = {vocabulary})"
        )


class InputLayer(nn.Module):
    """The bottom of a stack: embedding, position, dropout."""

    def __init__(self, embedding: Embedding, positions: Positions, dropout: float) -> None:
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.dropout = Dropout(dropout)

    def forward(self, ids: Tensor, start: int = 0) -> Tensor:
        """Ids (B, T), the first of them at position `start`, -> (B, T, D)."""
        return self.dropout(self.positions(self.embedding(ids), start))
