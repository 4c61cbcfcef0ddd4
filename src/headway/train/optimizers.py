"""Settings -> optimizer, and the optimizer's memory <-> named tensors."""

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer

from headway.config import TrainConfig

KEYS = ("step", "exp_avg", "exp_avg_sq")


def build_optimizer(model: nn.Module, config: TrainConfig, *, fused: bool = True) -> Optimizer:
    """Adam or AdamW over all weights; what is a vector (biases, norms) does not decay."""
    weights = list(model.parameters())
    groups = [
        {"params": [w for w in weights if w.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [w for w in weights if w.dim() <= 1], "weight_decay": 0.0},
    ]
    kind = AdamW if config.optimizer == "adamw" else Adam
    return kind(
        [group for group in groups if group["params"]],
        lr=1.0,  # set before each step
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        fused=fused,
    )


def set_rate(optimizer: Optimizer, rate: float) -> None:
    """Use this learning rate from now on."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_tensors(optimizer: Optimizer, named: Iterable[tuple[str, nn.Parameter]]) -> dict[str, Tensor]:
    """What the optimizer remembers of each weight, as `key/name`."""
    return {
        f"{key}/{name}": torch.as_tensor(value)
        for name, weight in named
        for key, value in optimizer.state.get(weight, {}).items()
    }


def load_optimizer(
    optimizer: Optimizer, named: Iterable[tuple[str, nn.Parameter]], tensors: Mapping[str, Tensor]
) -> None:
    """Make the optimizer remember what `optimizer_tensors` wrote."""
    for name, weight in named:
        memory = {key: tensors[f"{key}/{name}"] for key in KEYS if f"{key}/{name}" in tensors}
        if memory:
            # Only the fused kernels count steps where the weight is; the others do so on the CPU.
            counts_there = optimizer.defaults["fused"]
            optimizer.state[weight] = {
                key: value.clone() if key == "step" and not counts_there else value.to(weight.device, copy=True)
                for key, value in memory.items()
            }
