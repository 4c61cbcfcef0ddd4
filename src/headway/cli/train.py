"""`headway train`: from text files to a run directory with a usable model."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headway.cli.corpora import (
    TrainCorpus,
    TrainSource,
    TrainTarget,
    ValidCorpus,
    ValidSource,
    ValidTarget,
    open_held_out,
    open_training,
)
from headway.cli.manners import only_first_rank_speaks
from headway.cli.settings import Assignments, ConfigFile, Preset
from headway.cli.watching import watched

if TYPE_CHECKING:
    from headway.tasks.training import Outcome


@only_first_rank_speaks()
def train(
    out: Annotated[Path, typer.Option(help="Directory of the run.", metavar="RUN")],
    source: TrainSource = None,
    target: TrainTarget = None,
    corpus: TrainCorpus = None,
    valid_source: ValidSource = None,
    valid_target: ValidTarget = None,
    valid_corpus: ValidCorpus = None,
    preset: Preset = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, exactly.")] = False,
    init: Annotated[
        Path | None,
        typer.Option(
            help="Begin with the vocabulary and the weights of this run; without --preset and --config, with its "
            "settings, too.",
            metavar="RUN",
        ),
    ] = None,
    from_card: Annotated[Path | None, typer.Option(help="Repeat the run of this card.json.", metavar="FILE")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout at the end.")] = False,
) -> None:
    """Train a model on pairs of text, from the raw files to a run directory that all other commands take.

    Without validation files, a part of the corpus is held out. What is not set (preset, size of the vocabulary, steps)
    is chosen by the size of the corpus, and said.
    Ctrl-C saves and leaves. A run that was stopped, even killed, goes on with --resume and ends with the same weights.

    \b
    Examples:
      headway train --source train.en --target train.fr --out runs/en-fr
      headway train --corpus builtin:en-fr --out runs/demo --set train.steps=2000
      headway train --out runs/en-fr --resume
      torchrun --nproc-per-node 2 -m headway train --source train.en --target train.fr --out runs/en-fr
    """  # noqa: D301
    if from_card is not None:
        repeat(from_card, out)
        return
    from headway.allocator import restart_with_allocator
    from headway.settings import load_config
    from headway.tasks.beginning import settings_file

    config = settings_file(preset, config, init)
    kept = out / "config.toml"
    settings = load_config(preset, kept if resume and kept.exists() else config, assignments or ())
    restart_with_allocator(settings.machine.allocator)

    from headway.store.card import command_line
    from headway.tasks.setting_up import Wanted
    from headway.tasks.training import train_run

    wanted = Wanted(preset, config, assignments or ())
    data = settings.data
    is_given = any((source, target, corpus))
    training = open_training(source, target, corpus, data) if is_given or not resume else None
    valid = open_held_out("valid", valid_source, valid_target, valid_corpus, data, training) if training else None
    outcome, signals = watched(
        lambda observer: train_run(
            out, wanted, training, valid, resume=resume, init=init, command=command_line(), observer=observer
        )
    )
    if outcome.result is None:
        typer.echo(f"stopped after step {outcome.progress.step:,}; go on with: {resume_command(out)}", err=True)
        raise typer.Exit(128 + signals[0] if signals else 1)
    report(outcome, as_json)


def report(outcome: "Outcome", as_json: bool) -> None:
    """The best score, where the model is, and what to do next."""
    result: dict[str, Any] = outcome.result or {}
    minutes, seconds = divmod(round(result["train_seconds"]), 60)
    scores = ", ".join(f"{name} {value:.2f}" for name, value in result["scores"].items())
    run = shlex.quote(str(outcome.run.path))
    typer.echo(
        f"trained {result['step']:,} steps in {minutes}:{seconds:02d}; validation {scores or '-'} "
        f"({result['checkpoint']})\n"
        f"the model is in {outcome.run.path}; try it:\n"
        f"  headway translate {run}\n"
        f"  headway evaluate {run} --source FILE --target FILE",
        err=True,
    )
    if as_json:
        typer.echo(json.dumps({"run": str(outcome.run.path), **result}))


def repeat(card: Path, out: Path) -> None:
    """Run the command of a card again, into another directory."""
    from headway.cli import app
    from headway.errors import UserError

    try:
        command = json.loads(card.read_text(encoding="utf-8"))["command"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{card} is not the card of a run") from None
    arguments = without_option(command[1:], "--out")
    if arguments[:1] != ["train"]:
        raise UserError(f"{card} does not come from headway train on the command line, so its command is not known")
    app([*[each for each in arguments if each != "--resume"], "--out", str(out)])


def without_option(arguments: list[str], option: str) -> list[str]:
    """The arguments without an option and its value."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == option:
            next(rest, None)
        elif not argument.startswith(f"{option}="):
            kept.append(argument)
    return kept


def resume_command(out: Path) -> str:
    """What to type to go on."""
    return f"headway train --out {shlex.quote(str(out))} --resume"
