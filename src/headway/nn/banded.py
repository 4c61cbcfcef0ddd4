"""Restricted attention at the price of what it sees: O(r n d) time and O(n d) memory for a `Band` of r positions.

A dilated band looks at every d-th position, so positions fall into d classes that never meet: each class
becomes a row of the batch, and there the band is a plain window. A window is cut into blocks of queries; the
keys that a block can see lie in the blocks next to it. Blocks become rows of the batch too, and the fused kernel
does the rest. Global positions are further keys of every block; as queries they attend to everything.

Blocks are taken a few at a time, and again in the backward pass, so that what a block gathers is never kept.

The plain twin is dense attention under `Band.mask`. Further shapes here: C classes, M blocks of a class,
R queries of a block, W keys that a block is given, G global positions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import get_device_states, set_device_states

from headway.nn.masks import Band

_SMALLEST_BLOCK = 16
_PIECE = 1 << 20
"""Numbers that a piece gathers of keys, and as many of values: small enough for the processor's cache."""


@dataclass(frozen=True)
class Cut:
    """How `length` positions are cut into classes and blocks for a band."""

    length: int
    classes: int
    blocks: int
    block: int
    left: int
    right: int

    @classmethod
    def of(cls, band: Band, length: int) -> "Cut":
        """Blocks of half the band: smaller ones waste less on keys out of reach, larger ones multiply faster."""
        block = max(_SMALLEST_BLOCK, band.width // 2)
        left, right = math.ceil(band.before / block), math.ceil(band.after / block)
        blocks = math.ceil(math.ceil(length / band.dilation) / block)
        return cls(length, band.dilation, blocks, block, left, right)

    @property
    def scores(self) -> int:
        """How many scores are computed."""
        return self.classes * self.blocks * self.block * (self.left + 1 + self.right) * self.block

    def apart(self, x: Tensor, *, with_margins: bool = False) -> Tensor:
        """(B, T, ...) -> (B, C, M, R, ...): position r d + c is the r-th of class c; zeros where there is none.

        Margins are the blocks beside the first and the last that their queries would see: M + left + right.
        """
        left, right = (self.left, self.right) if with_margins else (0, 0)
        rows = (left + self.blocks + right) * self.block
        before = left * self.block * self.classes
        after = rows * self.classes - before - self.length
        if before or after:
            x = F.pad(x, (0, 0) * (x.dim() - 2) + (before, after))
        return x.unflatten(1, (rows, self.classes)).transpose(1, 2).unflatten(2, (-1, self.block))

    def together(self, x: Tensor, *, with_margins: bool = False) -> Tensor:
        """The inverse of `apart`: (B, C, M, R, ...) -> (B, T, ...)."""
        before = self.left * self.block * self.classes if with_margins else 0
        return x.flatten(2, 3).transpose(1, 2).flatten(1, 2)[:, before : before + self.length]

    def pieces(self, numbers_a_block: int) -> Iterator[slice]:
        """Ranges of consecutive blocks that gather about `_PIECE` numbers each."""
        at_once = max(1, _PIECE // (numbers_a_block * (self.left + 1 + self.right)))
        for start in range(0, self.blocks, at_once):
            yield slice(start, min(start + at_once, self.blocks))

    def windows(self, x: Tensor, piece: slice) -> Tensor:
        """What each block of a piece can see of x, which has margins: a view (B, C, m, W, ...)."""
        count = self.left + 1 + self.right
        near = x[:, :, piece.start : piece.stop + count - 1]
        return near.unfold(2, count, 1).movedim(-1, 3).flatten(3, 4)

    def add_windows(self, total: Tensor, windows: Tensor, piece: slice) -> None:
        """Add to `total`, which has margins, what stands in the windows of a piece: the transpose of `windows`."""
        count = self.left + 1 + self.right
        for shift, part in enumerate(windows.unflatten(3, (count, self.block)).unbind(3)):
            total[:, :, piece.start + shift : piece.stop + shift] += part

    def reach(self, band: Band, device: torch.device) -> Tensor:
        """Which of the W keys of a block are near enough to each of its queries: (R, W)."""
        query = torch.arange(self.block, device=device)[:, None]
        key = torch.arange(-self.left * self.block, (1 + self.right) * self.block, device=device)
        return (key >= query - band.before) & (key <= query + band.after)


def is_worthwhile(band: Band, queries: Tensor, keys: Tensor, mask: Tensor | None) -> bool:
    """Whether the band can be cut into blocks, and is narrow enough that this saves work."""
    length = keys.size(-2)
    is_self_attention = queries.size(-2) == length
    is_mask_of_keys = mask is None or (mask.dim() == 4 and mask.shape[1:3] == (1, 1))
    return is_self_attention and is_mask_of_keys and 2 * Cut.of(band, length).scores < length**2


def attend_band(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    band: Band,
    scale: float,
    dropout: float,
) -> Tensor:
    """Attention (B, H, T, E) under `band`, the score a scaled dot product; `mask` is (B, 1, 1, T) or None."""
    batch, _, length, _ = keys.shape
    if mask is None:
        mask = torch.ones(1, 1, 1, length, dtype=torch.bool, device=keys.device)
    positions_first = (x.transpose(1, 2) for x in (queries, keys, values))
    shown = mask[:, 0, 0].expand(batch, -1)  # (B, T)
    mixed = _InPieces.apply(*positions_first, shown, band, scale, dropout)
    mixed = mixed.transpose(1, 2)
    if count := min(band.global_positions, length):
        leaders = _attend_from_globals(queries[:, :, :count], keys, values, mask, band.causal, scale, dropout)
        mixed = torch.cat([leaders, mixed[:, :, count:]], dim=2)
    return mixed


def _attend_from_globals(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor,
    causal: bool,
    scale: float,
    dropout: float,
) -> Tensor:
    """The first G queries (B, H, G, E), which see everything that the mask allows and, if causal, no future."""
    if causal:
        position = torch.arange(keys.size(-2), device=keys.device)
        mask = mask & (position <= position[: queries.size(-2), None])  # (B, 1, G, T)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask, dropout_p=dropout, scale=scale)


class _Blocks:
    """Queries, keys and values (B, T, H, E), cut apart; `shown` (B, T) says which keys are there."""

    def __init__(self, queries: Tensor, keys: Tensor, values: Tensor, shown: Tensor, band: Band) -> None:
        length = keys.size(1)
        count = min(band.global_positions, length)
        is_local = torch.arange(length, device=keys.device) >= count
        self.cut = cut = Cut.of(band, length)
        self.queries = cut.apart(queries)  # (B, C, M, R, H, E)
        self.keys = cut.apart(keys, with_margins=True)
        self.values = cut.apart(values, with_margins=True)
        self.global_keys = keys[:, None, None, :count]  # (B, 1, 1, G, H, E)
        self.global_values = values[:, None, None, :count]
        self.shown = cut.apart((shown & is_local)[..., None], with_margins=True)[..., 0]  # (B, C, M, R)
        self.global_shown = shown[:, None, None, None, :count]  # (B, 1, 1, 1, G)
        self.reach = cut.reach(band, keys.device)  # (R, W)

    def pieces(self) -> Iterator[slice]:
        """Ranges of blocks to take at once."""
        return self.cut.pieces(self.queries[:, :, 0].numel())

    def attend(self, piece: slice, scale: float, dropout: float) -> tuple[Tensor, list[Tensor]]:
        """The output (B, C, m, R, H, E) of a piece, and the tensors it was made from, to differentiate by."""
        inputs = [
            self.queries[:, :, piece],
            self.cut.windows(self.keys, piece),
            self.cut.windows(self.values, piece),
            self.global_keys,
            self.global_values,
        ]
        q, k, v, global_k, global_v = inputs = [x.detach().requires_grad_() for x in inputs]
        seen = self.cut.windows(self.shown, piece)[..., None, :] & self.reach  # (B, C, m, R, W)
        if global_k.size(3):
            shape = q.shape[:3]
            k = torch.cat([k, global_k.expand(*shape, -1, -1, -1)], dim=3)  # (B, C, m, W + G, H, E)
            v = torch.cat([v, global_v.expand(*shape, -1, -1, -1)], dim=3)
            seen = torch.cat([seen, self.global_shown.expand(*seen.shape[:4], -1)], dim=4)
        mixed = F.scaled_dot_product_attention(
            q.flatten(0, 2).transpose(1, 2),  # (B C m, H, R, E)
            k.flatten(0, 2).transpose(1, 2),  # (B C m, H, W + G, E)
            v.flatten(0, 2).transpose(1, 2),
            attn_mask=seen.flatten(0, 2)[:, None],  # (B C m, 1, R, W + G)
            dropout_p=dropout,
            scale=scale,
        )
        return mixed.transpose(1, 2).unflatten(0, q.shape[:3]), inputs


class _InPieces(torch.autograd.Function):
    """Every query with its neighbours and the global keys; what global queries get is not yet all they see."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        shown: Tensor,
        band: Band,
        scale: float,
        dropout: float,
    ) -> Tensor:
        ctx.save_for_backward(queries, keys, values, shown)
        ctx.how = band, scale, dropout
        ctx.random_state = torch.get_rng_state(), *get_device_states(queries)
        blocks = _Blocks(queries, keys, values, shown, band)
        mixed = torch.empty_like(blocks.queries)
        for piece in blocks.pieces():
            mixed[:, :, piece], _ = blocks.attend(piece, scale, dropout)
        return blocks.cut.together(mixed)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, values, shown = ctx.saved_tensors
        band, scale, dropout = ctx.how
        state, devices, device_states = ctx.random_state
        blocks = _Blocks(queries, keys, values, shown, band)
        cut = blocks.cut
        gradient = cut.apart(gradient)
        of_queries = torch.empty_like(blocks.queries)
        of_keys, of_values = torch.zeros_like(blocks.keys), torch.zeros_like(blocks.values)
        of_globals = [torch.zeros_like(blocks.global_keys), torch.zeros_like(blocks.global_values)]
        with torch.random.fork_rng(devices):
            torch.set_rng_state(state)
            set_device_states(devices, device_states)
            for piece in blocks.pieces():
                with torch.enable_grad():
                    mixed, leaves = blocks.attend(piece, scale, dropout)
                change = torch.autograd.grad(
                    mixed, leaves, gradient[:, :, piece], allow_unused=True, materialize_grads=True
                )
                of_queries[:, :, piece] = change[0]
                cut.add_windows(of_keys, change[1], piece)
                cut.add_windows(of_values, change[2], piece)
                of_globals = [total + more for total, more in zip(of_globals, change[3:], strict=True)]
        results = [cut.together(of_queries)]
        for total, of_global in zip((of_keys, of_values), of_globals, strict=True):
            result = cut.together(total, with_margins=True)
            result[:, : of_global.size(3)] += of_global[:, 0, 0]
            results.append(result)
        return *results, None, None, None, None
