"""Validation BLEU of several runs over the time that each has trained, in one SVG.

python experiments/plot.py runs/multi30k/en-de/seed-* --out bleu.svg
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from headway import UserError
from headway.show.svg import COLOURS, Line, line_chart
from headway.show.writing import write_plot
from headway.store.metrics import read_metrics


def plot(runs: Sequence[Path]) -> str:
    """One curve a run; validations do not count as time."""
    if len(runs) > len(COLOURS):
        raise UserError(f"{len(runs)} runs were given; more than {len(COLOURS)} curves cannot be told apart")
    lines = [curve(run, name) for run, name in zip(runs, names(runs), strict=True)]
    return line_chart("Validation BLEU", lines, "minutes of training", "BLEU", from_zero=True)


def curve(run: Path, name: str) -> Line:
    """The validations of a run."""
    points = [
        (each["seconds"] / 60, each["valid_bleu"])
        for each in read_metrics(run / "metrics.jsonl")
        if "valid_bleu" in each
    ]
    if not points:
        raise UserError(f"{run} has no validation with BLEU; is it a run that has trained, with train.valid_sentences?")
    return Line(name, [time for time, _ in points], [bleu for _, bleu in points])


def names(runs: Sequence[Path]) -> list[str]:
    """What tells the runs apart: their paths without what all have in common."""
    common = os.path.commonpath([run.parent.absolute() for run in runs])
    return [os.path.relpath(run.absolute(), common) for run in runs]


def main() -> None:
    """Read the flags and write the plot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=".svg, or .png if there is a browser")
    chosen = parser.parse_args()
    try:
        write_plot(plot(chosen.runs), chosen.out)
    except UserError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")


if __name__ == "__main__":
    main()
