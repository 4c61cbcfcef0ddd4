"""A run directory: made, opened again, and refused when it is not what it should be."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest
import torch

import headway
from headway.config import Config, ModelConfig
from headway.errors import UserError
from headway.models import build_model
from headway.store.card import FORMAT, make_card
from headway.store.checkpoints import step_name
from headway.store.run import Run
from headway.store.tensors import model_tensors
from headway.text.learn import learn_tokenizer
from headway.text.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    both = learn_tokenizer(["a few words to learn from", "and a few more"], size=280)
    return Vocabulary(both, both)


def config_for(vocabulary: Vocabulary) -> Config:
    return Config(model=ModelConfig(vocabulary=len(vocabulary.source), layers=1, d_model=16, d_ff=32, heads=2))


@pytest.fixture
def run(tmp_path: Path, vocabulary: Vocabulary) -> Run:
    card = make_card(["headway", "train"], 1, {"train": "abc"}, vocabulary.fingerprint)
    return Run.create(tmp_path / "run", config_for(vocabulary), vocabulary, card)


def save(run: Run, step: int, **state) -> dict[str, torch.Tensor]:
    weights = model_tensors(build_model(run.config.model))
    run.checkpoints.write(step_name(step), weights, {}, {"step": step, **state})
    return weights


def test_a_run_comes_back(run: Run, vocabulary: Vocabulary) -> None:
    again = Run.open(str(run.path))
    assert again.config == config_for(vocabulary)
    assert again.vocabulary.to_json() == vocabulary.to_json()
    assert again.card == run.card
    assert again.result is None
    assert sorted(path.name for path in run.path.iterdir()) == ["card.json", "config.toml", "tokenizer.json"]


def test_settings_can_be_replaced(run: Run) -> None:
    changed = run.config.model_copy(update={"train": run.config.train.model_copy(update={"steps": 7})})
    run.write_config(changed)
    assert Run.open(run.path).config.train.steps == 7


def test_the_card_says_what_is_needed_to_repeat_it(run: Run) -> None:
    card = run.card
    assert card["format"] == FORMAT
    assert (card["command"], card["seed"], card["data"]) == (["headway", "train"], 1, {"train": "abc"})
    assert card["versions"]["headway"] == headway.__version__
    assert card["versions"]["safetensors"] == version("safetensors")
    assert card["machine"]["threads"] == torch.get_num_threads()


def test_what_is_no_run_is_refused(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UserError, match="nowhere is not there; a run directory is what headway train --out writes"):
        Run.open(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty is not a run directory: it has no card\.json\. Train first"):
        Run.open(tmp_path / "empty")
    (run.path / "card.json").write_text(json.dumps({**run.card, "format": 99}))
    with pytest.raises(UserError, match=f"has run format 99; this Headway reads format {FORMAT}"):
        Run.open(run.path)
    (run.path / "card.json").write_text("{")
    with pytest.raises(UserError, match=r"cannot read .*card\.json"):
        Run.open(run.path)


def test_a_place_that_cannot_be_written_to(tmp_path: Path, vocabulary: Vocabulary) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write to .*file"):
        Run.create(tmp_path / "file", config_for(vocabulary), vocabulary, {})


def test_another_vocabulary_is_refused(run: Run) -> None:
    other = learn_tokenizer(["quite other words", "to learn from"], size=280)
    (run.path / "tokenizer.json").write_text(Vocabulary(other, other).to_json())
    with pytest.raises(UserError, match=r"tokenizer\.json is not the vocabulary that the run was trained with"):
        _ = Run.open(run.path).vocabulary


def test_an_embedding_of_another_size_is_refused(run: Run) -> None:
    size = run.config.model.vocabulary
    model = run.config.model.model_copy(update={"vocabulary": size + 1})
    run.write_config(run.config.model_copy(update={"model": model}))
    with pytest.raises(UserError, match=rf"model\.vocabulary = {size + 1}, but the vocabulary has {size} tokens"):
        _ = Run.open(run.path).vocabulary


def test_chosen_is_the_result_else_the_best_else_the_last(run: Run) -> None:
    with pytest.raises(UserError, match=r"has no checkpoint yet; go on with headway train .* --resume"):
        run.chosen()
    save(run, 10, best=None)
    assert run.chosen().step == 10
    save(run, 20, best={"step": 10, "score": 1.0})
    save(run, 30, best={"step": 20, "score": 2.0})
    assert run.chosen().step == 20
    run.checkpoints.prune([10, 30])
    assert run.chosen().step == 30
    run.write_result({"checkpoint": step_name(10)})
    assert run.chosen().step == 10
    run.forget_result()
    assert run.result is None
    assert run.chosen().step == 30


def test_a_loaded_model_has_the_weights_and_is_asked_not_trained(run: Run) -> None:
    save(run, 10, best=None)
    weights = save(run, 20, best=None)
    model = Run.open(run.path).load_model()
    assert not model.training
    assert all(tensor.equal(weights[name]) for name, tensor in model_tensors(model).items())
