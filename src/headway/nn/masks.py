"""Who may attend to whom. A mask is boolean and True means *may attend*, everywhere in the project.

Padding depends on the batch and is made from the token ids. Everything else depends only on where query and
key stand: such a rule is a *pattern*, a small frozen part that is given to an attention when it is built.
Queries stand at the end of the keys, so that the one query of a decoding step is the newest position.

`Full` is the paper's attention, causal in the decoder (section 3.2.3). `Band` is the restricted attention of
its section 4 in three forms: a window, a dilated window, and strided positions with global ones.
`TopK` lets the model choose: each query keeps its largest scores.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from headway.text.specials import PAD


def real_tokens(ids: Tensor) -> Tensor:
    """Which of the ids (B, T) are tokens and not padding: (B, T)."""
    return ids != PAD


def padding_mask(real: Tensor) -> Tensor:
    """Hide padding from all heads and all queries: (B, K) -> (B, 1, 1, K)."""
    return real[:, None, None, :]


@dataclass(frozen=True)
class Full:
    """Every position, or in a causal stack every position up to one's own."""

    causal: bool = False

    def mask(self, queries: int, keys: int, device: torch.device | None = None) -> Tensor | None:
        """The mask (Q, K), or None where everything is allowed."""
        if not self.causal or queries == 1:
            return None
        return distances(queries, keys, device) <= 0


@dataclass(frozen=True)
class Band:
    """`width` positions around one's own, `dilation` apart; causal: the `width` positions that end at one's own.

    The first `global_positions` are seen by everybody and see everybody.
    """

    width: int
    dilation: int = 1
    global_positions: int = 0
    causal: bool = False

    @property
    def before(self) -> int:
        """How many steps of `dilation` back a query sees."""
        return self.width - 1 if self.causal else self.width // 2

    @property
    def after(self) -> int:
        """How many steps of `dilation` ahead a query sees."""
        return 0 if self.causal else (self.width - 1) // 2

    def mask(self, queries: int, keys: int, device: torch.device | None = None) -> Tensor:
        """The mask (Q, K): the plain twin of `headway.nn.banded.attend_band`."""
        distance = distances(queries, keys, device)
        seen = (distance >= -self.before * self.dilation) & (distance <= self.after * self.dilation)
        seen &= distance % self.dilation == 0
        if self.global_positions:
            is_global = torch.arange(keys, device=device) < self.global_positions
            seen = seen | is_global | is_global[keys - queries :, None]
        return seen & (distance <= 0) if self.causal else seen


@dataclass(frozen=True)
class TopK:
    """The `count` keys whose scores are largest; equal scores at the border all stay."""

    count: int
    causal: bool = False

    def mask(self, queries: int, keys: int, device: torch.device | None = None) -> Tensor | None:
        """The mask (Q, K) before the choice by score."""
        return Full(self.causal).mask(queries, keys, device)

    def is_kept(self, scores: Tensor) -> Tensor:
        """Which of the scores (..., Q, K) are among the `count` largest of their query."""
        scores = scores.detach()  # a choice has no gradient
        count = min(self.count, scores.size(-1))
        smallest_kept = scores.topk(count, dim=-1).values[..., -1:]  # (..., Q, 1)
        return scores >= smallest_kept


Pattern = Full | Band | TopK


def distances(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Position of the key minus position of the query, the queries being the last of the keys: (Q, K)."""
    position = torch.arange(keys, device=device)
    return position - position[keys - queries :, None]
