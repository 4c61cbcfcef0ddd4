"""Computing on real tokens only is computing on all of them, for every real token."""

import pytest
import torch

from headway.config import ModelConfig
from headway.models import build_model
from headway.nn import packing
from headway.nn.packing import Packing
from headway.text.specials import PAD


def ids(rows: int, lengths: list[int]) -> torch.Tensor:
    tokens = torch.randint(5, 40, (rows, max(lengths)))
    for row, length in enumerate(lengths):
        tokens[row, length:] = PAD
    return tokens


def test_packing_and_spreading_are_inverse() -> None:
    real = torch.tensor([[True, True, False], [True, False, False]])
    found = Packing.of(real)
    assert found is not None
    x = torch.randn(2, 3, 4)
    assert torch.equal(found.pack(x), x[real])
    assert torch.equal(found.spread(found.pack(x)), x * real[..., None])


def test_little_padding_is_not_worth_it() -> None:
    real = torch.ones(4, 8, dtype=torch.bool)
    assert Packing.of(None) is None
    assert Packing.of(real) is None
    real[0, 4:] = False  # exactly an eighth
    assert Packing.of(real) is not None


@pytest.mark.parametrize("norm", ["layer", "batch"])
@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only", "encoder-only"])
def test_packed_is_padded(family: str, place: str, norm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(1)
    config = ModelConfig(
        family=family, vocabulary=40, layers=2, d_model=16, d_ff=32, heads=2, dropout=0.0, norm_place=place, norm=norm
    )
    model = build_model(config).double()
    source, target = ids(4, [9, 2, 5, 1]), ids(4, [3, 8, 1, 2])
    inputs = (source, target) if family == "encoder-decoder" else (target,)
    real = (target != PAD)[..., None]
    results = []
    for worthwhile in (packing.WORTHWHILE, 1.0):  # the second never packs
        monkeypatch.setattr(packing, "WORTHWHILE", worthwhile)
        states = model.states(*inputs)[0] * real
        gradients = torch.autograd.grad(states.square().sum(), list(model.parameters()), allow_unused=True)
        results.append((states, *(gradient for gradient in gradients if gradient is not None)))
    for packed, padded in zip(*results, strict=True):
        torch.testing.assert_close(packed, padded, atol=1e-11, rtol=1e-9)
