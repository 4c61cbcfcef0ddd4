"""The flags that choose settings, the same on every command that has them, and their part of `--help`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

Preset = Annotated[str | None, typer.Option("--preset", help="Start from these named settings.", metavar="NAME")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", help="Change them by this TOML file.", metavar="FILE.toml")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", help="Then change one setting, as in model.heads=4. May be repeated.", metavar="NAME=VALUE"),
]


class CommandWithSettings(TyperCommand):
    """A command whose help ends with the presets and the settings of all sections."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the reference of presets and settings below the flags."""
        from headway.reference import presets_help, settings_help

        super().format_epilog(ctx, formatter)
        formatter.write(f"\nPresets:\n{presets_help()}\n")
        formatter.write(f"\nSettings (--set NAME=VALUE) and their defaults:\n{settings_help()}\n")
