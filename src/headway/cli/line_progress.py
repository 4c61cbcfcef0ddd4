"""What a person sees of a command that works through lines: a bar with the rate, and what is wrong with some lines."""

import sys
import time
from collections.abc import Callable
from typing import Self

import typer

from headway.cli.watching import LiveBar

SHOW_SECONDS = 0.1


class LineProgress:
    """How far the lines are. The bar is there only if stderr is a terminal, and one without lines of results in it."""

    def __init__(
        self, count: Callable[[], int | None], place: Callable[[int], str], *, prints_lines: bool = True
    ) -> None:
        is_shown = sys.stderr.isatty() and not (prints_lines and sys.stdout.isatty())
        self._total = count() if is_shown else None
        self._bar = LiveBar() if is_shown else None
        self._place = place
        self._begun = self._shown = time.monotonic()
        self.done = self.failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.close()

    def step(self, *, failed: bool = False) -> None:
        """One more line is done, or has failed."""
        self.done += 1
        self.failed += failed
        now = time.monotonic()
        if self._bar and now - self._shown >= SHOW_SECONDS:
            self._shown = now
            self._bar.show(self.done, self._total, f"lines, {self.done / (now - self._begun):,.0f} a second")

    def warn(self, number: int, text: str) -> None:
        """Say what is the matter with a line, counted from 1."""
        message = f"warning: {self._place(number)}: {text}"
        if self._bar:
            self._bar.say(message)
        else:
            typer.echo(message, err=True)

    def exit_if_failed(self, done: str) -> None:
        """End the command with exit code 1 if not all lines could be `done`."""
        if self.failed:
            typer.echo(f"{self.failed:,} of {self.done:,} lines could not be {done}", err=True)
            raise typer.Exit(1)
