"""A run that was stopped and resumed ends where one that never was does, bit for bit."""

from pathlib import Path

import pytest
import torch
from small_runs import new_trainer, small_config, trainer_of

from headway.config import Config
from headway.store.metrics import read_metrics
from headway.store.run import Run
from headway.train.events import Event, Updated
from headway.train.finishing import finish
from headway.train.trainer import Trainer
from headway.train.validation import Judgement

TIMES = {"seconds", "tokens_per_second"}


class Stopper:
    """Asks a trainer to stop once it has begun its n-th update."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.step = 0

    def __call__(self) -> bool:
        return self.step + 1 >= self.after

    def watch(self, event: Event) -> None:
        if isinstance(event, Updated):
            self.step = event.step


def stopped_at(path: Path, config: Config, step: int, **options) -> Run:
    stopper = Stopper(step)
    trainer = new_trainer(path, config, should_stop=stopper, watch=stopper.watch, **options)
    progress, is_over = trainer.train()
    assert (progress.step, is_over) == (step, False)
    return trainer.run


def last_state(run: Run) -> tuple[dict, dict, dict]:
    checkpoint = run.checkpoints.latest()
    state = checkpoint.state()
    state["since"].pop("seconds")
    state.pop("seconds")
    return checkpoint.weights(), checkpoint.optimizer(), state


def metrics_of(run: Run) -> list[dict]:
    return [{k: v for k, v in record.items() if k not in TIMES} for record in read_metrics(run.metrics.path)]


def assert_same(one: Run, other: Run) -> None:
    for ours, theirs in zip(last_state(one)[:2], last_state(other)[:2], strict=True):
        assert ours.keys() == theirs.keys()
        assert all(tensor.equal(theirs[name]) for name, tensor in ours.items())
    # The checksums are of the same bytes, best and waited are those of the same validations.
    assert last_state(one)[2] == last_state(other)[2]
    assert metrics_of(one) == metrics_of(other)
    assert [c.step for c in one.checkpoints.steps()] == [c.step for c in other.checkpoints.steps()]


SETTINGS = {
    "plain": {},
    "accumulation": {"accumulate": 3, "clip": 0.5},
    "moving average": {"ema": 0.9},
    "BPE dropout": {"tokenizer": {"dropout": 0.2}},
    "R-Drop": {"r_drop": 2.0, "optimizer": "adamw", "weight_decay": 0.1},
    "patience": {"patience": 2, "validate_every": 2, "peak_rate": 0.3},
    "batch norm": {"model": {"norm": "batch", "dropout": 0.2}},
    "recomputed": {"machine": {"recompute": True}},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS.keys())
def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path, settings: dict) -> None:
    config = small_config(**{"model": {"dropout": 0.2}, **settings})
    whole = new_trainer(tmp_path / "whole", config)
    progress, _ = whole.train()
    at = int(torch.randint(1, progress.step, ()))
    run = stopped_at(tmp_path / "parted", config, at)
    trainer = trainer_of(run)
    trainer.train(run.checkpoints.latest())
    assert_same(whole.run, run)


@pytest.mark.parametrize("at", [1, 4, 7, 11])
def test_it_does_not_matter_where_and_how_often(tmp_path: Path, at: int) -> None:
    config = small_config({"dropout": 0.2}, steps=13, batch_tokens=150)
    whole = new_trainer(tmp_path / "whole", config)
    assert whole.train()[0].position.epoch >= 1  # the parts lie in several epochs
    run = stopped_at(tmp_path / "parted", config, at)
    if at < 11:
        stopper = Stopper(at + 2)
        trainer = trainer_of(run, should_stop=stopper, watch=stopper.watch)
        stopper.step = at
        trainer.train(run.checkpoints.latest())
        assert run.checkpoints.latest().step == at + 2
    trainer_of(run).train(run.checkpoints.latest())
    assert_same(whole.run, run)


def test_a_run_that_was_killed_repeats_what_it_lost(tmp_path: Path) -> None:
    config = small_config({"dropout": 0.2}, steps=12)
    whole = new_trainer(tmp_path / "whole", config)
    whole.train()

    class Killed(BaseException):
        pass

    def kill(event: Event) -> None:
        if isinstance(event, Updated) and event.step == 11:
            raise Killed

    killed = new_trainer(tmp_path / "killed", config, watch=kill)
    with pytest.raises(Killed):
        killed.train()
    assert killed.run.checkpoints.latest().step == 8
    trainer_of(killed.run).train(killed.run.checkpoints.latest())
    assert_same(whole.run, killed.run)


def test_a_damaged_last_checkpoint_costs_only_time(tmp_path: Path) -> None:
    config = small_config({"dropout": 0.2})
    whole = new_trainer(tmp_path / "whole", config)
    whole.train()
    run = stopped_at(tmp_path / "parted", config, 9)
    (run.checkpoints.latest().path / "model.safetensors").write_bytes(b"cut short")
    trainer_of(run).train(run.checkpoints.latest())
    assert_same(whole.run, run)


@pytest.mark.parametrize(("before", "after"), [(0.0, 0.9), (0.9, 0.0)])
def test_a_moving_average_may_begin_or_end_with_a_resume(tmp_path: Path, before: float, after: float) -> None:
    run = stopped_at(tmp_path, small_config(ema=before), 5)
    raw = trainer_of(run)
    raw.saver.load(run.checkpoints.latest())
    trained = {name: weight.detach().clone() for name, weight in raw.model.named_parameters()}
    changed = run.config.train.model_copy(update={"ema": after})
    run.write_config(run.config.model_copy(update={"train": changed}))
    trainer = trainer_of(Run.open(run.path))
    assert trainer.saver.load(run.checkpoints.latest()).step == 5
    assert all(weight.equal(trained[name]) for name, weight in trainer.model.named_parameters())
    assert trainer.train(run.checkpoints.latest())[1]


def test_a_run_that_goes_on_has_no_result_until_it_ends(tmp_path: Path) -> None:
    def judge(_) -> Judgement:
        return Judgement({"bleu": 1.0})

    def end(trainer: Trainer) -> str:
        return finish(trainer, trainer.train(run.checkpoints.latest())[0])["checkpoint"]

    config = small_config(steps=4)
    run = new_trainer(tmp_path, config).run
    assert end(trainer_of(run, judge=judge)) == "step-00000004"
    more = config.model_copy(update={"train": config.train.model_copy(update={"steps": 8})})
    run.write_config(more)
    run = Run.open(tmp_path)
    trainer = trainer_of(run, judge=judge)
    progress, _ = trainer.train(run.checkpoints.latest())
    assert run.result is None
    assert finish(trainer, progress)["step"] == 8
    assert run.result is not None


def test_patience_is_not_begun_anew(tmp_path: Path) -> None:
    def judge_of(*values: float):
        rest = iter(values)
        return lambda _: Judgement({"bleu": next(rest)})

    config = small_config(steps=100, validate_every=2, patience=3)
    run = stopped_at(tmp_path, config, 5, judge=judge_of(5.0, 4.0))
    progress, is_over = trainer_of(run, judge=judge_of(3.0, 2.0, 1.0)).train(run.checkpoints.latest())
    assert is_over
    assert (progress.step, progress.best.step, progress.waited) == (8, 2, 3)
