"""Products in half precision where the device has it: autocast, and the scaling of losses that fp16 needs."""

from contextlib import AbstractContextManager

import torch
from torch import Tensor
from torch.optim import Optimizer

from headway.config import MachineConfig
from headway.errors import UserError

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def choose_device(name: str, local_rank: int = 0) -> torch.device:
    """The device of that name; `auto` is a GPU if there is one, each rank its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise UserError(f"machine.device = {name} is no device; give cpu, cuda, cuda:1, mps or auto") from None
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise UserError("machine.device = mps, but this machine has no Metal GPU; give cpu or auto")
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise UserError(f"machine.device = {name}, but torch finds no GPU; headway doctor says more")
        device = torch.device("cuda", local_rank if device.index is None else device.index)
        torch.cuda.set_device(device)
    return device


class Precision:
    """How losses are computed and gradients are made from them."""

    def __init__(self, config: MachineConfig, device: torch.device) -> None:
        self.device = device
        self.type = TYPES.get(config.precision)
        torch.set_float32_matmul_precision("high" if config.tf32 else "highest")
        # Gradients in fp16 would vanish: the loss is scaled up, and the gradients down again before they are used.
        self.scaler = torch.amp.GradScaler(device.type, enabled=config.precision == "fp16")

    def autocast(self) -> AbstractContextManager[None]:
        """Compute products in the chosen type."""
        return torch.autocast(self.device.type, self.type, enabled=self.type is not None)

    def backward(self, loss: Tensor) -> None:
        """Add the gradients of a loss."""
        self.scaler.scale(loss).backward()

    def unscale(self, optimizer: Optimizer) -> None:
        """Make the gradients those of the loss itself."""
        self.scaler.unscale_(optimizer)

    def step(self, optimizer: Optimizer) -> None:
        """Change the weights."""
        self.scaler.step(optimizer)
        self.scaler.update()

    @property
    def expects_overflow(self) -> bool:
        """Whether a gradient that is not finite only says that the scale was too large."""
        return self.scaler.is_enabled()

    def lower_scale(self) -> None:
        """After such a gradient: take a smaller scale."""
        self.scaler.update(self.scaler.get_scale() * self.scaler.get_backoff_factor())

    def state(self) -> dict[str, float]:
        """What must be kept for a resumed run to go on the same."""
        return dict(self.scaler.state_dict())

    def load_state(self, state: dict[str, float]) -> None:
        """The inverse of `state`."""
        if state:
            self.scaler.load_state_dict(state)
