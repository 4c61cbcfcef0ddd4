"""The flags that name a trained model and change how it is used, the same on every command that uses one."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from headway.cli.corpora import Files, Names, open_held_out, open_training

if TYPE_CHECKING:
    from headway.config import DataConfig
    from headway.tasks.engines import Notice, OnNotice
    from headway.text.corpus import Corpus


class EngineName(StrEnum):
    """What can search a model."""

    AUTO = "auto"
    TORCH = "torch"
    CTRANSLATE2 = "ctranslate2"


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
        help="Change one setting, as in search.alpha=1. May be repeated.",
        metavar="NAME=VALUE",
    ),
]
EnsembleRuns = Annotated[
    list[Path] | None,
    typer.Option("--ensemble", help="Average with this run's probabilities. May be repeated.", metavar="RUN"),
]
EngineChoice = Annotated[
    EngineName,
    typer.Option(
        "--engine", help="What searches: auto is ctranslate2 on a CPU if it can hold the model, and torch otherwise."
    ),
]
Quantization = Annotated[
    str | None,
    typer.Option(
        "--quantization", help="Type of the weights: fp32 (by default); int8, ... by ctranslate2.", metavar="TYPE"
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="How many translate side by side: with ctranslate2 threads, by default as many as cores; with torch "
        "processes of one thread each, by default one.",
        metavar="N",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Say which engine is used, why, and with how many threads.")]

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


class CommandWithSearchSettings(TyperCommand):
    """A command whose help ends with the settings that decide how a trained model writes."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the reference of these settings below the flags."""
        from headway.reference import settings_help

        super().format_epilog(ctx, formatter)
        formatter.write(f"\nSettings (--set NAME=VALUE) and their defaults:\n{settings_help(sections=['search'])}\n")


def with_flags(assignments: list[str] | None, **flags: int | None) -> list[str]:
    """The assignments, and then those that flags of their own stand for: they win."""
    given = [f"search.{name}={value}" for name, value in flags.items() if value is not None]
    return [*(assignments or ()), *given]


def open_pairs(source: Files, target: Files, corpus: Names, data: "DataConfig") -> "Corpus":
    """The pairs that were given; of a named corpus, its test set."""
    given = open_training(source, target, corpus, data)
    return open_held_out("test", None, None, None, data, given) or given


def noticing(verbose: bool) -> "OnNotice":
    """What tells about the engine: all if asked to, else what everybody should know, or may be waiting for."""
    kinds = {"warning"} | ({"wait"} if sys.stderr.isatty() else set()) | ({"wait", "detail"} if verbose else set())

    def tell(notice: "Notice") -> None:
        if notice.kind in kinds:
            typer.echo(f"warning: {notice.text}" if notice.kind == "warning" else notice.text, err=True)

    return tell
