"""A run that begins with the weights of another: which weights and settings it has, and that a kill loses nothing."""

from pathlib import Path

import pytest
import torch
from shown_runs import corpus, train

import headway
from headway.errors import UserError
from headway.store.run import Run
from headway.tasks.training import Observer
from headway.train.events import Event, Updated

STANDS_STILL = ("train.steps=1", "train.peak_rate=1e-30", "train.weight_decay=0", "train.average=0")


class KilledError(Exception):
    """What ends a training at once, as far as it is concerned."""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "first")


@pytest.fixture(scope="module")
def texts(first: Path) -> dict[str, Path]:
    source, target = corpus(first.parent)
    return {"source": source, "target": target}


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    return Run(path).chosen().weights()


def test_all_weights_and_settings_are_those_of_the_other_run(
    first: Path, texts: dict[str, Path], tmp_path: Path
) -> None:
    run = headway.train(tmp_path / "second", **texts, init=first, settings=STANDS_STILL).run
    assert (run.config.model, run.config.tokenizer) == (Run(first).config.model, Run(first).config.tokenizer)
    assert run.config.train.steps == 1
    assert run.vocabulary.fingerprint == Run.open(first).vocabulary.fingerprint
    torch.testing.assert_close(weights_of(run.path), weights_of(first))
    named = run.card["init"]
    assert (named["run"], named["checkpoint"]) == (str(first), Run.open(first).chosen().path.name)


def test_a_smaller_model_begins_with_a_part(first: Path, texts: dict[str, Path], tmp_path: Path) -> None:
    settings = [*STANDS_STILL, "model.layers=1", "model.decoder_layers=2"]
    found = weights_of(headway.train(tmp_path / "part", **texts, init=first, settings=settings).run.path)
    expected = weights_of(first)
    assert found.keys() == {name for name in expected if not name.startswith("encoder.layers.1")}
    torch.testing.assert_close(found, {name: expected[name] for name in found})


def test_a_run_that_is_killed_before_its_first_checkpoint_begins_with_the_same_weights(
    first: Path, texts: dict[str, Path], tmp_path: Path
) -> None:
    def kill(event: Event) -> None:
        if isinstance(event, Updated):
            raise KilledError

    whole = headway.train(tmp_path / "whole", **texts, init=first).run
    with pytest.raises(KilledError):
        headway.train(tmp_path / "killed", **texts, init=first, observer=Observer(kill))
    assert not Run(tmp_path / "killed").checkpoints.steps()
    again = headway.train(tmp_path / "killed", resume=True).run
    sums = [run.checkpoints.steps()[-1].state()["sha256"] for run in (whole, again)]
    assert sums[0] == sums[1]


def test_what_cannot_begin_so_is_refused_before_anything_is_written(
    first: Path, texts: dict[str, Path], tmp_path: Path
) -> None:
    for message, settings in (
        ("encoder.layers.0.feed_forward.widen.weight has shape", ["model.d_ff=32"]),
        ("a stack of 2 layers cannot begin one of 3", ["model.layers=3"]),
    ):
        with pytest.raises(UserError, match=message):
            headway.train(tmp_path / "out", **texts, init=first, settings=settings)
    with pytest.raises(UserError, match="nowhere is not there"):
        headway.train(tmp_path / "out", **texts, init=tmp_path / "nowhere")
    assert not (tmp_path / "out").exists()


def test_a_run_that_goes_on_keeps_its_beginning(first: Path, texts: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    other = train(first.parent / "other", train__seed=2)
    headway.train(out, **texts, init=first)
    headway.train(out, resume=True, init=first)
    with pytest.raises(UserError, match=r"out began with .*first, not with .*other; leave --init out"):
        headway.train(out, resume=True, init=other)
    with pytest.raises(UserError, match=r"other began with random weights, not with .*first"):
        headway.train(other, resume=True, init=first)


def test_weights_that_have_changed_since_are_noticed(first: Path, texts: dict[str, Path], tmp_path: Path) -> None:
    def kill(event: Event) -> None:
        if isinstance(event, Updated):
            raise KilledError

    changing = train(first.parent / "changing")
    with pytest.raises(KilledError):
        headway.train(tmp_path / "out", **texts, init=changing, observer=Observer(kill))
    chosen = Run(changing).chosen()
    doubled = {name: 2 * weight for name, weight in chosen.weights().items()}
    Run(changing).checkpoints.write(chosen.path.name, doubled, None, chosen.state())
    with pytest.raises(UserError, match="no longer has the weights that the run began with"):
        headway.train(tmp_path / "out", resume=True)
