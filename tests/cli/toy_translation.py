"""A language that can be learned in seconds: English numbers, in French and backwards."""

import os
import random
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from headway.cli import app

WORDS = {"one": "un", "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six"}
SETTINGS = {
    "model.layers": 1,
    "model.d_model": 64,
    "model.heads": 4,
    "model.d_ff": 128,
    "model.dropout": 0.0,
    "model.norm_place": "pre",
    "tokenizer.size": 320,
    "train.batch_tokens": 600,
    "train.schedule": "cosine",
    "train.warmup": 40,
    "train.peak_rate": 5e-3,
    "train.label_smoothing": 0.0,
    "train.save_every": 60,
    "train.validate_every": 300,
    "train.valid_sentences": 20,
    "train.average": 0,
    "machine.threads": 1,
}


def headway(*arguments: object, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does, with `text` on its standard input."""
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
    return subprocess.run(command, input=text, capture_output=True, text=True, env=environment, timeout=300)


def called(*arguments: object, text: str | None = None) -> Result:
    """Run a command inside this process, which is faster; what is wrong input is its `exception`."""
    return CliRunner().invoke(app, list(map(str, arguments)), input=text)


def sources(count: int, seed: int) -> list[str]:
    """Lines of one to four numbers."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(list(WORDS), k=chance.randint(1, 4))) for _ in range(count)]


def translated(line: str) -> str:
    """What the line means."""
    return " ".join(WORDS[word] for word in reversed(line.split()))


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def teach(out: Path, steps: int, seed: int) -> Path:
    """Train a run of so many steps; all have one corpus, and with it one vocabulary."""
    lines = sources(1500, seed=1)
    source = write_lines(out.with_suffix(".en"), lines)
    target = write_lines(out.with_suffix(".fr"), [translated(line) for line in lines])
    chosen = {**SETTINGS, "train.steps": steps, "train.seed": seed}
    assignments = [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]
    done = headway("train", "--source", source, "--target", target, "--out", out, *assignments)
    assert done.returncode == 0, done.stderr
    return out
