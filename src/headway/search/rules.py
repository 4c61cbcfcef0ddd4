"""What an output may be, whatever the way of searching: its tokens, its length, how it begins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.data.objectives import padded
from headway.nn.masks import real_tokens
from headway.text.specials import BOS, EOS, MASK, PAD, UNK

NEVER_WRITTEN = [PAD, BOS, UNK, MASK]


@dataclass(frozen=True)
class Rules:
    """The rules for the outputs of B sentences."""

    longest: Tensor
    """Most tokens of each output (B,), EOS counted."""
    prefixes: Tensor
    """The tokens that each output begins with (B, P), then PAD."""
    shortest: int = 0
    """Fewest tokens before EOS."""
    first: int = BOS
    """What the model is given before the first token."""

    @classmethod
    def of(cls, source: Tensor, config: SearchConfig, prefixes: Sequence[Sequence[int]] | None = None) -> "Rules":
        """The rules that the settings ask for, given the sources (B, S) with EOS."""
        begin = prefixes or [[]] * len(source)
        beginnings = padded([np.asarray(tokens, dtype=np.int64) for tokens in begin]).to(source.device)
        sizes = torch.maximum(real_tokens(source).sum(1), real_tokens(beginnings).sum(1) + 1)
        return cls(sizes + config.extra_length, beginnings, config.min_length)

    def select(self, rows: Tensor) -> "Rules":
        """The rules for the given sentences."""
        return Rules(self.longest.index_select(0, rows), self.prefixes.index_select(0, rows), self.shortest, self.first)

    def apply(self, log_probabilities: Tensor, length: int) -> None:
        """Make impossible, in place, what may not follow `length` tokens: (B, N, V)."""
        if length >= self.prefixes.size(1):
            self._forbid(log_probabilities, length)
            return
        next_tokens = self.prefixes[:, length]  # (B,), PAD where nothing is given
        rows = (next_tokens != PAD).nonzero()[:, 0]
        wanted = next_tokens[rows]
        given = log_probabilities[rows, :, wanted]  # (rows, N)
        self._forbid(log_probabilities, length)
        log_probabilities[rows] = -torch.inf
        log_probabilities[rows, :, wanted] = given

    def _forbid(self, log_probabilities: Tensor, length: int) -> None:
        """What no output may have after `length` tokens."""
        log_probabilities[..., PAD : BOS + 1] = -torch.inf  # NEVER_WRITTEN by slices, which are cheap
        log_probabilities[..., UNK : MASK + 1] = -torch.inf
        if length < self.shortest:
            log_probabilities[..., EOS] = -torch.inf
