"""Copy and reverse, learned by each family through the real command line."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from headway.models import EncoderOnly
from headway.store.run import Run

WORDS = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"]
SETTINGS = {
    "model.layers": 2,
    "model.d_model": 64,
    "model.heads": 4,
    "model.d_ff": 128,
    "model.dropout": 0.0,
    "model.norm_place": "pre",
    "tokenizer.kind": "word",
    "train.steps": 1200,
    "train.batch_tokens": 512,
    "train.schedule": "cosine",
    "train.warmup": 70,
    "train.peak_rate": 0.003,
    "train.label_smoothing": 0.0,
    "train.validate_every": 1200,
    "train.save_every": 1200,
    "train.patience": 0,
    "machine.threads": 1,
}


def headway(*arguments: object) -> str:
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def learn(tmp_path: Path, task: str, **more: str) -> tuple[Path, list[str], list[str]]:
    """Train on a task; gives the run, and sources and targets that it has not seen."""
    chance = random.Random(1)
    lines = sorted({" ".join(chance.choices(WORDS, k=chance.randint(4, 8))) for _ in range(4200)})
    chance.shuffle(lines)
    answers = [" ".join(line.split()[::-1]) if task == "reverse" else line for line in lines]
    for name, texts in (("source", lines[:-200]), ("target", answers[:-200])):
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    chosen = {**SETTINGS, **{name.replace("__", "."): value for name, value in more.items()}}
    flags = [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]
    headway(
        "train", "--source", tmp_path / "source", "--target", tmp_path / "target", "--out", tmp_path / "run", *flags
    )
    return tmp_path / "run", lines[-200:], answers[-200:]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["copy", "reverse"])
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
def test_a_model_that_writes_learns_it(family: str, task: str, tmp_path: Path) -> None:
    run, sources, targets = learn(tmp_path, task, model__family=family)
    (tmp_path / "test").write_text("\n".join(sources) + "\n", encoding="utf-8")
    found = headway("translate", run, tmp_path / "test").splitlines()
    assert sum(one == other for one, other in zip(found, targets, strict=True)) > 0.98 * len(targets)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["copy", "reverse"])
def test_a_model_that_reads_learns_it(task: str, tmp_path: Path) -> None:
    settings = {"model__family": "encoder-only", "train__objective": "tagging", "train__peak_rate": "0.002"}
    run, sources, targets = learn(tmp_path, task, **settings, train__steps="2000")
    opened = Run.open(run)
    model, tokenizer = opened.load_model(), opened.vocabulary.source
    assert isinstance(model, EncoderOnly)
    right = 0
    for source, target in zip(sources, targets, strict=True):
        with torch.inference_mode():
            answer = model(torch.tensor([tokenizer.encode(source)])).argmax(-1)[0].tolist()
        right += tokenizer.decode(answer) == target
    assert right > 0.98 * len(sources)
