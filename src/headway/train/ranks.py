"""The processes of a run: one, or as many as torchrun started. Each is a rank; the first one speaks and writes."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from headway.config import MachineConfig
from headway.errors import UserError
from headway.models import EncoderDecoder, Model


@dataclass(frozen=True)
class Ranks:
    """This process among all."""

    rank: int = 0
    count: int = 1
    local: int = 0
    """Its number on its own machine."""
    restarts: int = 0
    """How often torchrun has started the processes anew."""

    @property
    def is_first(self) -> bool:
        """Whether this one speaks and writes."""
        return self.rank == 0

    def total(self, *numbers: float) -> list[float]:
        """The sums of numbers over all ranks."""
        if self.count == 1:
            return list(numbers)
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        sums = torch.tensor(numbers, dtype=torch.float64, device=device)
        dist.all_reduce(sums)
        return sums.tolist()

    def wait(self) -> None:
        """Until all ranks have come here."""
        if self.count > 1:
            dist.barrier()


ALONE = Ranks()


@contextmanager
def join_ranks(machine: MachineConfig) -> Iterator[Ranks]:
    """The ranks that torchrun has told this process of by its environment; without it, just this one."""
    if "WORLD_SIZE" not in os.environ:
        yield ALONE
        return
    environment = {name: int(os.environ.get(name, 0)) for name in ("RANK", "LOCAL_RANK", "TORCHELASTIC_RESTART_COUNT")}
    uses_gpu = machine.device.startswith("cuda") or (machine.device == "auto" and torch.cuda.is_available())
    dist.init_process_group("nccl" if uses_gpu else "gloo", timeout=timedelta(minutes=machine.timeout_minutes))
    try:
        yield Ranks(environment["RANK"], dist.get_world_size(), *list(environment.values())[1:])
    finally:
        dist.destroy_process_group()


@contextmanager
def named_hangs(ranks: Ranks, step: int) -> Iterator[None]:
    """Turn the failure of a collective into a message that says who waited for whom, and when."""
    try:
        yield
    except (RuntimeError, dist.DistError) as error:
        if ranks.count == 1 or not _is_collective(error):
            raise
        first_line = str(error).strip().splitlines()[0]
        raise UserError(
            f"rank {ranks.rank} of {ranks.count} waited in vain for the others in step {step}: {first_line}. One of "
            "them has died or is stuck; its own output says more. Go on with the same command and --resume"
        ) from error


def _is_collective(error: Exception) -> bool:
    text = str(error).lower()
    signs = ("timed out", "timeout", "connection closed", "connection reset", "broken pipe", "gloo", "nccl")
    return any(sign in text for sign in signs)


def spread(
    objective: nn.Module, model: Model, ranks: Ranks, parallel: Literal["ddp", "fsdp"], device: torch.device
) -> nn.Module:
    """The objective of a model as all ranks compute it together: gradients come out as means over the ranks."""
    if ranks.count == 1:
        return objective
    if parallel == "ddp":
        return DistributedDataParallel(objective, device_ids=[device] if device.type == "cuda" else None)
    stacks = (model.encoder, model.decoder) if isinstance(model, EncoderDecoder) else (model.stack,)
    for stack in stacks:
        for layer in stack.layers:
            fully_shard(layer)
    fully_shard(objective)
    return objective


def without_exchange(module: nn.Module, is_last: bool) -> AbstractContextManager[None]:
    """Keep gradients to this rank until the last part of an update."""
    if isinstance(module, DistributedDataParallel):
        return nullcontext() if is_last else module.no_sync()
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(is_last)
    return nullcontext()


@contextmanager
def gathered(module: nn.Module) -> Iterator[None]:
    """Inside, every rank has all weights, also if they are spread."""
    sharded = [part for part in module.modules() if isinstance(part, FSDPModule)]
    for part in sharded:
        part.unshard()
    try:
        yield
    finally:
        for part in sharded:
            part.reshard()


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor, also if its parts are spread over the ranks, who must then all ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def like(tensor: Tensor, example: Tensor) -> Tensor:
    """A whole tensor spread over the ranks as `example` is, or the tensor itself."""
    if isinstance(example, DTensor):
        return distribute_tensor(tensor.to(example.device), example.device_mesh, example.placements)
    return tensor
