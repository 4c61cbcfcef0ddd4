"""The linear layer that is trained, by either library, against torch's own."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.nn import linear
from headway.nn.linear import Linear, add_product, multiply

pytestmark = pytest.mark.usefixtures("library")


def gradients(layer: Callable[[Tensor], Tensor], x: Tensor, *weights: Tensor) -> list[Tensor]:
    output = layer(x)
    return [output, *torch.autograd.grad((output * torch.arange(output.numel()).view_as(output)).sum(), [x, *weights])]


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("shape", [(3, 5), (7,), (2, 3, 4), (1, 1)], ids=str)
@pytest.mark.parametrize("width", [3, 40])
def test_outputs_and_gradients_are_those_of_torch(
    shape: tuple[int, ...], width: int, has_bias: bool, library: str
) -> None:
    torch.manual_seed(1)
    layer = Linear(12, width, bias=has_bias)
    x = torch.randn(*shape, 12, requires_grad=True)
    assert linear.suits_onednn(x, layer.weight) == (library == "oneDNN")
    weights = [layer.weight, *([layer.bias] if has_bias else [])]
    expected = gradients(lambda x: F.linear(x, layer.weight, layer.bias), x, *weights)
    for ours, theirs in zip(gradients(layer, x, *weights), expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-4)


def test_gradients_are_computed_only_where_they_are_wanted() -> None:
    layer = Linear(12, 6)
    layer.weight.requires_grad_(False)
    x = torch.randn(5, 12)
    layer(x).sum().backward()
    assert layer.weight.grad is None
    torch.testing.assert_close(layer.bias.grad, torch.full((6,), 5.0))


def test_matrices_need_not_lie_in_rows() -> None:
    x, weight = torch.randn(12, 5).T, torch.randn(12, 7).T
    torch.testing.assert_close(multiply(x, weight), x @ weight.T, rtol=1e-5, atol=1e-5)
    total = torch.ones(5, 7)
    add_product(total, x, weight)
    torch.testing.assert_close(total, 1 + x @ weight.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_types_are_left_to_torch(dtype: torch.dtype) -> None:
    layer, x = Linear(12, 6).to(dtype), torch.randn(5, 12, dtype=dtype)
    assert not linear.suits_onednn(x, layer.weight)
    assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))


def test_autocast_is_left_to_torch() -> None:
    layer = Linear(12, 6)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.randn(5, 12)).dtype == torch.bfloat16


def test_small_products_are_left_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "LARGE", 5 * 12 * 6 + 1)
    layer = Linear(12, 6)
    assert not linear.suits_onednn(torch.randn(5, 12), layer.weight)
    assert linear.suits_onednn(torch.randn(6, 12), layer.weight) == linear.is_onednn_faster()


def test_what_is_trained_is_linear_to_all_others() -> None:
    assert isinstance(Linear(12, 6), nn.Linear)
    assert {name for name, _ in Linear(12, 6).named_parameters()} == {"weight", "bias"}
