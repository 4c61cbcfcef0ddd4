"""Headway from Python: a run is trained, loaded and evaluated without the command line."""

import subprocess
import sys
from pathlib import Path

import pytest

import headway

SMALL = {
    "model.layers": 1,
    "model.d_model": 16,
    "model.heads": 2,
    "model.d_ff": 32,
    "tokenizer.size": 300,
    "train.steps": 2,
    "train.batch_tokens": 100,
    "train.valid_sentences": 2,
}
SETTINGS = [f"{name}={value}" for name, value in SMALL.items()]
CALLS = """
import headway.train.trainer as trainer
import headway.evaluate.scores

assert trainer.Trainer is headway.train.trainer.Trainer
assert headway.evaluate.scores.METRICS
for task in (headway.train, headway.evaluate):
    try:
        task("nowhere", corpus="no:corpus")
    except headway.UserError as error:
        print(error)
"""


@pytest.mark.parametrize("first", ["headway.load", "from headway import train", "import headway.evaluate.scores"])
def test_a_room_can_be_called_whatever_was_imported_before(first: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import headway\n{first}\n{CALLS}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    about_training, about_evaluation = done.stdout.splitlines()
    assert about_training.startswith("unknown corpus no:corpus")
    assert about_evaluation.startswith("nowhere is not there")


def test_from_files_to_scores(tmp_path: Path) -> None:
    source, target = tmp_path / "text.en", tmp_path / "text.fr"
    source.write_text("one two\ntwo\nthree one\n" * 10)
    target.write_text("deux un\ndeux\nun trois\n" * 10)
    outcome = headway.train(tmp_path / "run", source=source, target=str(target), settings=SETTINGS)
    assert outcome.progress.step == 2
    found = headway.evaluate(tmp_path / "run", source=[source], target=[target], settings=["search.beam=1"], worst=1)
    assert found.scores["bleu"].value >= 0
    assert found.test_set.language == ("fr", "from the name text.fr")
    assert found.system.perplexity is not None
    assert len(found.report.worst) == 1
    assert found.as_json()["lines"] == 30


def test_a_run_is_resumed_and_validated_with_what_is_given(tmp_path: Path) -> None:
    source, target = tmp_path / "text.en", tmp_path / "text.fr"
    source.write_text("one two\ntwo\nthree one\n" * 10)
    target.write_text("deux un\ndeux\nun trois\n" * 10)
    headway.train(
        tmp_path / "run", source=source, target=target, valid_source=source, valid_target=target, settings=SETTINGS
    )
    resumed = headway.train(tmp_path / "run", resume=True, settings=["train.steps=3"])
    assert resumed.progress.step == 3
    assert set(resumed.run.card["data"]) == {"train", "valid"}


def test_a_task_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(headway.UserError, match="no corpus was given"):
        headway.train(tmp_path / "run")
