"""A checkpoint is there as a whole or not at all, and what was damaged later is noticed."""

import errno
import json
import os
from pathlib import Path

import pytest
import torch

from headway.errors import UserError
from headway.store.checkpoints import Checkpoint, Checkpoints, step_name


def some_weights(step: int) -> dict[str, torch.Tensor]:
    return {"layer.weight": torch.full((3, 2), float(step)), "counts": torch.tensor([step])}


def write(checkpoints: Checkpoints, step: int, **state) -> Checkpoint:
    memory = {"exp_avg/layer.weight": torch.full((3, 2), -float(step))}
    return checkpoints.write(step_name(step), some_weights(step), memory, {"step": step, **state})


@pytest.fixture
def checkpoints(tmp_path: Path) -> Checkpoints:
    found = Checkpoints(tmp_path / "checkpoints")
    for step in (10, 20, 30):
        write(found, step)
    return found


def names(checkpoints: Checkpoints) -> list[str]:
    return sorted(path.name for path in checkpoints.directory.iterdir())


def steps(checkpoints: Checkpoints) -> list[int]:
    return [checkpoint.step for checkpoint in checkpoints.steps()]


def test_what_is_written_is_read(checkpoints: Checkpoints) -> None:
    written = write(checkpoints, 40, position={"epoch": 1, "batch": 2})
    found = checkpoints.latest()
    assert found == written
    assert found.step == 40
    assert found.state()["position"] == {"epoch": 1, "batch": 2}
    weights = found.weights()
    assert weights.keys() == some_weights(40).keys()
    assert all(weights[name].equal(tensor) for name, tensor in some_weights(40).items())
    assert found.optimizer()["exp_avg/layer.weight"].equal(torch.full((3, 2), -40.0))


def test_only_safetensors_and_json_are_on_disk(checkpoints: Checkpoints) -> None:
    files = {path.name for path in checkpoints.latest().path.iterdir()}
    assert files == {"model.safetensors", "optimizer.safetensors", "state.json"}
    for path in checkpoints.latest().path.iterdir():
        content = path.read_bytes()
        header = content if path.suffix == ".json" else content[8 : 8 + int.from_bytes(content[:8], "little")]
        assert json.loads(header)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [truncate, flip, Path.unlink])
@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_damaged_checkpoint_is_named_and_the_one_before_it_used(checkpoints: Checkpoints, name: str, damage) -> None:
    damage(checkpoints.directory / step_name(30) / name)
    told: list[str] = []
    assert checkpoints.latest(told.append).step == 20
    [text] = told
    assert "step-00000030 is damaged" in text
    assert name in text


def test_all_damaged_is_none(checkpoints: Checkpoints) -> None:
    for checkpoint in checkpoints.steps():
        truncate(checkpoint.path / "state.json")
    told: list[str] = []
    assert checkpoints.latest(told.append) is None
    assert len(told) == 3


def test_damaged_weights_are_never_read(checkpoints: Checkpoints) -> None:
    flip(checkpoints.latest().path / "model.safetensors")
    with pytest.raises(UserError, match=r"model\.safetensors does not have the checksum it was written with"):
        Checkpoint(checkpoints.directory / step_name(30)).weights()


def test_an_interrupted_write_is_ignored_and_cleaned(checkpoints: Checkpoints) -> None:
    partial = checkpoints.directory / f"{step_name(40)}.partial"
    partial.mkdir()
    (partial / "model.safetensors").write_bytes(b"half")
    assert checkpoints.latest().step == 30
    write(checkpoints, 40)
    assert checkpoints.latest().step == 40
    (checkpoints.directory / f"{step_name(50)}.partial").mkdir()
    checkpoints.prune([30, 40])
    assert names(checkpoints) == [step_name(30), step_name(40)]


def test_writing_again_replaces(checkpoints: Checkpoints) -> None:
    checkpoints.write(step_name(30), {"other": torch.zeros(1)}, None, {"step": 30})
    assert steps(checkpoints) == [10, 20, 30]
    assert checkpoints.latest().weights().keys() == {"other"}
    assert names(checkpoints) == [step_name(step) for step in (10, 20, 30)]


def test_without_an_optimizer_training_cannot_go_on(checkpoints: Checkpoints) -> None:
    checkpoints.write(step_name(40), some_weights(40), None, {"step": 40})
    with pytest.raises(UserError, match=r"written without optimizer\.safetensors"):
        checkpoints.latest().optimizer()


@pytest.mark.parametrize("step", [30, 40])
def test_a_full_disk_leaves_the_last_checkpoint(checkpoints: Checkpoints, monkeypatch, step: int) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UserError, match=r"No space left on device; the last good checkpoint is .*step-00000030"):
            write(checkpoints, step)
    assert names(checkpoints) == [step_name(step) for step in (10, 20, 30)]
    assert checkpoints.latest().weights()["counts"] == 30


def test_a_full_disk_before_the_first_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").write_text("a file in the way")
    with pytest.raises(UserError, match="there is no earlier checkpoint"):
        write(Checkpoints(tmp_path / "checkpoints"), 1)


def test_pruning_keeps_what_it_is_told_and_all_averages(checkpoints: Checkpoints) -> None:
    checkpoints.write("average-00000030", some_weights(0), None, {"step": 30})
    checkpoints.prune([20])
    assert steps(checkpoints) == [20]
    assert [checkpoint.path.name for checkpoint in checkpoints.averages()] == ["average-00000030"]


def test_a_checkpoint_by_name(checkpoints: Checkpoints) -> None:
    assert checkpoints.find("step-00000020").step == 20
    with pytest.raises(UserError, match="no checkpoint step-20; it has step-00000010, step-00000020, step-00000030"):
        checkpoints.find("step-20")
    with pytest.raises(UserError, match="it has none"):
        Checkpoints(checkpoints.directory / "nowhere").find("step-00000020")
