"""The command line: the only room that prints, reads flags and exits.

Commands import what they need when they run, so that `headway --help` answers at once.
"""

import sys
from typing import Annotated

import typer

from headway import __version__
from headway.cli.check import check
from headway.cli.data import data
from headway.cli.describe import describe
from headway.cli.settings import CommandWithSettings
from headway.errors import UserError

app = typer.Typer(
    name="headway",
    help="Train, explain and serve Transformers: the model of 'Attention Is All You Need' and its relatives.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(data)
app.command(cls=CommandWithSettings)(check)
app.command(cls=CommandWithSettings)(describe)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headway {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Options that come before the command."""


def main() -> None:
    """Run the command line. Wrong input is one message on stderr and exit code 2."""
    try:
        app()
    except UserError as error:
        print(f"headway: {error}", file=sys.stderr)
        sys.exit(2)
