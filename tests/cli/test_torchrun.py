"""`headway train` under torchrun as a user runs it: two processes, one voice, and what becomes of them in trouble."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.store.metrics import read_metrics
from headway.store.run import Run

SETTINGS = {
    "model.layers": 1,
    "model.d_model": 32,
    "model.heads": 2,
    "model.d_ff": 64,
    "tokenizer.size": 320,
    "train.steps": 60,
    "train.batch_tokens": 256,
    "train.warmup": 10,
    "train.save_every": 10,
    "train.validate_every": 30,
    "train.valid_sentences": 4,
    "train.log_every": 1,
    "machine.threads": 1,
}
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def command(files: list[str], out: Path, *options: str, **changes: object) -> list[str]:
    """Train in `out` on two ranks; `train__steps=3` changes train.steps, options are torchrun's."""
    chosen = {**SETTINGS, **{name.replace("__", "."): value for name, value in changes.items()}}
    assignments = [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]
    return [*TORCHRUN, *options, "-m", "headway", "train", *files, "--out", str(out), *assignments, "--json"]


@contextmanager
def started(words: list[str], **more: object) -> Iterator[subprocess.Popen[str]]:
    """A process that is gone afterwards, with all that it started."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=ENVIRONMENT, **pipes, **more) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                for number in (*workers_of(process), process.pid):
                    os.kill(number, signal.SIGKILL)


def workers_of(process: subprocess.Popen[str]) -> list[int]:
    """The processes that torchrun has started, the first rank first."""
    tasks = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(number) for number in tasks.read_text().split()] if tasks.exists() else []


def wait_for(is_true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    while not is_true():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)


def steps_done(out: Path) -> int:
    records = read_metrics(out / "metrics.jsonl")
    return records[-1]["step"] if records else 0


def finished(process: subprocess.Popen[str]) -> tuple[str, list[str]]:
    """What it wrote: stdout, and our lines of stderr without those of torchrun, which come after a failure."""
    output, errors = process.communicate(timeout=300)
    return output, errors.splitlines()


def said(lines: list[str], text: str) -> int:
    return sum(text in line for line in lines)


def final_weights(out: Path) -> dict[str, str]:
    """The hashes of the files of the last checkpoint."""
    return Run.open(out).checkpoints.steps()[-1].state()["sha256"]


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
def undisturbed(files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two ranks that only the first one has spoken about."""
    out = tmp_path_factory.mktemp("runs") / "run"
    with started(command(files, out)) as process:
        output, lines = finished(process)
    assert process.returncode == 0, "\n".join(lines)
    result = json.loads(output)  # one line, of one rank
    assert set(result["scores"]) == {"perplexity", "bleu"}
    for text in ("preset tiny", "training 0.03M parameters", "step 30: validation", "trained 60 steps", "the model is"):
        assert said(lines, text) == 1
    return out


def test_a_killed_rank_is_started_again_and_nothing_is_lost(
    files: list[str], undisturbed: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    with started(command(files, out, "--max-restarts", "1")) as process:
        wait_for(lambda: steps_done(out) >= 12, process)
        os.kill(workers_of(process)[1], signal.SIGKILL)
        output, lines = finished(process)
    assert process.returncode == 0, "\n".join(lines)
    assert json.loads(output)["step"] == 60
    assert said(lines, "0 of them done") == 1
    assert final_weights(out) == final_weights(undisturbed)


def test_sigterm_saves_and_leaves(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    with started(command(files, out, train__steps=100_000, machine__parallel="fsdp")) as process:
        wait_for(lambda: steps_done(out) >= 2, process)
        process.send_signal(signal.SIGTERM)
        _, lines = finished(process)
    assert process.returncode != 0
    assert said(lines, "finishing this step and saving") == 1
    assert said(lines, f"go on with: headway train --out {out} --resume") == 1
    run = Run.open(out)
    assert run.checkpoints.steps()[-1].step == steps_done(out)
    run.load_model()


def test_a_rank_that_hangs_is_waited_for_only_so_long(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "run"
    with started(command(files, out, train__steps=100_000, machine__timeout_minutes=0.1)) as process:
        wait_for(lambda: steps_done(out) >= 2, process)
        second = workers_of(process)[1]
        os.kill(second, signal.SIGSTOP)
        line = ""
        while not line.startswith("headway:"):
            line = process.stderr.readline()
            assert line, "it ended without a word"
        os.kill(second, signal.SIGKILL)  # torchrun would give it half a minute
        rest = process.stderr.read()
        process.wait()
    stuck = steps_done(out) + 1
    assert line.startswith(f"headway: rank 0 of 2 waited in vain for the others in step {stuck} (")
    assert process.returncode != 0
    assert "headway/train" not in rest


def test_a_full_disk_of_the_first_rank_ends_all(files: list[str], tmp_path: Path) -> None:
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    out = tmp_path / "run"
    with started(command(files, out, train__save_every=3), preexec_fn=no_room) as process:
        _, lines = finished(process)
    assert process.returncode != 0
    assert [line for line in lines if line.startswith("headway:")] == [
        f"headway: cannot write the checkpoint {out}/checkpoints/step-00000003: File too large; "
        "there is no earlier checkpoint"
    ]


def test_wrong_input_is_told_once(files: list[str], tmp_path: Path) -> None:
    (tmp_path / "short").write_text("one line\n")
    out = tmp_path / "run"
    with started(command([*files[:3], str(tmp_path / "short")], out)) as process:
        _, lines = finished(process)
    assert process.returncode != 0
    [line] = [line for line in lines if line.startswith("headway:")]
    assert "has 300 lines but" in line
