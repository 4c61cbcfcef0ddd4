"""The best ways to go on: of N beams with V next tokens each, the few with the largest sums of log-probabilities."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK = 64
"""Tokens whose largest value is looked at first. Of thousands of tokens, a full sort of a few blocks is left."""


class Candidates(NamedTuple):
    """Ways to go on from the beams of B sentences, C of each, best first."""

    scores: Tensor
    """Sums of log-probabilities (B, C), in double precision; -inf is impossible."""
    parents: Tensor
    """The beam that is continued (B, C)."""
    tokens: Tensor
    """The token that continues it (B, C)."""

    def take(self, places: Tensor) -> "Candidates":
        """Those at the given places (B, M)."""
        return Candidates(*(each.gather(1, places) for each in self))


def best_candidates(log_probabilities: Tensor, scores: Tensor, count: int) -> Candidates:
    """The best `count`, or all if there are fewer, of beams with sums `scores` (B, N) and next tokens (B, N, V).

    The best `count` tokens lie in the `count` blocks with the largest maxima, and only those are sorted.
    """
    beams, vocabulary = log_probabilities.shape[1:]
    blocks = in_blocks(log_probabilities)  # (B, N, M, 64)
    in_beam = blocks.size(2)
    maxima = (blocks.amax(-1) + scores[..., None]).flatten(1)  # (B, N M)
    chosen = maxima.topk(min(count, maxima.size(1)), dim=1).indices  # (B, C')
    sums = blocks.flatten(1, 2).gather(1, chosen[..., None].expand(-1, -1, BLOCK))  # (B, C', 64)
    totals = (sums + scores.gather(1, chosen // in_beam)[..., None]).flatten(1)  # (B, C' 64)
    best, places = totals.topk(min(count, beams * vocabulary), dim=1)
    block = chosen.gather(1, places // BLOCK)
    tokens = block % in_beam * BLOCK + places % BLOCK
    # Beyond the vocabulary nothing is possible; where even that is chosen, any token will do.
    return Candidates(best, block // in_beam, tokens.clamp(max=vocabulary - 1))


def best_tokens(log_probabilities: Tensor) -> Tensor:
    """The best token of each beam (B, N, V) -> (B, N), of equal ones the first: `argmax`, which reads one by one."""
    blocks = in_blocks(log_probabilities)
    block = blocks.amax(-1).argmax(-1, keepdim=True)  # (B, N, 1)
    values = blocks.gather(2, block[..., None].expand(-1, -1, -1, BLOCK))  # (B, N, 1, 64)
    return (block * BLOCK + values.argmax(-1))[..., 0]


def in_blocks(log_probabilities: Tensor) -> Tensor:
    """(B, N, V) -> (B, N, M, 64); what is added to the last block is impossible."""
    if missing := -log_probabilities.size(-1) % BLOCK:
        log_probabilities = F.pad(log_probabilities, (0, missing), value=-torch.inf)
    return log_probabilities.unflatten(-1, (-1, BLOCK))
