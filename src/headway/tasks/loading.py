"""A run directory -> a translator that is ready to be used; of several runs, one translator of all together."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from headway.config import Config
from headway.errors import UserError
from headway.export.engine import Ctranslate2Engine
from headway.search.engine import Engine
from headway.search.translator import Translator
from headway.settings import load_config
from headway.store.run import Run
from headway.tasks.engines import Notice, OnNotice, Request, Wishes, fast_engine, torch_engine
from headway.tasks.torch_processes import TorchProcesses

CHANGEABLE = ("search", "data", "machine")
"""Sections that can be set for a trained model; the others made its weights."""


def load(
    run: str | Path,
    *,
    checkpoint: str | None = None,
    settings: Sequence[str] = (),
    device: str = "auto",
    engine: str = "auto",
    quantization: str | None = None,
    ensemble: Iterable[str | Path] = (),
    workers: int | None = None,
    probabilities: bool = True,
    one_by_one: bool = False,
    on_notice: OnNotice | None = None,
) -> Translator:
    """The translator of a run, its settings changed by assignments as in search.beam=8.

    It uses the checkpoint that the run has chosen, or the one of that name. The probabilities of the runs in `ensemble`
    are averaged with its own. The engine is torch, ctranslate2 (with weights of the type `quantization`: fp32, int8,
    ...) or auto: ctranslate2 on a CPU if it can hold the model, and torch for all that it cannot do. Without
    `probabilities` those of single tokens may be missing, and the scores of greedy outputs (then not a number), which
    saves ctranslate2 some time. With `one_by_one` ctranslate2 is made to answer a single line as soon as it can, rather
    than many lines in little time. Several `workers` are threads of ctranslate2, or processes with torch, which end
    when the translator is closed.
    """
    if device != "auto":
        settings = [*settings, f"machine.device={device}"]
    wishes = Wishes(engine, quantization, workers, probabilities, one_by_one=one_by_one)
    request = open_request(run, checkpoint, settings, ensemble, wishes)
    told = on_notice or ignore
    return make_translator(request, fast_engine(request, told), told)


def open_request(
    run: str | Path,
    checkpoint: str | None,
    settings: Sequence[str],
    ensemble: Iterable[str | Path],
    wishes: Wishes,
) -> Request:
    """What is wanted of a run, which must be one that translates."""
    opened = open_translating(run)
    config = changed_config(opened, settings)
    chosen = opened.checkpoints.find(checkpoint) if checkpoint else opened.chosen()
    return Request(opened, chosen, config, tuple(map(open_translating, ensemble)), wishes)


def make_translator(request: Request, engine: Ctranslate2Engine | None, on_notice: OnNotice) -> Translator:
    """The translator with the engine that was chosen; None is our own, which stands by where the choice was free."""
    search, max_length = request.config.search, request.config.data.max_length
    if engine is None:
        ours = our_engine(request, on_notice)
        return Translator(ours, request.run.vocabulary, search, max_length=max_length)
    reserve = cache(lambda: torch_engine(request, on_notice)) if request.wishes.engine == "auto" else None
    return Translator(engine, request.run.vocabulary, search, max_length=max_length, reserve=reserve)


def our_engine(request: Request, on_notice: OnNotice) -> Engine:
    """Our own engine, in this process or, with several workers, in as many others."""
    count = request.wishes.workers or 1
    if count == 1:
        return torch_engine(request, on_notice)
    on_notice(Notice(f"engine torch: fp32, workers: {count} processes, threads of each: 1"))
    return TorchProcesses(request, count)


def open_translating(path: str | Path) -> Run:
    """The run in a directory, if it is one that translates."""
    run = Run.open(path)
    if run.config.objective != "translation":
        raise UserError(
            f"{run.path} was trained for {run.config.objective}, not for translation; give a run that translates"
        )
    return run


def changed_config(run: Run, settings: Sequence[str]) -> Config:
    """The settings of a run, changed; what it was trained on says nothing about the machine that it is used on."""
    sections = {name.partition("=")[0]: name.partition(".")[0].strip() for name in settings}
    fixed = [name for name, section in sections.items() if section in Config.model_fields and section not in CHANGEABLE]
    if fixed:
        raise UserError(
            f"{', '.join(fixed)} cannot be set for {run.path}, which is trained already; settings of "
            f"{', '.join(CHANGEABLE)} can"
        )
    config = load_config(file=run.path / "config.toml", assignments=settings)
    machine = load_config(assignments=[each for each in settings if each.partition(".")[0].strip() == "machine"])
    return config.model_copy(update={"machine": machine.machine})


def ignore(notice: Notice) -> None:
    """The notices of those who do not ask for them."""
