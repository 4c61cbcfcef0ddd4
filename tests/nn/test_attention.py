"""`attend` and multi-head attention: torch's as the reference, the plain way as the twin of the fused ones."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from headway.errors import UserError
from headway.nn import attention as attention_module
from headway.nn.attention import MultiHeadAttention, attend, attend_plainly
from headway.nn.masks import Band, Full, Pattern, TopK, padding_mask
from headway.nn.scores import Additive, Dot, Gaussian, General, ScaledDot, Score

HEADS, WIDTH = 2, 8
SCORES = {
    "scaled-dot": ScaledDot(),
    "dot": Dot(),
    "general": General(HEADS, WIDTH),
    "additive": Additive(HEADS, WIDTH),
    "gaussian": Gaussian(),
}
PATTERNS = {
    "full": Full(),
    "causal": Full(causal=True),
    "window": Band(4),
    "causal window": Band(4, causal=True),
    "dilated": Band(4, dilation=3),
    "strided": Band(4, dilation=4, global_positions=2),
    "causal strided": Band(4, dilation=4, global_positions=2, causal=True),
    "top-k": TopK(3),
    "causal top-k": TopK(3, causal=True),
}
LENGTH = 150  # long enough that bands are cut into blocks


def tensors(queries: int = LENGTH, keys: int = LENGTH, value_width: int = WIDTH) -> list[torch.Tensor]:
    shapes = [(2, HEADS, queries, WIDTH), (2, HEADS, keys, WIDTH), (2, HEADS, keys, value_width)]
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def some_padding(length: int = LENGTH) -> torch.Tensor:
    return padding_mask(torch.arange(length) < torch.tensor([[length], [length - 7]]))


def assert_same(one: torch.Tensor, other: torch.Tensor, inputs: list[torch.Tensor], tolerance: float = 1e-5) -> None:
    """Equal, and so are all gradients."""
    torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)
    gradient = torch.randn_like(one)
    gradients = (torch.autograd.grad(output, inputs, gradient) for output in (one, other))
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, b, atol=10 * tolerance, rtol=10 * tolerance)


def test_attention_without_parameters_is_a_mean_weighted_by_similarity() -> None:
    x = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]])[None]  # (1, 1, 3, 2)
    mixed, weights = attend(x, x, x, score=Dot(), with_weights=True)
    e = torch.e
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor([e, 1, e]) / (2 * e + 1))
    torch.testing.assert_close(mixed[0, 0, 0], torch.tensor([2 * e, 1]) / (2 * e + 1))


def test_equation_1() -> None:
    q, k, v = tensors(5, 7)
    expected = torch.softmax(q @ k.mT / WIDTH**0.5, dim=-1) @ v
    torch.testing.assert_close(attend(q, k, v)[0], expected)


@pytest.mark.parametrize("with_padding", [False, True], ids=["", "padded"])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("score", SCORES)
def test_asking_for_weights_changes_nothing(score: str, pattern: str, with_padding: bool) -> None:
    parts: dict[str, Score | Pattern] = {"score": SCORES[score], "pattern": PATTERNS[pattern]}
    length = 40 if score == "additive" else LENGTH
    q, k, v = tensors(length, length)
    mask = some_padding(length) if with_padding else None
    quick, nothing = attend(q, k, v, mask, **parts)
    plain, weights = attend(q, k, v, mask, **parts, with_weights=True)
    assert nothing is None
    assert_same(quick, plain, [q, k, v])
    torch.testing.assert_close(weights[0].sum(-1), torch.ones(HEADS, length))  # row 1 ends in padding
    torch.testing.assert_close(weights @ v, plain)


def test_the_fused_ways_are_taken_when_nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_module, "attend_plainly", None)
    q, k, v = tensors()
    for score, pattern in itertools.product(SCORES, PATTERNS):
        if score != "additive" and "top-k" not in pattern:
            mixed, _ = attend(q, k, v, score=SCORES[score], pattern=PATTERNS[pattern])
            assert mixed.shape == v.shape
    monkeypatch.setattr(attention_module, "attend_fused", None)
    assert attend(q, k, v, pattern=Band(4))[0].shape == v.shape


@pytest.mark.parametrize("value_width", [3, 20])
@pytest.mark.parametrize("pattern", ["full", "causal", "window", "strided"])
def test_values_may_be_narrower_or_wider_than_keys(value_width: int, pattern: str) -> None:
    q, k, v = tensors(value_width=value_width)
    quick, _ = attend(q, k, v, pattern=PATTERNS[pattern])
    plain, _ = attend(q, k, v, pattern=PATTERNS[pattern], with_weights=True)
    assert quick.shape[-1] == value_width
    assert_same(quick, plain, [q, k, v])


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("pattern", ["full", "causal", "window", "strided"])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_no_nan(pattern: str, with_weights: bool) -> None:
    q, k, v = tensors()
    mask = padding_mask(torch.tensor([[True], [False]]).expand(2, LENGTH))
    mixed, _ = attend(q, k, v, mask, pattern=PATTERNS[pattern], with_weights=with_weights)
    assert not mixed[1].any()
    gradients = torch.autograd.grad(mixed.sum(), [q, k, v])
    assert all(g.isfinite().all() for g in gradients)


@pytest.mark.parametrize("pattern", ["full", "causal", "window", "strided"])
def test_dropped_weights_are_zeros_and_the_rest_make_up_for_them(pattern: str) -> None:
    q, k, _ = tensors()
    ones = torch.ones(2, HEADS, LENGTH, WIDTH)
    mixed, _ = attend(q, k, ones, pattern=PATTERNS[pattern], dropout=0.5)
    assert mixed.std() > 0.01
    assert abs(mixed.mean() - 1) < 0.05


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (torch.ones(2, LENGTH), "an attention mask is boolean, True = may attend; got torch.float32"),
        (torch.ones(3, 1, 1, LENGTH).bool(), r"a mask of shape \(3, 1, 1, 150\) does not fit scores of shape"),
        (torch.ones(LENGTH, 7).bool(), r"a mask of shape \(150, 7\) does not fit scores of shape \(2, 2, 150, 150\)"),
        (torch.ones(1, 1, 1, 1, LENGTH).bool(), r"give \(batch, 1, 1, keys\) to hide padding, or \(queries, keys\)"),
    ],
)
def test_a_wrong_mask_is_refused_with_what_is_possible(mask: torch.Tensor, message: str) -> None:
    with pytest.raises(UserError, match=message):
        attend(*tensors(), mask)


def build(d_model: int = 16, heads: int = 4, d_k: int = 4, d_v: int = 4, **parts) -> MultiHeadAttention:
    return MultiHeadAttention(
        d_model, heads, d_k, d_v, score=parts.pop("score", ScaledDot()), pattern=parts.pop("pattern", Full()), **parts
    )


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("pattern", [Full(), Full(causal=True)])
def test_multi_head_attention_equals_that_of_torch(bias: bool, pattern: Full) -> None:
    ours = build(bias=bias, pattern=pattern)
    theirs = nn.MultiheadAttention(16, 4, bias=bias, batch_first=True)
    with torch.no_grad():
        for p in theirs.parameters():
            nn.init.normal_(p)
        ours.to_query.weight.copy_(theirs.in_proj_weight[:16])
        ours.to_key_value.weight.copy_(theirs.in_proj_weight[16:])
        ours.to_output.weight.copy_(theirs.out_proj.weight)
        if bias:
            ours.to_query.bias.copy_(theirs.in_proj_bias[:16])
            ours.to_key_value.bias.copy_(theirs.in_proj_bias[16:])
            ours.to_output.bias.copy_(theirs.out_proj.bias)
    x = torch.randn(2, 6, 16)
    real = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])
    hidden = None if pattern.mask(6, 6) is None else ~pattern.mask(6, 6)
    expected, expected_weights = theirs(x, x, x, key_padding_mask=~real, attn_mask=hidden, average_attn_weights=False)
    for with_weights in (False, True):
        mixed, weights = ours(x, x, padding_mask(real), with_weights=with_weights)
        torch.testing.assert_close(mixed, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(weights, expected_weights, atol=1e-5, rtol=1e-5)


def test_widths_of_heads_are_free() -> None:
    attention = build(d_model=10, heads=3, d_k=2, d_v=5)
    mixed, weights = attention(torch.randn(2, 4, 10), torch.randn(2, 6, 10), with_weights=True)
    assert mixed.shape == (2, 4, 10)
    assert weights.shape == (2, 3, 4, 6)
    assert sum(p.numel() for p in attention.parameters()) == 3 * 10 * (2 + 2 + 5 + 5)


@given(st.integers(1, 12), st.integers(0, 9))
def test_more_padding_changes_nothing(length: int, more: int) -> None:
    attention = build()
    x = torch.randn(1, length, 16)
    padded = F.pad(x, (0, 0, 0, more), value=9.0)
    real = torch.arange(length + more)[None] < length
    for pattern in PATTERNS.values():
        attention.pattern = pattern
        alone, _ = attention(x, x, padding_mask(real[:, :length]))
        together, _ = attention(padded, padded, padding_mask(real))
        torch.testing.assert_close(together[:, :length], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("pattern", [name for name in PATTERNS if "causal" in name])
@pytest.mark.parametrize("length", [9, LENGTH])
def test_the_future_has_no_gradient_on_the_past(pattern: str, length: int) -> None:
    attention = build(pattern=PATTERNS[pattern])
    x = torch.randn(1, length, 16, requires_grad=True)
    middle = length // 2
    mixed, _ = attention(x, x)
    (gradient,) = torch.autograd.grad(mixed[:, middle].sum(), x)
    assert gradient[:, : middle + 1].any()
    assert not gradient[:, middle + 1 :].any()


def test_plain_attention_drops_weights_too() -> None:
    q, k, _ = tensors(30, 30)
    mixed, weights = attend_plainly(q, k, torch.ones(2, HEADS, 30, WIDTH), None, ScaledDot(), Full(), 0.5)
    assert mixed.std() > 0.01
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, HEADS, 30))
