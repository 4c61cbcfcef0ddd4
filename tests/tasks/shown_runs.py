"""Runs of every family that train in a moment, for the tests of `headway show`."""

import random
from pathlib import Path

from headway.tasks.setting_up import Wanted
from headway.tasks.training import train_run
from headway.text.corpus import AlignedFiles

SETTINGS = {
    "model.layers": 2,
    "model.d_model": 16,
    "model.heads": 2,
    "model.d_ff": 16,
    "tokenizer.size": 300,
    "train.steps": 4,
    "train.batch_tokens": 200,
    "train.warmup": 2,
    "train.validate_every": 2,
    "train.save_every": 2,
    "train.valid_sentences": 4,
    "train.log_every": 1,
    "search.extra_length": 3,
    "machine.threads": 1,
}
LINES = 60


def corpus(folder: Path) -> tuple[Path, Path]:
    """Two files: words, and the same words backwards."""
    chance = random.Random(1)
    words = ["one", "two", "three", "four"]
    texts = [[chance.choice(words) for _ in range(chance.randint(2, 6))] for _ in range(LINES)]
    files = folder / "source", folder / "target"
    for file, lines in zip(files, (texts, [text[::-1] for text in texts]), strict=True):
        file.write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")
    return files


def train(out: Path, **changes: object) -> Path:
    """A run, trained on the corpus; `model__family="decoder-only"` changes model.family."""
    settings = {**SETTINGS, **{name.replace("__", "."): value for name, value in changes.items()}}
    source, target = corpus(out.parent)
    wanted = Wanted("tiny", assignments=[f"{name}={value}" for name, value in settings.items()])
    train_run(out, wanted, AlignedFiles((source,), (target,)))
    return out
