"""The flags that name a trained model and change how it is used, the same on every command that uses one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.corpora import Files, Names, open_held_out, open_training

if TYPE_CHECKING:
    from headway.config import DataConfig
    from headway.text.corpus import Corpus

TrainedRun = Annotated[Path, typer.Argument(help="Directory of a run.", metavar="RUN", show_default=False)]
CheckpointName = Annotated[
    str | None,
    typer.Option("--checkpoint", help="Use this one, as in step-00001000, not the one chosen.", metavar="NAME"),
]
Beam = Annotated[
    int | None,
    typer.Option("--beam", min=1, help="How many partial outputs are kept, 4 if the run has no other; 1 is greedy."),
]
SearchAssignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Change one setting, as in search.alpha=1; headway train --help has all. May be repeated.",
        metavar="NAME=VALUE",
    ),
]

PairSource = Annotated[Files, typer.Option("--source", help="Texts, one a line. May be repeated.", metavar="FILE")]
PairTarget = Annotated[Files, typer.Option("--target", help="Their translations, line by line.", metavar="FILE")]
PairCorpus = Annotated[
    Names,
    typer.Option(
        "--corpus",
        help="Instead, both at once: a .tsv, .jsonl or .tmx file, or a name (builtin:en-fr), of which the test set.",
        metavar="FILE|NAME",
    ),
]


def with_flags(assignments: list[str] | None, **flags: int | None) -> list[str]:
    """The assignments, and then those that flags of their own stand for: they win."""
    given = [f"search.{name}={value}" for name, value in flags.items() if value is not None]
    return [*(assignments or ()), *given]


def open_pairs(source: Files, target: Files, corpus: Names, data: "DataConfig") -> "Corpus":
    """The pairs that were given; of a named corpus, its test set."""
    given = open_training(source, target, corpus, data)
    return open_held_out("test", None, None, None, data, given) or given
