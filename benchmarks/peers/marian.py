"""Marian, by its Python package: options of a command line, and a log with words a second.

Its words are target labels with the end of sentence, without padding. Its workers are threads that share a batch.
"""

import json
import re
from datetime import datetime
from pathlib import Path

from peers.environments import Environment
from peers.system import Judge, Plan, System, Validation, read_log, training_seconds
from peers.work import Work

MAX_OUTPUT_FACTOR = 3
STAMP = r"^\[(\d+-\d+-\d+ \d+:\d+:\d+)\] "
BEGAN = re.compile(STAMP + r"Training started", re.MULTILINE)
UPDATED = re.compile(STAMP + r"Ep\. \S+ : Up\. (\d+) : .* : ([\d.]+) words/s", re.MULTILINE)
VALIDATED = re.compile(STAMP + r"\[valid\] Ep\. \S+ : Up\. (\d+) : bleu : ", re.MULTILINE)


def command(environment: Environment, work: Work, plan: Plan, out: Path) -> list[str]:
    names = out / "vocabulary.yml"
    words = ["</s>", "<unk>", *work.vocabulary.read_text(encoding="utf-8").split()]
    names.write_text(json.dumps({word: number for number, word in enumerate(words)}, indent=0), encoding="utf-8")
    options = {
        "model": out / "model.npz",
        "train-sets": [work.side("train", "source"), work.side("train", "target")],
        "vocabs": [names, names],
        "tempdir": out,
        "cpu-threads": work.threads,
        "disp-freq": f"{plan.log_every}u",
        "after-batches": plan.steps,
        "save-freq": f"{plan.steps}u",
        **recipe(work),
        **(validation(work, plan.validate_every, out) if plan.validate_every else {}),
    }
    given = [[f"--{name}", *map(str, value if isinstance(value, list) else [value])] for name, value in options.items()]
    flags = ["--tied-embeddings-all", "--sync-sgd", "--overwrite"]
    return [environment.program("pymarian"), "train", *(word for words in given for word in words), *flags]


def recipe(work: Work) -> dict[str, object]:
    """The model and how it is trained, in Marian's words."""
    model, train = work.config.model, work.config.train
    return {
        "type": "transformer",
        "enc-depth": model.layers,
        "dec-depth": model.layers,
        "dim-emb": model.d_model,
        "transformer-dim-ffn": model.d_ff,
        "transformer-heads": model.heads,
        "transformer-ffn-activation": "relu",
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-dropout": model.dropout,
        "label-smoothing": train.label_smoothing,
        "optimizer-params": [train.beta1, train.beta2, train.epsilon],
        "learn-rate": train.peak_rate,
        "lr-warmup": train.warmup,
        "lr-decay-inv-sqrt": train.warmup,
        "clip-norm": 0,
        "max-length": work.config.data.max_length,
        "mini-batch-words": train.batch_tokens,
        "mini-batch-round-up": "false",
        "maxi-batch": 1000,
        "maxi-batch-sort": "trg",
        "seed": train.seed + 1,  # 0 would be the clock
    }


def validation(work: Work, every: int, out: Path) -> dict[str, object]:
    """Greedy translations, kept in a file an update."""
    return {
        "valid-freq": f"{every}u",
        "valid-sets": [work.side("valid", "source"), work.side("valid", "target")],
        "valid-metrics": "bleu",
        "valid-translation-output": out / "{U}.hyps",
        "valid-mini-batch": 64,
        "valid-max-length": work.config.data.max_length,
        "beam-size": 1,
        "max-length-factor": MAX_OUTPUT_FACTOR,
        "early-stopping": 0,
    }


def rates(out: Path) -> list[float]:
    return [float(rate) for _, _, rate in UPDATED.findall(read_log(out))]


def validations(out: Path, judge: Judge) -> list[Validation]:
    """The line of an update is written as its validation begins, that of the score as it ends; whole seconds."""
    said = read_log(out)
    began = BEGAN.search(said)
    starts = {int(step): seconds_at(stamp) for stamp, step, _ in UPDATED.findall(said)}
    done = [(int(step), starts[int(step)], seconds_at(stamp)) for stamp, step in VALIDATED.findall(said)]
    if began is None:
        return []
    spent = training_seconds(seconds_at(began[1]), [(start, end) for _, start, end in done])
    return [
        Validation(step, seconds, judge(out / f"{step}.hyps"))
        for (step, _, _), seconds in zip(done, spent, strict=True)
    ]


def seconds_at(stamp: str) -> float:
    """The clock time of a line of the log."""
    return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S").timestamp()


MARIAN = System("Marian", ("pymarian",), command, rates, validations, has_torch=False, has_workers=True)
