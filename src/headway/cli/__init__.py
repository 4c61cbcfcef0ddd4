"""The command line: the only room that prints, reads flags and exits.

Commands import what they need when they run, so that `headway --help` answers at once.
"""

import os
from typing import Annotated

import typer

from headway import __version__
from headway.cli.average import average
from headway.cli.check import check
from headway.cli.data import data
from headway.cli.demo import demo
from headway.cli.describe import describe
from headway.cli.distill import distill
from headway.cli.doctor import doctor
from headway.cli.evaluate import evaluate
from headway.cli.export import export
from headway.cli.manners import DEBUG, Commands, leaving_at_once, one_line_failures
from headway.cli.score import score
from headway.cli.settings import CommandWithSettings
from headway.cli.show import show
from headway.cli.train import train
from headway.cli.trained import CommandWithSearchSettings
from headway.cli.translate import translate
from headway.cli.verify_resume import verify_resume

app = typer.Typer(
    name="headway",
    cls=Commands,
    help="Train, explain and serve Transformers: the model of 'Attention Is All You Need' and its relatives.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "color": False if os.environ.get("NO_COLOR") else None,  # None: colours on a terminal
    },
)
app.command()(demo)
app.command(cls=CommandWithSettings)(train)
app.command(cls=CommandWithSettings)(distill)
app.command(cls=CommandWithSearchSettings)(translate)
app.command(cls=CommandWithSearchSettings)(evaluate)
app.command(cls=CommandWithSearchSettings)(score)
app.command()(show)
app.command()(export)
app.command()(average)
app.command()(data)
app.command(cls=CommandWithSettings)(check)
app.command(cls=CommandWithSettings)(describe)
app.command()(verify_resume)
app.command()(doctor)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headway {__version__}")
        raise typer.Exit


def _remember_debug(wanted: bool) -> None:
    if wanted:
        os.environ[DEBUG] = "1"


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", callback=_remember_debug, help="Show the traceback of a failure.")
    ] = False,
) -> None:
    """Options that come before the command."""


def main() -> None:
    """Run the command line. The exit codes are 0, 1 for a failure, 2 for wrong input, 130 for Ctrl-C."""
    with leaving_at_once(), one_line_failures():
        app()
