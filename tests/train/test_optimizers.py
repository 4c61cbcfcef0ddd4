"""Our optimizers against torch's plain ones, and their memory on its way through named tensors."""

import pytest
import torch
from torch import nn

from headway.config import TrainConfig
from headway.train.optimizers import build_optimizer, load_optimizer, optimizer_tensors, set_rate

SETTINGS = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-7, "weight_decay": 0.1}


def layer() -> nn.Sequential:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5))


def take_steps(model: nn.Module, optimizer: torch.optim.Optimizer, count: int, first: int = 0) -> None:
    for step in range(first, first + count):
        torch.manual_seed(step)
        optimizer.zero_grad()
        (model(torch.randn(3, 4)) - torch.randn(3, 5)).square().sum().backward()
        set_rate(optimizer, 0.01 * (step + 1))
        optimizer.step()


@pytest.mark.parametrize("name", ["adam", "adamw"])
def test_steps_equal_those_of_torch(name) -> None:
    ours, theirs = layer(), layer()
    take_steps(ours, build_optimizer(ours, TrainConfig(optimizer=name, **SETTINGS)), 5)
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[name]
    matrices = [w for w in theirs.parameters() if w.dim() == 2]
    vectors = [w for w in theirs.parameters() if w.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    take_steps(theirs, kind(groups, betas=(0.8, 0.95), eps=1e-7, foreach=False, fused=False), 5)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


def test_only_matrices_decay() -> None:
    model = layer()
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    optimizer = build_optimizer(model, TrainConfig(optimizer="adamw", weight_decay=0.5))
    for weight in model.parameters():
        weight.grad = torch.zeros_like(weight)
    set_rate(optimizer, 0.1)
    optimizer.step()
    after = dict(model.named_parameters())
    torch.testing.assert_close(after["0.weight"], before["0.weight"] * 0.95)
    for name in ("0.bias", "1.weight", "1.bias"):
        assert after[name].equal(before[name])


def test_a_new_optimizer_goes_on_from_named_tensors() -> None:
    config = TrainConfig(optimizer="adamw", **SETTINGS)
    whole, parted = layer(), layer()
    take_steps(whole, build_optimizer(whole, config), 7)
    first = build_optimizer(parted, config)
    take_steps(parted, first, 4)
    tensors = optimizer_tensors(first, parted.named_parameters())
    assert set(tensors) >= {"step/0.weight", "exp_avg/1.bias", "exp_avg_sq/0.weight"}
    second = build_optimizer(parted, config)
    load_optimizer(second, parted.named_parameters(), tensors)
    take_steps(parted, second, 3, first=4)
    for a, b in zip(whole.parameters(), parted.parameters(), strict=True):
        assert a.equal(b)
    assert tensors["step/0.weight"] == 4  # what was stored is not written to
