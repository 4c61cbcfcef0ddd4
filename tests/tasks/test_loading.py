"""A run becomes a translator: which weights it has, which settings, and what is refused."""

from pathlib import Path

import pytest
import torch
from random_runs import make_run
from torch import nn

import headway
from headway.errors import UserError
from headway.store.run import Run
from headway.store.tensors import model_tensors
from headway.tasks.loading import load


def weights(run: Run, name: str) -> dict[str, torch.Tensor]:
    return run.checkpoints.find(name).weights()


def has_weights(translator, expected: dict[str, torch.Tensor]) -> bool:
    found = model_tensors(translator.engine.model)
    return all(torch.equal(found[name], weight) for name, weight in expected.items())


def test_the_weights_are_those_of_the_chosen_checkpoint_or_of_the_one_named(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run")
    first, second = weights(run, "step-00000001"), weights(run, "step-00000002")
    assert has_weights(headway.load(tmp_path / "run", engine="torch"), first)
    named = load(str(tmp_path / "run"), checkpoint="step-00000002", device="cpu", engine="torch")
    assert has_weights(named, second)
    assert not has_weights(named, first)
    assert not named.engine.model.training


def test_matrices_lie_as_columns_and_embeddings_as_rows(tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    model = load(tmp_path / "run", device="cpu", engine="torch").engine.model
    linear = [module.weight for module in model.modules() if isinstance(module, nn.Linear)]
    assert all(weight.stride() == (1, len(weight)) for weight in linear)
    table = model.target_input.embedding.weight
    assert table.is_contiguous()
    assert torch.equal(table, model.output.weight), "shared, but each as it is read"


def test_settings_are_those_of_the_run_changed_by_assignments(tmp_path: Path) -> None:
    make_run(tmp_path / "run", search={"beam": 7, "alpha": 0.3}, data={"max_length": 99})
    changed = load(tmp_path / "run", settings=["search.alpha=1", "search.n_best=2"])
    assert (changed.config.beam, changed.config.alpha, changed.config.n_best) == (7, 1, 2)
    assert changed.max_length == 99
    assert load(tmp_path / "run", settings=["data.max_length=5"]).max_length == 5


def test_the_machine_of_the_training_does_not_matter(tmp_path: Path) -> None:
    make_run(tmp_path / "run", machine={"device": "cuda:7", "threads": 77})
    before = torch.get_num_threads()
    assert load(tmp_path / "run", device="cpu", engine="torch").engine.device.type == "cpu"
    assert load(tmp_path / "run", engine="torch").engine.device.type != "cuda" or torch.cuda.is_available()
    assert torch.get_num_threads() == before
    load(tmp_path / "run", settings=["machine.threads=1", "machine.device=cpu"], engine="torch")
    assert torch.get_num_threads() == 1
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": ["model.heads=4"]}, "model.heads cannot be set for .*run, which is trained already"),
        ({"settings": ["search.bean=4"]}, "unknown setting search.bean .*did you mean search.beam"),
        ({"settings": ["serch.beam=4"]}, "unknown setting serch"),
        ({"checkpoint": "step-3"}, "has no checkpoint step-3; it has step-00000001, step-00000002"),
        ({"engine": "touch"}, "unknown engine touch; did you mean torch"),
        ({"device": "abacus"}, "abacus is no device"),
    ],
)
def test_what_cannot_be_is_refused(options: dict, message: str, tmp_path: Path) -> None:
    make_run(tmp_path / "run")
    with pytest.raises(UserError, match=message):
        load(tmp_path / "run", **options)


def test_a_run_that_does_not_translate_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "run", model={"family": "encoder-only"})
    with pytest.raises(UserError, match="was trained for masked-tokens, not for translation"):
        load(tmp_path / "run")


def test_an_ensemble_needs_one_vocabulary(tmp_path: Path) -> None:
    for name in ("first", "second"):
        make_run(tmp_path / name)
    make_run(tmp_path / "stranger", ["six seven eight nine", "nine nine"])
    (text,) = load(tmp_path / "first", ensemble=[tmp_path / "second"]).translate(["one two"])
    assert text.error is None
    with pytest.raises(UserError, match=r"stranger has another vocabulary than .*first"):
        load(tmp_path / "first", ensemble=[tmp_path / "second", tmp_path / "stranger"])
