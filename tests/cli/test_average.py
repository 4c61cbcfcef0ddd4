"""`headway average`: the average becomes the checkpoint to use, and one can go back."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from toy_translation import called, headway

from headway.errors import UserError
from headway.store.run import Run


@pytest.fixture
def run(taught: Path, tmp_path: Path) -> Run:
    """A copy that may be changed: five checkpoints, of which the last is in use."""
    shutil.copytree(taught, tmp_path / "run")
    return Run.open(tmp_path / "run")


def test_the_average_is_used_from_now_on_and_one_can_go_back(run: Run) -> None:
    before = run.result
    assert before is not None
    done = headway("average", run.path, "--last", 3)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        f"{run.path} uses average-00000300 from now on, the average of steps 180, 240, 300\n"
        f"go back with: headway average {run.path} --use {before['checkpoint']}\n"
    )
    assert run.result == {**before, "checkpoint": "average-00000300"}
    parts = [checkpoint.weights() for checkpoint in run.checkpoints.steps()[-3:]]
    for name, weight in run.chosen().weights().items():
        torch.testing.assert_close(weight, torch.stack([part[name] for part in parts]).mean(0))
    assert called("translate", run.path, text="one two\n").stdout == "deux un\n"
    back = called("average", run.path, "--use", before["checkpoint"], "--json")
    assert json.loads(back.stdout)["before"] == "average-00000300"
    assert run.result == before


def test_an_average_that_takes_the_place_of_another_says_so(run: Run) -> None:
    called("average", run.path, "--last", 2)
    again = called("average", run.path, "--last", 4)
    assert f"it replaces an average of 2; go back with: headway average {run.path} --last 2\n" in again.stdout
    assert run.chosen().state()["averaged"] == [120, 180, 240, 300]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --last N, to average the last N checkpoints, or --use NAME, to choose one"),
        (["--last", 2, "--use", "step-00000300"], "give either --last N"),
        (["--last", 9], "{run} has 5 checkpoints (step-00000060, step-00000120, "),
        (["--use", "step-00000007"], "{run}/checkpoints has no checkpoint step-00000007; it has step-00000060"),
    ],
)
def test_wrong_input_is_told_and_changes_nothing(arguments: list[object], message: str, run: Run) -> None:
    before = run.result
    done = called("average", run.path, *arguments)
    assert isinstance(done.exception, UserError)
    assert str(done.exception).startswith(message.format(run=run.path))
    assert run.result == before
    assert run.checkpoints.averages() == []
