"""HF's MarianMT in a plain loop of our own, `huggingface_loop.py`, as the library has no recipe for translation."""

import json
from pathlib import Path
from typing import Any

from peers.environments import Environment
from peers.system import Judge, Plan, System, Validation, read_log
from peers.work import Work

LOOP = Path(__file__).with_name("huggingface_loop.py")


def command(environment: Environment, work: Work, plan: Plan, out: Path) -> list[str]:
    model, train = work.config.model, work.config.train
    settings = {
        "train_source": str(work.side("train", "source")),
        "train_target": str(work.side("train", "target")),
        "valid_source": str(work.side("valid", "source")),
        "out": str(out),
        "vocabulary": len(work.tokenizer),
        "layers": model.layers,
        "d_model": model.d_model,
        "d_ff": model.d_ff,
        "heads": model.heads,
        "dropout": model.dropout,
        "smoothing": train.label_smoothing,
        "batch_tokens": train.batch_tokens,
        "peak_rate": train.peak_rate,
        "warmup": train.warmup,
        "steps": plan.steps,
        "log_every": plan.log_every,
        "validate_every": plan.validate_every,
    }
    path = out / "settings.json"
    path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return [environment.python, "-P", str(LOOP), str(path), str(work.threads)]


def records(out: Path) -> list[dict[str, Any]]:
    """The JSON lines of the log, among what libraries say."""
    found = []
    for line in read_log(out).splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:  # not whole yet
                continue
    return found


def rates(out: Path) -> list[float]:
    return [record["tokens_per_second"] for record in records(out) if "tokens_per_second" in record]


def validations(out: Path, judge: Judge) -> list[Validation]:
    return [
        Validation(record["step"], record["seconds"], judge(Path(record["translations"])))
        for record in records(out)
        if "translations" in record
    ]


HUGGINGFACE = System("HF MarianMT", ("transformers",), command, rates, validations)
