"""Headway itself, by its own command, as its users start it."""

import sys
from pathlib import Path

from headway.store.metrics import read_metrics
from peers.environments import Environment
from peers.system import Judge, Plan, System, Validation
from peers.work import Work

NEVER = 1_000_000_000
HERE = Environment(Path(sys.prefix))


def command(environment: Environment, work: Work, plan: Plan, out: Path) -> list[str]:
    files = {"source": work.corpus.sources, "target": work.corpus.targets}
    files |= {"valid-source": work.valid.sources, "valid-target": work.valid.targets}
    sentences = sum(1 for _ in work.valid) if plan.validate_every else 0
    settings = (
        *work.assignments,
        f"train.steps={plan.steps}",
        f"train.log_every={plan.log_every}",
        f"train.validate_every={plan.validate_every or NEVER}",
        f"train.valid_sentences={sentences}",
        f"train.save_every={NEVER}",
        "train.patience=0",
        "train.average=0",
    )
    return [
        environment.python,
        *("-m", "headway", "train", "--preset", work.preset, "--out", str(out / "run")),
        *(word for side, paths in files.items() for path in paths for word in (f"--{side}", str(path.absolute()))),
        *(word for assignment in settings for word in ("--set", assignment)),
    ]


def rates(out: Path) -> list[float]:
    records = read_metrics(out / "run" / "metrics.jsonl")
    return [record["tokens_per_second"] for record in records if "tokens_per_second" in record]


def validations(out: Path, _: Judge) -> list[Validation]:
    return validations_of(out / "run")


def validations_of(run: Path) -> list[Validation]:
    """Those of any run of Headway, which judges its translations itself, by the same search and the same BLEU."""
    return [
        Validation(record["step"], record["seconds"], record["valid_bleu"])
        for record in read_metrics(run / "metrics.jsonl")
        if "valid_bleu" in record
    ]


HEADWAY = System("Headway", ("headway",), command, rates, validations)
