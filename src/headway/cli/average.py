"""`headway average`: the mean of the last checkpoints, as the paper used it."""

import json
import shlex
from typing import Annotated

import typer

from headway.cli.trained import TrainedRun
from headway.errors import UserError


def average(
    run: TrainedRun,
    last: Annotated[
        int | None, typer.Option(min=1, help="How many checkpoints; the paper took 5, and 20 for big.")
    ] = None,
    use: Annotated[
        str | None, typer.Option(help="Average nothing: use this checkpoint from now on.", metavar="NAME")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Average the weights of the last checkpoints; all commands use the average from now on.

    An average is written beside the checkpoints (RUN/checkpoints/average-...), which stay as they are. The checkpoint
    to use is named in RUN/result.json. Whether the average is better, headway evaluate says.

    \b
    Examples:
      headway average runs/en-fr --last 5
      headway average runs/en-fr --use step-00010000
    """  # noqa: D301
    if (last is None) == (use is None):
        raise UserError("give either --last N, to average the last N checkpoints, or --use NAME, to choose one")
    from headway.store.run import Run
    from headway.tasks.choosing import average_last, use_checkpoint

    opened = Run.open(run)
    choice = average_last(opened, last) if last is not None else use_checkpoint(opened, use or "")
    now, steps = choice.checkpoint.path.name, choice.checkpoint.state().get("averaged", [])
    if as_json:
        typer.echo(json.dumps({"run": str(run), "checkpoint": now, "averaged": steps, "before": choice.before}))
        return
    of_what = f", the average of steps {', '.join(f'{step:,}' for step in steps)}" if steps else ""
    typer.echo(f"{run} uses {now} from now on{of_what}")
    command = f"headway average {shlex.quote(str(run))}"
    if count := choice.averaged_before:
        typer.echo(f"it replaces an average of {count}; go back with: {command} --last {count}")
    elif choice.before != now:
        typer.echo(f"go back with: {command} --use {choice.before}")
