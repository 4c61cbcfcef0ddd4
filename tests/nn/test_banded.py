"""Restricted attention in blocks against the dense mask: outputs and gradients."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.nn import banded
from headway.nn.attention import attend_plainly
from headway.nn.banded import Cut, attend_band, is_worthwhile
from headway.nn.masks import Band, padding_mask
from headway.nn.scores import Dot

bands = st.builds(Band, st.integers(1, 60), st.integers(1, 7), st.integers(0, 4), st.booleans())


@settings(max_examples=150)
@given(bands, st.integers(1, 3), st.integers(1, 120), st.integers(0, 20), st.sampled_from([1, 3000, 1 << 20]))
def test_blocks_equal_the_dense_mask(band: Band, batch: int, length: int, padding: int, piece: int) -> None:
    q, k, v = (torch.randn(batch, 2, length, 4, requires_grad=True) for _ in range(3))
    lengths = torch.tensor([max(0, length - padding * row) for row in range(batch)])
    mask = padding_mask(torch.arange(length) < lengths[:, None]) if padding else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(banded, "_PIECE", piece)
        in_blocks = attend_band(q, k, v, mask, band, 1.0, 0.0)
        dense, _ = attend_plainly(q, k, v, mask, Dot(), band, 0.0)
        torch.testing.assert_close(in_blocks, dense, atol=1e-5, rtol=1e-5)
        gradient = torch.randn_like(dense)
        ours = torch.autograd.grad(in_blocks, [q, k, v], gradient)
    theirs = torch.autograd.grad(dense, [q, k, v], gradient)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)


@given(bands, st.integers(1, 200))
def test_cutting_apart_and_putting_together_loses_nothing(band: Band, length: int) -> None:
    cut = Cut.of(band, length)
    x = torch.arange(2 * length * 3).view(2, length, 3)
    assert cut.together(cut.apart(x)).equal(x)
    assert cut.together(cut.apart(x, with_margins=True), with_margins=True).equal(x)


@pytest.mark.parametrize("band", [Band(64), Band(64, dilation=4), Band(64, dilation=8, global_positions=2)])
def test_the_number_of_scores_grows_linearly(band: Band) -> None:
    assert Cut.of(band, 16_384).scores == 2 * Cut.of(band, 8192).scores
    assert Cut.of(band, 8192).scores <= 8192 * 2 * band.width


def test_the_backward_pass_drops_what_the_forward_pass_dropped() -> None:
    q, k = (torch.randn(1, 1, 100, 4) for _ in range(2))
    v = torch.randn(1, 1, 100, 4, requires_grad=True)
    mixed = attend_band(q, k, v, None, Band(8), 1.0, 0.5)
    torch.rand(5)  # the random state moves on before the backward pass
    (gradient,) = torch.autograd.grad(mixed.sum(), v)
    # The output is linear in the values, so with one set of dropped weights it is their product with its gradient.
    torch.testing.assert_close((gradient * v).sum(), mixed.sum(), atol=1e-4, rtol=1e-4)


def test_the_backward_pass_leaves_the_random_state_alone() -> None:
    x = torch.randn(1, 1, 100, 4, requires_grad=True)
    mixed = attend_band(x, x, x, None, Band(8), 1.0, 0.5)
    state = torch.get_rng_state()
    mixed.sum().backward()
    assert torch.get_rng_state().equal(state)


def test_a_short_sequence_or_an_unusual_mask_is_left_to_the_dense_kernel() -> None:
    short, long = torch.zeros(1, 1, 40, 4), torch.zeros(1, 1, 400, 4)
    every_query_its_own = torch.ones(1, 1, 400, 400, dtype=torch.bool)
    assert is_worthwhile(Band(32), long, long, None)
    assert not is_worthwhile(Band(32), short, short, None)
    assert not is_worthwhile(Band(32), long[:, :, :1], long, None)
    assert not is_worthwhile(Band(32), long, long, every_query_its_own)
