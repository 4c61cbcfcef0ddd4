"""Attention (section 3.2): a weighted sum of values, each weight a softmax of the scores of query and keys.

`attend` is all of it, and needs no parameters: `attend(x, x, x)` is self-attention of the embeddings themselves.
It has a plain way, which follows the formula and can return the weights, and fused ways, which never hold a
(Q, K) matrix. Which one is taken changes the speed and not the output.

`MultiHeadAttention` adds what is learned: the projections of queries, keys and values, and of the heads' output.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.errors import UserError
from headway.nn.banded import attend_band, is_worthwhile
from headway.nn.cache import Cache, KeysValues
from headway.nn.linear import Linear
from headway.nn.masks import Band, Full, Pattern, TopK
from headway.nn.packing import Packing, pack, spread
from headway.nn.scores import ScaledDot, Score

Attended = tuple[Tensor, Tensor | None]
"""The mixed values (B, H, Q, E), and the weights (B, H, Q, K) if they were asked for."""


def attend(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
    *,
    score: Score | None = None,
    pattern: Pattern = Full(),
    dropout: float = 0.0,
    with_weights: bool = False,
) -> Attended:
    """softmax(score(Q, K)) V, for queries (B, H, Q, E), keys and values (B, H, K, E). Paper, equation 1.

    `mask` is boolean, True = may attend, and broadcasts to (B, H, Q, K). A query that may attend to nothing
    gets zeros. `dropout` is the rate at which weights are dropped; the weights returned are those before it.
    """
    score = score or ScaledDot()
    check_mask(mask, (*queries.shape[:-1], keys.size(-2)))
    folded = None if with_weights or isinstance(pattern, TopK) else score.fold(queries, keys)
    if folded is None:
        mixed, weights = attend_plainly(queries, keys, values, mask, score, pattern, dropout)
        return mixed, weights if with_weights else None
    q, k, scale = folded
    q, k, v = equally_wide(q, k, values)
    if isinstance(pattern, Band) and is_worthwhile(pattern, q, k, mask):
        mixed = attend_band(q, k, v, mask, pattern, scale, dropout)
    else:
        mixed = attend_fused(q, k, v, mask, pattern, scale, dropout)
    return mixed[..., : values.size(-1)], None


def attend_plainly(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    score: Score,
    pattern: Pattern,
    dropout: float,
) -> tuple[Tensor, Tensor]:
    """The formula as it stands: every score, softmax, sum. The twin of the fused ways."""
    scores = score(queries, keys)  # (B, H, Q, K)
    allowed = joined(mask, pattern.mask(queries.size(-2), keys.size(-2), keys.device))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    if isinstance(pattern, TopK):
        scores = scores.masked_fill(~pattern.is_kept(scores), -torch.inf)
    weights = scores.softmax(dim=-1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0.0)  # only matters where nothing is allowed: softmax gives NaN
    return F.dropout(weights, dropout) @ values, weights


def attend_fused(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    pattern: Pattern,
    scale: float,
    dropout: float,
) -> Tensor:
    """The same for scores that are scaled dot products, by torch's kernel."""
    is_causal = mask is None and pattern == Full(causal=True) and queries.size(-2) == keys.size(-2)
    allowed = None if is_causal else joined(mask, pattern.mask(queries.size(-2), keys.size(-2), keys.device))
    return F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=allowed, dropout_p=dropout, is_causal=is_causal, scale=scale
    )


def equally_wide(*parts: Tensor) -> tuple[Tensor, ...]:
    """Zeros appended to the narrower ones: they change no dot product, and the fused kernel wants one width."""
    widest = max(x.size(-1) for x in parts)
    return tuple(x if x.size(-1) == widest else F.pad(x, (0, widest - x.size(-1))) for x in parts)


def joined(one: Tensor | None, other: Tensor | None) -> Tensor | None:
    """What both masks allow; None allows everything."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


def check_mask(mask: Tensor | None, scores_shape: tuple[int, ...]) -> None:
    """Refuse a mask that is not boolean or does not broadcast to the scores (B, H, Q, K)."""
    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise UserError(f"an attention mask is boolean, True = may attend; got {mask.dtype}")
    sizes = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.dim() > len(scores_shape) or any(size not in (1, full) for size, full in sizes):
        raise UserError(
            f"a mask of shape {tuple(mask.shape)} does not fit scores of shape {scores_shape} (batch, heads, "
            "queries, keys); give (batch, 1, 1, keys) to hide padding, or (queries, keys)"
        )


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own projection. Paper, section 3.2.2.

    `d_k` and `d_v` need not be `d_model / heads` (Table 3, rows B).
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        d_k: int,
        d_v: int,
        *,
        score: Score,
        pattern: Pattern,
        bias: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.pattern = pattern
        self.score = score
        self.dropout = dropout
        self.key_width = heads * d_k
        self.to_query = Linear(d_model, heads * d_k, bias=bias)
        self.to_key_value = Linear(d_model, heads * (d_k + d_v), bias=bias)
        self.to_output = Linear(heads * d_v, d_model, bias=bias)
        keys, values = self.to_key_value.weight.split([heads * d_k, heads * d_v])
        for weight in (self.to_query.weight, keys, values, self.to_output.weight):
            nn.init.xavier_uniform_(weight)
        for projection in (self.to_query, self.to_key_value, self.to_output):
            if projection.bias is not None:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        queries: Tensor,
        memory: Tensor | None,
        mask: Tensor | None = None,
        *,
        packing: Packing | None = None,
        memory_packing: Packing | None = None,
        cache: Cache | None = None,
        with_weights: bool = False,
    ) -> Attended:
        """Attend from `queries` (B, Q, D) to `memory` (B, K, D), both maybe packed, and to what the cache knows."""
        q = self.split(spread(self.to_query(queries), packing))  # (B, H, Q, E)
        pattern = self.pattern
        if cache is None:
            k, v = self.keys_values(memory, memory_packing)
        else:
            k, v = cache.recall(memory, self.keys_values)
            mask, pattern = cache.restrict(mask, pattern)
        mixed, weights = attend(
            q,
            k,
            v,
            mask,
            score=self.score,
            pattern=pattern,
            dropout=self.dropout if self.training else 0.0,
            with_weights=with_weights,
        )
        return self.to_output(pack(self.merge(mixed), packing)), weights  # (B, Q, D), (B, H, Q, K) or None

    def keys_values(self, memory: Tensor | None, packing: Packing | None = None) -> KeysValues:
        """Keys and values (B, H, K, E) of `memory` (B, K, D), maybe packed, by one matrix product."""
        assert memory is not None, "without a cache there must be a memory"
        both = spread(self.to_key_value(memory), packing)  # (B, K, H E + H E)
        keys, values = both.split([self.key_width, both.size(-1) - self.key_width], dim=-1)
        return self.split(keys), self.split(values)

    def split(self, x: Tensor) -> Tensor:
        """(B, T, H E) -> (B, H, T, E)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def merge(self, x: Tensor) -> Tensor:
        """(B, H, T, E) -> (B, T, H E)."""
        return x.transpose(1, 2).flatten(2)
