"""The processes of a run: one, or as many as torchrun started. Each is a rank; the first one speaks and writes."""

import os
import re
import time
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Literal

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.rendezvous import rendezvous
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from headway.config import MachineConfig
from headway.errors import UserError
from headway.models import EncoderDecoder, Model

LAUNCHED = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}
"""What torchrun leaves in the environment of the processes that it starts."""
FAILED, READY = "failed", "ready"
"""Notes of the rank that failed first, and of the first rank when the run is set up."""
MEETING_SECONDS = 1800
"""So long may ranks wait for each other's start; `machine.timeout_minutes` is for those at work."""
GLANCE_SECONDS = 0.1
"""Between two looks at the notes of others."""
SETTLING_SECONDS = 10
"""So long may threads that have done their work take to let go of it."""


@dataclass(frozen=True)
class Ranks:
    """This process among all."""

    rank: int = 0
    count: int = 1
    local: int = 0
    """Its number on its own machine."""
    restarts: int = 0
    """How often torchrun has started the processes anew."""
    notes: Store | None = None
    """What they leave for each other to read."""

    @property
    def is_first(self) -> bool:
        """Whether this one speaks and writes."""
        return self.rank == 0

    def total(self, *numbers: float) -> list[float]:
        """The sums of numbers over all ranks."""
        if self.count == 1:
            return list(numbers)
        sums = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(lent(sums))
        return sums.tolist()

    def wait(self) -> None:
        """Until all ranks have come here."""
        self.total(0)

    def text_of(self, owner: int, text: str) -> str:
        """The text that one of the ranks has, on all of them."""
        if self.count == 1:
            return text
        content = text.encode() if self.rank == owner else b""
        length = int(self.total(len(content))[0])
        letters = torch.tensor(list(content) or [0] * length, dtype=torch.uint8)
        dist.broadcast(lent(letters), owner)
        return bytes(letters.tolist()).decode()

    def after_first(self, action: Callable[[], None], should_stop: Callable[[], bool]) -> None:
        """Let the first rank do something that may take hours; the others go on when it is done, or end if it fails."""
        if self.is_first:
            action()
            if self.notes is not None:
                self.notes.set(READY, "")
            return
        assert self.notes is not None
        while not self.notes.check([READY]):
            if should_stop() or self.notes.check([FAILED]):
                raise UserError(f"rank {self.rank} was stopped while it waited for the first rank to set up the run")
            time.sleep(GLANCE_SECONDS)


ALONE = Ranks()


@contextmanager
def join_ranks(machine: MachineConfig) -> Iterator[Ranks]:
    """The ranks that torchrun has told this process of by its environment; without it, just this one."""
    if not os.environ.keys() >= LAUNCHED:
        yield ALONE
        return
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RESTART_COUNT")
    rank, count, local, restarts = (int(os.environ.get(name, 0)) for name in names)
    uses_gpu = machine.device.startswith("cuda") or (machine.device == "auto" and torch.cuda.is_available())
    ranks = Ranks(rank, count, local, restarts, _meet(rank, count))
    with named_hangs(ranks, "the beginning"):
        dist.init_process_group(
            # The few numbers that ranks tell each other go by gloo: unlike nccl, it reports a rank that is gone.
            "cpu:gloo,cuda:nccl" if uses_gpu else "gloo",
            store=ranks.notes,
            rank=rank,
            world_size=count,
            timeout=timedelta(minutes=machine.timeout_minutes),
        )
    try:
        yield ranks
        settle()
    except BaseException:
        is_first_to_fail()  # before the others can notice that this one is gone
        raise
    finally:
        dist.destroy_process_group()


_loans: list[weakref.ref[Tensor]] = []


def lent(tensor: Tensor) -> Tensor:
    """A tensor that a collective gets, whose threads hold it until some time after they have given their answer."""
    _loans[:] = [*still_lent(), weakref.ref(tensor)]
    return tensor


def still_lent() -> list[weakref.ref[Tensor]]:
    """The tensors that threads have not let go of."""
    return [loan for loan in _loans if loan() is not None]


def settle() -> None:
    """Wait until the threads of gloo have let go of all tensors.

    They need the interpreter for that. Asking for it while it ends would abort the process, after all work was done.
    """
    deadline = time.monotonic() + SETTLING_SECONDS
    while still_lent() and time.monotonic() < deadline:
        time.sleep(0.001)


def is_first_to_fail() -> bool:
    """Whether no rank has failed before this one, which is then the one to say why; the answer stays the same."""
    if not os.environ.keys() >= LAUNCHED:
        return True
    me = f"rank {os.environ['RANK']}"
    try:
        return PrefixStore(_meeting, _store()).compare_set(FAILED, "", me).decode() == me
    except (RuntimeError, dist.DistError):  # nobody is left to ask
        return True


_meeting = f"start-{os.environ.get('TORCHELASTIC_RESTART_COUNT', 0)}"
"""The place of this process's notes; before the first meeting, a guess that others make as well."""


def _meet(rank: int, count: int) -> Store:
    """Wait for all ranks, and agree with them on a place for notes that none has used.

    The store still has what earlier starts have left. So each rank leaves a sign that is new, and the first one gathers
    them. Whoever finds its own among the gathered knows that they are of this start, and says that it is here. The sign
    of the first rank is the name of the place.
    """
    global _meeting
    store, sign, deadline = _store(), uuid.uuid4().hex, time.monotonic() + MEETING_SECONDS
    store.set(f"sign-{rank}", sign)
    while time.monotonic() < deadline:
        if rank == 0:
            signs = store.multi_get([f"sign-{each}" for each in range(count)])
            store.set("gathered", b" ".join(signs).decode())
        gathered = store.get("gathered").decode().split()
        if sign in gathered:
            notes = PrefixStore(gathered[0], store)
            notes.set(f"here-{rank}", "")
            if notes.check([f"here-{each}" for each in range(count)]):
                _meeting = gathered[0]
                return notes
        time.sleep(GLANCE_SECONDS)
    raise UserError(f"rank {rank} of {count} waited {MEETING_SECONDS // 60} minutes for the others to start")


@cache
def _store() -> Store:
    """Where ranks leave notes for each other; torchrun keeps it while they come and go."""
    store, _, _ = next(rendezvous("env://"))
    return PrefixStore("headway", store)


@contextmanager
def named_hangs(ranks: Ranks, moment: str) -> Iterator[None]:
    """Turn the failure of a collective into a message that says who waited for whom, and when."""
    try:
        yield
    except (RuntimeError, dist.DistError) as error:
        if ranks.count == 1 or not _is_collective(error):
            raise
        reason = re.sub(r"^\[[^]]*\] ", "", str(error).strip()).partition(". ")[0]
        raise UserError(
            f"rank {ranks.rank} of {ranks.count} waited in vain for the others in {moment} ({reason}): one of them has "
            "died or is stuck. If torchrun does not start them again (--max-restarts), go on with the same command "
            "and --resume"
        ) from error


def _is_collective(error: Exception) -> bool:
    signs = ("timed out", "timeout", "connection closed", "connection reset", "broken pipe", "gloo", "nccl")
    return isinstance(error, dist.DistError) or any(sign in str(error).lower() for sign in signs)


def spread(
    objective: nn.Module, model: Model, ranks: Ranks, parallel: Literal["ddp", "fsdp"], device: torch.device
) -> nn.Module:
    """The objective of a model as all ranks compute it together: gradients come out as means over the ranks."""
    if ranks.count == 1:
        return objective
    if parallel == "ddp":
        return DistributedDataParallel(
            objective,
            device_ids=[device] if device.type == "cuda" else None,
            forward_sync_buffers=any(isinstance(part, nn.BatchNorm1d) for part in model.modules()),
            gradient_as_bucket_view=True,
        )
    mesh = init_device_mesh(device.type, (ranks.count,))
    for layer in _layers(model):
        fully_shard(layer, mesh=mesh)
    fully_shard(objective, mesh=mesh)
    return objective


def _layers(model: Model) -> list[nn.Module]:
    stacks = (model.encoder, model.decoder) if isinstance(model, EncoderDecoder) else (model.stack,)
    return [layer for stack in stacks for layer in stack.layers]


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
        part.set_reshard_after_forward(False, recurse=False)  # not even after it was asked
        part.unshard()
    try:
        yield
    finally:
        for part in sharded:
            part.reshard()
            part.set_reshard_after_forward(part is not module, recurse=False)


def whole(tensor: Tensor) -> Tensor:
    """All of a tensor, also if its parts are spread over the ranks, who must then all ask for it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def like(tensor: Tensor, example: Tensor) -> Tensor:
    """A tensor, whole on every rank, spread over them as `example` is; or the tensor itself."""
    if isinstance(example, DTensor):
        # Every rank has the whole and takes its own part: nothing is sent.
        return distribute_tensor(tensor.to(example.device), example.device_mesh, example.placements, src_data_rank=None)
    return tensor
