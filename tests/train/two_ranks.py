"""Two processes that know each other, each with a trainer of the same run."""

import os
import threading
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import torch
import torch.distributed as dist
from small_runs import CPU, fresh_model
from torch import Tensor

from headway.config import MachineConfig
from headway.data.prepared import Prepared
from headway.store.run import Run
from headway.train.ranks import Ranks, join_ranks, lent, still_lent
from headway.train.trainer import Trainer

Work = Callable[[Ranks, Path], None]


def on_two_ranks(work: Work, place: Path) -> None:
    """Do the work in two new processes, which must come to their end."""
    store = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    start = get_context("spawn")
    processes = [start.Process(target=be_rank, args=(rank, store.port, work, place)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]


def be_rank(rank: int, port: int, work: Work, place: Path) -> None:
    """What torchrun would tell a process that it starts."""
    told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "localhost", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in told.items()}, TORCHELASTIC_USE_AGENT_STORE="True")
    torch.set_num_threads(1)
    machine = MachineConfig(timeout_minutes=1.0)
    with join_ranks(machine) as ranks:
        assert ranks.text_of(1, f"rank {ranks.rank}") == "rank 1"
        hold_for_a_moment(lent(torch.ones(1)))
    assert not still_lent()  # or a thread might want the interpreter while it ends
    with join_ranks(machine) as ranks:  # as a program that trains twice
        work(ranks, place)


def hold_for_a_moment(tensor: Tensor) -> None:
    """As a thread of gloo may do after a collective."""
    held = [tensor]
    threading.Timer(0.2, held.clear).start()


def trainer_on_rank(path: Path, ranks: Ranks, **options) -> Trainer:
    """This rank's trainer of a run that has its data."""
    run = Run.open(path)
    train, valid = (Prepared(run.data / name) for name in ("train", "valid"))
    return Trainer(run, fresh_model(run.config), train, valid, CPU, ranks=ranks, **options)
