"""Which engine serves a run, and why: CTranslate2 on a CPU where it can, our own elsewhere, or the one asked for.

Our own engine is imported only when it is used: in one process with CTranslate2, torch gets in the way of its threads.
"""

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from headway.config import Config
from headway.errors import UserError, did_you_mean
from headway.export.abilities import (
    CANNOT,
    EXACT,
    UnableError,
    check_installed,
    check_model,
    check_search,
    quantization_name,
)
from headway.export.agreement import Agreement
from headway.export.conversions import converted
from headway.export.engine import Ctranslate2Engine
from headway.export.threads import quickest_threads
from headway.processes import usable_cores
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run

if TYPE_CHECKING:
    from headway.search.torch_engine import TorchEngine

ENGINES = ("auto", "torch", "ctranslate2")


class Notice(NamedTuple):
    """What is said about the choice of an engine."""

    text: str
    kind: Literal["detail", "wait", "warning"] = "detail"
    """What only some want to know, what takes a while, and what everybody should know."""


OnNotice = Callable[[Notice], None]


@dataclass(frozen=True)
class Wishes:
    """How a run is to be served."""

    engine: str = "auto"
    quantization: str | None = None
    """Type of the weights; other than fp32 only in CTranslate2."""
    workers: int | None = None
    """How many batches are worked on at once; by default one by torch, as many as there are threads by CTranslate2."""
    probabilities: bool = True
    """Whether those of single tokens are wanted, and the scores of greedy outputs."""
    alignments: bool = False
    one_by_one: bool = False
    """Whether somebody waits for each line: then the fewest seconds for one count, not the most lines a second."""

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise UserError(f"unknown engine {self.engine}{did_you_mean(self.engine, ENGINES)}")
        if self.engine == "torch" and self.kind != EXACT:
            raise UserError(f"engine torch translates in fp32; {self.quantization} needs engine ctranslate2")

    @property
    def kind(self) -> str:
        """CTranslate2's name of the type of weights."""
        return quantization_name(self.quantization)


@dataclass(frozen=True)
class Request:
    """A run, and what is wanted of it."""

    run: Run
    checkpoint: Checkpoint
    config: Config
    """The settings of the run, changed."""
    ensemble: tuple[Run, ...]
    """Runs that are searched together with it."""
    wishes: Wishes


def fast_engine(request: Request, on_notice: OnNotice) -> Ctranslate2Engine | None:
    """CTranslate2, if it is asked for, or if it can serve and nothing speaks for torch; None: our own engine."""
    wishes = request.wishes
    if wishes.engine == "torch":
        return None
    if wishes.engine == "ctranslate2" or wishes.kind != EXACT:  # who wants other weights wants what has them
        check_request(request)
        return open_ctranslate2(request, on_notice)
    try:
        check_request(request)
        check_machine(request.config.machine.device)
    except UnableError as unable:
        on_notice(Notice(f"engine torch: {unable.reason}"))
        return None
    try:
        return open_ctranslate2(request, on_notice)
    except UserError as error:
        reason = error.reason if isinstance(error, UnableError) else str(error)
        on_notice(Notice(f"engine torch is used: {reason}", "warning"))
        return None


def check_request(request: Request) -> None:
    """Refuse what CTranslate2 cannot hold or do."""
    check_installed()
    if request.ensemble:
        raise UnableError("CTranslate2 has one model, and an ensemble several")
    if request.wishes.alignments:
        raise UnableError(CANNOT["alignments"])
    check_search(request.config.search)
    check_model(request.config.model, str(request.run.path))


def check_machine(device: str) -> None:
    """Leave GPUs to torch; CTranslate2 is not chosen for them, but can be asked for."""
    if device not in ("auto", "cpu"):
        raise UnableError(f"machine.device is {device}")
    if device == "auto" and (cuda_gpus() or (platform.system(), platform.machine()) == ("Darwin", "arm64")):
        raise UnableError("this machine has a GPU")


def cuda_gpus() -> int:
    """How many GPUs CTranslate2 could use."""
    import ctranslate2  # type: ignore[import-untyped]

    return int(ctranslate2.get_cuda_device_count())


def open_ctranslate2(request: Request, on_notice: OnNotice) -> Ctranslate2Engine:
    """CTranslate2 with the run's conversion, which is made now if that has not been done."""
    wait = f"converting {request.checkpoint.path} for CTranslate2 and comparing what it writes, once ..."
    conversion = converted(
        request.run, request.wishes.kind, request.checkpoint, on_make=lambda: on_notice(Notice(wait, "wait"))
    )
    device = request.config.machine.device
    if device == "auto":
        device = "cuda" if cuda_gpus() else "cpu"
    workers, threads = shares(request, device, conversion.directory)
    engine = Ctranslate2Engine(
        conversion.directory,
        request.run.vocabulary,
        request.config.search,
        device=device,
        workers=workers,
        threads=threads,
        with_probabilities=request.wishes.probabilities,
    )
    told = f"engine ctranslate2: {request.wishes.kind} on {device}, workers: {workers}, threads of each: {threads}"
    on_notice(Notice(f"{told}; {describe_agreement(conversion.agreement)}"))
    return engine


def shares(request: Request, device: str, conversion: Path) -> tuple[int, int]:
    """How many workers there are, and how many threads each has.

    On a CPU several workers of one thread translate the most lines a second. For single lines there is one worker, and
    how many threads are best for it is tried out; weights of fewer bits lose by more than one on every machine that was
    tried. Who sets `machine.threads` and asks for fewer workers gets more threads a worker, too.
    """
    wishes, threads = request.wishes, request.config.machine.threads
    if device != "cpu":
        return wishes.workers or 1, 1
    named = os.environ.get("OMP_NUM_THREADS", "")
    cores = threads or (int(named) if named.isdigit() and int(named) else usable_cores())
    if wishes.one_by_one and not threads:
        if wishes.kind != EXACT:
            return 1, 1
        names = request.run.vocabulary.source.names
        return 1, quickest_threads(conversion, names, request.config.search.beam, cores)
    workers = wishes.workers or (1 if wishes.one_by_one else cores)
    return workers, max(threads // workers, 1) if threads and wishes.kind == EXACT else 1


def describe_agreement(agreement: Agreement) -> str:
    """How far it writes what torch writes."""
    text = f"{agreement.greedy_equal:.1%} of {agreement.sentences} sentences as torch writes them"
    if agreement.bleu_torch is None or agreement.bleu_ctranslate2 is None:
        return text
    change = agreement.bleu_ctranslate2 - agreement.bleu_torch
    return f"{text}, BLEU {agreement.bleu_ctranslate2:.2f} ({change:+.2f})"


def torch_engine(request: Request, on_notice: OnNotice) -> "TorchEngine":
    """Our own engine with the run's model, or with those of an ensemble."""
    from headway.tasks.torch_models import open_torch

    engine, threads = open_torch(request.run, request.checkpoint, request.config, request.ensemble)
    on_notice(Notice(f"engine torch: fp32 on {engine.device}, workers: 1, threads: {threads}"))
    return engine
