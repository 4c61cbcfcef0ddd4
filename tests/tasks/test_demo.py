"""What the demo measures and shows, on a model that has learned nearly nothing, and once for real."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from headway.errors import UserError
from headway.tasks.demo import measure, run_demo
from headway.tasks.setting_up import Wanted
from headway.tasks.training import train_run
from headway.text.builtin import builtin_corpus
from headway.text.named import NamedSplit

HASTY = [
    "train.steps=2",
    "train.warmup=1",
    "model.layers=1",
    "train.valid_sentences=0",
    "search.extra_length=3",
    "machine.threads=1",
]


def test_a_demo_counts_what_is_right(tmp_path: Path) -> None:
    corpora = (NamedSplit("builtin:en-fr", split) for split in ("valid", "test"))
    run = train_run(tmp_path / "run", Wanted("demo", assignments=HASTY), *corpora).run
    splits = builtin_corpus(sizes={"train": 0, "valid": 0, "test": 8, "pronouns": 6})
    demo = measure(run, "en", "fr", splits)
    assert demo.exact_match == sum(each.is_right for each in demo.examples[6:]) / 8
    assert 0 <= demo.pronoun_accuracy <= 1
    assert demo.examples[0].source == "The animal didn't cross the street because it was too tired."
    assert "The animal didn" in demo.page.read_text(encoding="utf-8")
    assert set(demo.as_json()) == {"bleu", "exact_match", "pronoun_accuracy", "train_seconds", "run", "page"}


def test_a_run_of_another_corpus_is_not_taken_for_a_demo(tmp_path: Path) -> None:
    corpora = (NamedSplit("builtin:en-zh", split) for split in ("valid", "test"))
    train_run(tmp_path / "run", Wanted("demo", assignments=HASTY), *corpora)
    with pytest.raises(UserError, match="a run of another corpus than builtin:en-fr"):
        run_demo(tmp_path / "run", "en-fr")


@pytest.mark.slow
def test_the_demo_learns_to_translate_and_what_it_is(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headway", "demo", "--json", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["bleu"] > 97
    assert found["pronoun_accuracy"] > 0.97
