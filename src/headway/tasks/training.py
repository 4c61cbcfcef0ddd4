"""`headway train`: from raw text files to a usable model, and on from where a run was stopped."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from headway.config import Config
from headway.errors import UserError
from headway.models import Model, build_model
from headway.settings import load_config
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run
from headway.tasks.beginning import NEW, Beginning, Origin, check_same
from headway.tasks.judging import make_judge
from headway.tasks.setting_up import OnProgress, Wanted, open_data, read_samples, set_up
from headway.tasks.tensorboard import both, tensorboard_watch
from headway.text.corpus import Corpus
from headway.train.events import Warned, Watch
from headway.train.finishing import finish
from headway.train.precision import choose_device
from headway.train.progress import Progress
from headway.train.ranks import Ranks, join_ranks, named_hangs
from headway.train.trainer import Trainer

FIXED = ("model", "data", "tokenizer")
"""Sections that a resumed run cannot change: its weights and its data were made by them."""


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    run: Run
    progress: Progress
    result: dict[str, Any] | None
    """Its result, or None if it was told to stop before its end."""


@dataclass(frozen=True)
class Observer:
    """Those who watch a training, and who may tell it to stop."""

    watch: Watch = lambda _: None
    on_progress: OnProgress = lambda *_: None
    """Told how far the encoding of a corpus is."""
    should_stop: Callable[[], bool] = lambda: False


NOBODY = Observer()


def train_run(
    out: Path,
    wanted: Wanted,
    corpus: Corpus | None = None,
    valid: Corpus | None = None,
    *,
    resume: bool = False,
    init: Path | None = None,
    command: Sequence[str] = (),
    observer: Observer = NOBODY,
) -> Outcome:
    """Train in the directory `out`: begin, or with `resume` go on with what is there."""
    run = Run(out)
    config = _changed(run, wanted) if run.exists else wanted.config()
    with join_ranks(config.machine) as ranks:
        watch: Watch = observer.watch if ranks.is_first else lambda _: None

        def make_ready() -> None:
            _check_place(run, resume or ranks.restarts > 0)
            if _is_set_up(run):
                if init is not None:
                    check_same(run, init)
                run.write_config(config)
            elif corpus is None:
                raise UserError(f"{out} is not a run that could be resumed; give the corpora to train on")
            else:
                beginning = Beginning.with_run(init) if init is not None else NEW
                set_up(out, wanted, corpus, valid, beginning, command, watch, observer.on_progress)

        ranks.after_first(make_ready, observer.should_stop)
        if not run.exists:
            raise UserError(f"rank {ranks.rank} does not see {out}; --out must be on a disk that all machines share")
        return _train(Run.open(out), ranks, watch, observer.should_stop)


def _train(run: Run, ranks: Ranks, watch: Watch, should_stop: Callable[[], bool]) -> Outcome:
    """Train a run that is set up."""
    config = run.config
    device = choose_device(config.machine.device, ranks.local)
    torch.set_num_threads(config.machine.threads or torch.get_num_threads())
    if config.train.tensorboard and ranks.is_first:
        watch = both(watch, tensorboard_watch(run.path / "tensorboard", config.train.log_every))
    start = _latest(run, ranks, watch)
    train, valid = open_data(run)
    judge = make_judge(config, run.vocabulary, read_samples(run))
    trainer = Trainer(
        run, _model(run, start), train, valid, device, ranks=ranks, judge=judge, watch=watch,
        should_stop=should_stop,
    )  # fmt: skip
    progress, is_over = trainer.train(start)
    with named_hangs(ranks, "the final validation"):
        return Outcome(run, progress, finish(trainer, progress) if is_over else None)


def _latest(run: Run, ranks: Ranks, watch: Watch) -> Checkpoint | None:
    """The last whole checkpoint, if there is one; the first rank looks for it."""
    found = None
    if ranks.is_first:
        found = run.checkpoints.latest(on_damage=lambda text: watch(Warned(f"{text}; the one before it is used")))
    with named_hangs(ranks, "the beginning"):
        name = ranks.text_of(0, found.path.name if found else "")
    return Checkpoint(run.checkpoints.directory / name) if name else None


def _model(run: Run, start: Checkpoint | None) -> Model:
    """The model of a run, with the weights it begins with unless those of a checkpoint will replace them."""
    config = run.config
    torch.manual_seed(config.train.seed)
    model = build_model(config.model)
    if start is None and (origin := Origin.of_card(run.card)) is not None:
        origin.fill(model, config.model)
    return model


def _changed(run: Run, wanted: Wanted) -> Config:
    """The settings of a run that goes on, changed where that can be done."""
    config = load_config(file=run.path / "config.toml", assignments=wanted.assignments)
    fixed = [name for name in FIXED if getattr(config, name) != getattr(run.config, name)]
    if fixed:
        raise UserError(
            f"{run.path} was trained with other settings of {' and '.join(fixed)}, which a run cannot change; "
            "leave them out, or choose another --out"
        )
    return config


def _check_place(run: Run, resume: bool) -> None:
    """A run is not overwritten by accident."""
    if run.exists and not resume:
        steps = run.checkpoints.steps()
        state = f"{steps[-1].step:,} steps done" if steps else "no checkpoint yet"
        raise UserError(f"{run.path} has a run already ({state}); go on with it by --resume, or choose another --out")


def _is_set_up(run: Run) -> bool:
    return run.exists and (run.data / "valid.jsonl").exists()
