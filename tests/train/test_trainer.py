"""What surrounds the loop: validation, the best checkpoint, early stopping, pruning, the end of a run."""

import math
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from small_runs import new_trainer, sentences, small_config, vocabulary

from headway.data.objectives import translation
from headway.errors import UserError
from headway.models import Model
from headway.store.metrics import read_metrics
from headway.store.tensors import model_tensors
from headway.text.specials import PAD
from headway.train.events import Begun, Saved, Updated, Validated, Warned
from headway.train.finishing import finish
from headway.train.validation import Judge, Judgement


def judge_of(values: list[float]) -> Judge:
    """Gives these BLEU values one after the other."""
    rest = iter(values)
    return lambda _: Judgement({"bleu": next(rest)}, ("a", "b", "c"))


def steps_of(trainer) -> list[int]:
    return [checkpoint.step for checkpoint in trainer.run.checkpoints.steps()]


def test_those_who_watch_hear_everything(tmp_path: Path) -> None:
    events = []
    trainer = new_trainer(tmp_path, small_config(steps=6), judge=judge_of([1.0, 2.0]), watch=events.append)
    progress, is_over = trainer.train()
    assert is_over
    begun = events[0]
    assert isinstance(begun, Begun)
    assert begun.parameters == sum(weight.numel() for weight in trainer.model.parameters())
    updates = [event for event in events if isinstance(event, Updated)]
    assert [event.step for event in updates] == [1, 2, 3, 4, 5, 6]
    assert sum(event.tokens for event in updates) == progress.tokens
    assert [event.step for event in events if isinstance(event, Saved)] == [4, 6]
    validations = [event for event in events if isinstance(event, Validated)]
    assert [(event.step, event.is_best) for event in validations] == [(4, True), (6, True)]
    assert validations[0].sample == ("a", "b", "c")
    records = read_metrics(trainer.run.metrics.path)
    assert [record["step"] for record in records if "loss" in record] == [2, 4, 6]
    assert [record["valid_bleu"] for record in records if "valid_bleu" in record] == [1.0, 2.0]
    tokens = [event.tokens for event in updates[:2]]
    mean = sum(event.loss * event.tokens for event in updates[:2]) / sum(tokens)
    assert records[0]["loss"] == pytest.approx(mean)


def test_cores_that_others_hold_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    monkeypatch.setattr("headway.train.crowding.ENOUGH_SECONDS", 0.0)
    monkeypatch.setattr("headway.train.crowding.USUAL_SHARE", math.inf)
    events = []
    new_trainer(tmp_path, small_config(steps=3), watch=events.append).train()
    (warning,) = [event.text for event in events if isinstance(event, Warned)]
    assert "other programs keep this machine busy: 2 threads get" in warning


def test_validation_perplexity_is_that_of_all_real_tokens(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config({"dropout": 0.3}))
    found = trainer.look().scores["perplexity"]
    ids = [tuple(map(torch.tensor, map(vocabulary().source.encode, pair))) for pair in sentences()[50:]]
    batch = translation([tuple(side.numpy() for side in pair) for pair in ids])
    with torch.no_grad():
        logits = trainer.model.eval()(batch.source, batch.target).flatten(0, 1)
    expected = F.cross_entropy(logits, batch.answer.flatten(), ignore_index=PAD).exp().item()
    assert found == pytest.approx(expected, rel=1e-5)


def test_batches_are_mixed_for_training_only(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path / "run", small_config(mix=3))
    assert (trainer.loader.mix, trainer.valid.mix) == (3, 1)


def test_judging_leaves_the_model_in_training(tmp_path: Path) -> None:
    def judge(model: Model) -> Judgement:
        assert not model.training
        assert not torch.is_grad_enabled()
        return Judgement({"bleu": 1.0})

    trainer = new_trainer(tmp_path, small_config(), judge=judge)
    trainer.model.train()
    assert trainer.look().scores["bleu"] == 1.0
    assert trainer.model.training


def test_patience_stops_at_the_right_validation_and_the_best_is_kept(tmp_path: Path) -> None:
    config = small_config(steps=100, validate_every=2, save_every=3, patience=3, keep=1, average=0)
    trainer = new_trainer(tmp_path, config, judge=judge_of([1.0, 5.0, 4.0, 5.0, 3.0, 9.0]))
    progress, is_over = trainer.train()
    assert is_over
    assert progress.step == 10  # validations at 2, 4 (best), 6, 8, 10
    assert (progress.best.step, progress.best.score, progress.waited) == (4, 5.0, 3)
    assert steps_of(trainer) == [4, 10]


@pytest.mark.parametrize(("by", "best"), [("bleu", 8), ("perplexity", 12)])
def test_the_settings_say_what_is_better(tmp_path: Path, by: str, best: int) -> None:
    trainer = new_trainer(tmp_path, small_config({"dropout": 0.0}, select_by=by), judge=judge_of([1.0, 3.0, 2.0]))
    progress, _ = trainer.train()
    assert progress.best.step == best


def test_without_a_judge_perplexity_decides(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config({"dropout": 0.0}, steps=4, select_by="bleu"))
    progress, _ = trainer.train()
    assert progress.best.score == pytest.approx(-trainer.look().scores["perplexity"])


def test_pruning_keeps_the_last_regular_ones_and_the_best(tmp_path: Path) -> None:
    config = small_config(steps=12, validate_every=3, save_every=2, keep=2, average=0)
    trainer = new_trainer(tmp_path, config, judge=judge_of([9.0, 1.0, 1.0, 1.0]))
    trainer.train()
    assert steps_of(trainer) == [3, 10, 12]


def test_checkpoints_that_the_average_needs_are_kept(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config(steps=12, save_every=2, keep=1, average=4))
    trainer.train()
    assert steps_of(trainer)[-4:] == [6, 8, 10, 12]


def test_checkpoints_are_also_written_by_the_clock(tmp_path: Path) -> None:
    events = []
    config = small_config(steps=3, save_every=100, validate_every=100, save_minutes=1e-9)
    new_trainer(tmp_path, config, watch=events.append).train()
    assert [event.step for event in events if isinstance(event, Saved)] == [1, 2, 3]


@pytest.mark.parametrize(("final", "chosen"), [([5.0, 6.0], "average-00000012"), ([5.0, 4.0], "step-00000008")])
def test_the_end_chooses_the_better_of_average_and_best(tmp_path: Path, final: list[float], chosen: str) -> None:
    trainer = new_trainer(tmp_path, small_config(average=2), judge=judge_of([1.0, 5.0, 2.0, *final]))
    progress, _ = trainer.train()
    result = finish(trainer, progress)
    assert result["checkpoint"] == chosen
    assert result["scores"]["bleu"] == max(final)
    assert (result["selected_by"], result["step"]) == ("bleu", 12)
    assert trainer.run.result == result
    average = trainer.run.checkpoints.averages()[0]
    assert average.state()["averaged"] == [8, 12]
    model = trainer.run.load_model()
    expected = trainer.run.checkpoints.find(chosen).weights()
    assert all(weight.equal(expected[name]) for name, weight in model_tensors(model).items())


def test_the_moving_average_is_what_is_judged_and_used(tmp_path: Path) -> None:
    seen = []

    def judge(model: Model) -> Judgement:
        seen.append({name: weight.clone() for name, weight in model_tensors(model).items()})
        return Judgement({"bleu": 1.0})

    trainer = new_trainer(tmp_path, small_config(steps=4, ema=0.9), judge=judge)
    trainer.train()
    stored = trainer.run.checkpoints.latest().weights()
    assert all(seen[0][name].equal(weight) for name, weight in stored.items())
    assert not any(weight.equal(seen[0][name]) for name, weight in trainer.model.named_parameters())


def test_compiling_that_fails_is_said_and_training_goes_on(tmp_path: Path, monkeypatch) -> None:
    def fail(*_, **__):
        raise RuntimeError("no compiler\nmore about it")

    monkeypatch.setattr(torch, "compile", lambda *_, **__: fail)
    events = []
    config = small_config(machine={"compile": True}, steps=2)
    trainer = new_trainer(tmp_path / "compiled", config, watch=events.append)
    trainer.train()
    [warning] = [event.text for event in events if isinstance(event, Warned)]
    assert warning == "torch.compile failed (RuntimeError: no compiler); training goes on without it"
    plain = new_trainer(tmp_path / "plain", small_config(steps=2))
    plain.train()
    expected = model_tensors(plain.model)
    assert all(weight.equal(expected[name]) for name, weight in model_tensors(trainer.model).items())


@pytest.mark.parametrize(
    ("family", "objective"),
    [("encoder-only", "translation"), ("decoder-only", "infilling"), ("encoder-decoder", "masked-tokens")],
)
def test_an_objective_of_another_family_is_refused(tmp_path: Path, family: str, objective: str) -> None:
    with pytest.raises(UserError, match=f"train.objective = {objective} is not for model.family = {family}"):
        new_trainer(tmp_path, small_config({"family": family}, objective=objective))


COPYING = {
    "encoder-decoder translates": ({}, "translation"),
    "encoder-decoder fills in": ({}, "infilling"),
    "encoder-decoder finds spans": ({}, "span-corruption"),
    "decoder-only translates": ({"family": "decoder-only"}, "translation"),
    "decoder-only goes on": ({"family": "decoder-only"}, "language-model"),
    "encoder-only guesses": ({"family": "encoder-only"}, "masked-tokens"),
    "encoder-only tags": ({"family": "encoder-only", "head": "tagging", "labels": 300}, "tagging"),
}


@pytest.mark.parametrize(("model", "objective"), COPYING.values(), ids=COPYING.keys())
def test_every_objective_is_learned(tmp_path: Path, model: dict, objective: str) -> None:
    config = small_config({"dropout": 0.0, **model}, objective=objective, steps=60, batch_tokens=200, average=0)
    trainer = new_trainer(tmp_path, config)
    before = math.log(trainer.look().scores["perplexity"])
    trainer.train()
    assert math.log(trainer.look().scores["perplexity"]) < 0.75 * before
