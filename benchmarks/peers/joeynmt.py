"""Joey NMT: a configuration file, and a log with tokens a second.

Its rate counts what the loss counts: target tokens with the end of sentence, without padding. It does not sort by
length, so that half of a batch or more is padding. It validates greedily.
"""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from peers.environments import Environment
from peers.system import Judge, Plan, System, Validation, read_log, training_seconds
from peers.work import Work

EPOCHS = 10_000
MAX_OUTPUT = 100
STAMP = r"^(\d+-\d+-\d+ \d+:\d+:\d+,\d+) - INFO - joeynmt\.training - "
BEGAN = re.compile(STAMP + r"EPOCH 1$", re.MULTILINE)
UPDATED = re.compile(STAMP + r"Epoch .*Step:\s+(\d+),.*Tokens per Sec:\s+([\d.]+)", re.MULTILINE)


def command(environment: Environment, work: Work, plan: Plan, out: Path) -> list[str]:
    settings = out / "joeynmt.yaml"
    settings.write_text(json.dumps(configuration(work, plan, out), indent=1), encoding="utf-8")  # JSON is YAML
    return [environment.python, "-m", "joeynmt", "train", str(settings), "--skip-test"]


def configuration(work: Work, plan: Plan, out: Path) -> dict[str, Any]:
    """The recipe of the work in Joey NMT's words."""
    config = work.config
    side = {"level": "word", "max_length": config.data.max_length, "voc_file": str(work.vocabulary)}
    settings = config.train
    return {
        "name": "benchmark",
        "model_dir": str(out / "model"),
        "use_cuda": False,
        "random_seed": settings.seed,
        "data": {
            "train": str(work.directory / "train"),
            "dev": str(work.directory / "valid"),
            "src": {"lang": "source", **side},
            "trg": {"lang": "target", **side},
        },
        "training": {
            "optimizer": "adam",
            "adam_betas": [settings.beta1, settings.beta2],
            "normalization": "tokens",
            "scheduling": "warmupinversesquareroot",
            "learning_rate": settings.peak_rate,
            "learning_rate_min": 0.0,  # it stops below
            "learning_rate_warmup": settings.warmup,
            "label_smoothing": settings.label_smoothing,
            "batch_size": settings.batch_tokens,
            "batch_type": "token",
            "epochs": EPOCHS,
            "updates": plan.steps,
            "logging_freq": plan.log_every,
            "validation_freq": plan.validate_every or plan.log_every * EPOCHS,
            "early_stopping_metric": "ppl",
            "keep_best_ckpts": 1,
            "print_valid_sents": [],
            "overwrite": True,
        },
        "testing": {"batch_size": 64, "max_output_length": MAX_OUTPUT},
        "model": {"tied_embeddings": True, "tied_softmax": True, "encoder": stack(work), "decoder": stack(work)},
    }


def stack(work: Work) -> dict[str, Any]:
    model = work.config.model
    return {
        "type": "transformer",
        "num_layers": model.layers,
        "num_heads": model.heads,
        "embeddings": {"embedding_dim": model.d_model, "scale": True, "dropout": model.dropout},
        "hidden_size": model.d_model,
        "ff_size": model.d_ff,
        "dropout": model.dropout,
        "layer_norm": "post",
    }


def rates(out: Path) -> list[float]:
    return [float(rate) for _, _, rate in UPDATED.findall(read_log(out))]


def validations(out: Path, judge: Judge) -> list[Validation]:
    """The line of an update is written as its validation begins, the file of translations as it ends."""
    said = read_log(out)
    began = BEGAN.search(said)
    done = [
        (int(step), seconds_at(stamp), out / "model" / f"{step}.hyps")
        for stamp, step, _ in UPDATED.findall(said)
        if (out / "model" / f"{step}.hyps").exists()
    ]
    if began is None or not done:
        return []
    spent = training_seconds(seconds_at(began[1]), [(start, path.stat().st_mtime) for _, start, path in done])
    return [Validation(step, seconds, judge(path)) for (step, _, path), seconds in zip(done, spent, strict=True)]


def seconds_at(stamp: str) -> float:
    """The clock time of a line of the log."""
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S,%f").timestamp()


JOEYNMT = System("Joey NMT", ("joeynmt", "importlib_metadata"), command, rates, validations)
