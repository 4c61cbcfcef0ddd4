"""`headway train` and `headway verify-resume` as a user runs them: real files, real processes, real kills."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headway.store.checkpoints import WEIGHTS
from headway.store.metrics import read_metrics
from headway.store.run import Run

SMALL = {
    "model.layers": 1,
    "model.d_model": 32,
    "model.heads": 2,
    "model.d_ff": 64,
    "tokenizer.size": 320,
    "train.steps": 12,
    "train.batch_tokens": 256,
    "train.warmup": 10,
    "train.save_every": 4,
    "train.validate_every": 6,
    "train.valid_sentences": 4,
    "train.log_every": 1,
    "machine.threads": 1,
}


def settings(**changes: object) -> list[str]:
    """`--set` for a model that trains in a moment; `train__steps=3` changes train.steps."""
    chosen = {**SMALL, **{name.replace("__", "."): value for name, value in changes.items()}}
    return [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]


def headway(*arguments: object, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Flags that name a corpus of words to be reversed."""
    chance = random.Random(1)
    directory = tmp_path_factory.mktemp("corpus")
    words = ["one", "two", "three", "four", "five", "six"]
    lines = [[chance.choice(words) for _ in range(chance.randint(1, 9))] for _ in range(300)]
    for name, texts in (("source", lines), ("target", [line[::-1] for line in lines])):
        (directory / name).write_text("".join(f"{' '.join(text)}\n" for text in texts), encoding="utf-8")
    return ["--source", str(directory / "source"), "--target", str(directory / "target")]


@pytest.fixture(scope="module")
def trained(
    files: list[str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    out = tmp_path_factory.mktemp("runs") / "run"
    return out, headway("train", *files, "--out", out, *settings(train__schedule="cosine"), "--json")


def final_weights(out: Path) -> dict[str, str]:
    """The hashes of the files of the last checkpoint."""
    return Run.open(out).checkpoints.steps()[-1].state()["sha256"]


def test_from_text_files_to_a_model(trained: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, done = trained
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["run"] == str(out)
    assert set(result["scores"]) == {"perplexity", "bleu"}
    assert "30 pairs are held out to validate with" in done.stderr
    assert "preset tiny: 270 pairs" in done.stderr
    assert "learning a vocabulary of at most 320 tokens, as set" in done.stderr
    assert "train: 270 pairs read, 270 kept" in done.stderr
    assert "step 6: validation perplexity" in done.stderr
    assert f"headway translate {out}" in done.stderr
    run = Run.open(out)
    assert run.result is not None
    assert run.chosen().path.name == result["checkpoint"]
    run.load_model()
    assert [record["step"] for record in read_metrics(run.metrics.path) if "loss" in record] == list(range(1, 13))
    assert len(set(run.card["data"]["train"].values())) == 2


def test_the_same_command_gives_the_same_weights(trained: tuple, tmp_path: Path) -> None:
    repeated = headway("train", "--from-card", trained[0] / "card.json", "--out", tmp_path / "again")
    assert repeated.returncode == 0, repeated.stderr
    assert final_weights(tmp_path / "again") == final_weights(trained[0])


def test_wrong_input_is_told_and_nothing_is_lost(files: list[str], trained: tuple, tmp_path: Path) -> None:
    again = headway("train", *files, "--out", trained[0], *settings())
    assert again.returncode == 2
    assert "has a run already (12 steps done); go on with it by --resume" in again.stderr
    changed = headway("train", "--out", trained[0], "--resume", "--set", "model.heads=4")
    assert changed.returncode == 2
    assert "trained with other settings of model" in changed.stderr
    nothing = headway("train", "--out", tmp_path / "empty", "--resume")
    assert nothing.returncode == 2
    assert "give the corpora to train on" in nothing.stderr
    assert not (tmp_path / "empty").exists()


def test_ctrl_c_saves_and_the_message_says_how_to_go_on(files: list[str], trained: tuple, tmp_path: Path) -> None:
    out = tmp_path / "run"
    wanted = settings(train__schedule="cosine")
    command = [sys.executable, "-m", "headway", "train", *files, "--out", str(out), *wanted]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not read_metrics(out / "metrics.jsonl"):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"go on with: headway train --out {out} --resume" in errors
    assert 0 < Run.open(out).checkpoints.steps()[-1].step < 12
    resumed = headway("train", "--out", out, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert final_weights(out) == final_weights(trained[0])


def test_a_full_disk_stops_the_run_and_leaves_the_last_checkpoint(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    first = headway("train", *files, "--out", out, *settings(train__steps=4))
    assert first.returncode == 0, first.stderr
    weights = (Run.open(out).checkpoints.steps()[-1].path / WEIGHTS).stat().st_size

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (weights // 2, weights // 2))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    stopped = headway("train", "--out", out, "--resume", "--set", "train.steps=8", preexec_fn=no_room)
    assert stopped.returncode == 2
    assert "cannot write the checkpoint" in stopped.stderr
    assert f"the last good checkpoint is {out / 'checkpoints' / 'step-00000004'}" in stopped.stderr
    assert final_weights(out)
    assert headway("train", "--out", out, "--resume").returncode == 0


def test_a_killed_run_resumes_exactly(trained: tuple) -> None:
    proof = headway("verify-resume", trained[0], "--seed", 1, "--json")
    assert proof.returncode == 0, proof.stderr
    found = json.loads(proof.stdout)
    assert found["exact"]
    assert len(found["killed_after"]) == 3


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_resumes_exactly() -> None:
    proof = headway("verify-resume", "--kills", 20, "--json", env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert proof.returncode == 0, proof.stderr
    assert len(json.loads(proof.stdout)["killed_after"]) == 20


def test_going_on_from_another_run_keeps_its_vocabulary(files: list[str], trained: tuple, tmp_path: Path) -> None:
    done = headway("train", *files, "--out", tmp_path / "tuned", "--init", trained[0], *settings(train__steps=2))
    assert done.returncode == 0, done.stderr
    assert "learning a vocabulary" not in done.stderr
    first, second = Run.open(trained[0]), Run.open(tmp_path / "tuned")
    assert second.vocabulary.fingerprint == first.vocabulary.fingerprint
    before = read_metrics(first.metrics.path)[0]["perplexity"]
    assert read_metrics(second.metrics.path)[0]["perplexity"] < before
