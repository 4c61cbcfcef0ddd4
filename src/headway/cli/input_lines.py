"""The lines that a command reads, from files and standard input one after the other, and where each stands."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from headway.search.translations import Line

STDIN = Path("-")
FIELDS = ("text", "prefix", "phrases")


class InputLines:
    """The lines of files in their order; without a file, those of standard input."""

    def __init__(self, paths: list[Path] | None, as_json: bool = False) -> None:
        self.paths = paths or [STDIN]
        self.as_json = as_json
        self._begun: list[tuple[int, Path]] = []  # lines before each file that has been opened, and the file
        if self.paths.count(STDIN) > 1:
            raise UserError("standard input (-) was given more than once; give it once")

    def __iter__(self) -> Iterator["str | Line"]:
        from headway.text.files import read_lines

        count = 0
        for path in self.paths:
            self._begun.append((count, path))
            for line in read_lines(path):
                count += 1
                yield parse_line(line, self.place(count)) if self.as_json else line

    @property
    def are_typed(self) -> bool:
        """Whether somebody types them, and wants each to be answered."""
        return STDIN in self.paths and sys.stdin.isatty()

    def place(self, number: int) -> str:
        """Where the line of that number, counted from 1 over all files, stands."""
        from headway.text.files import place

        before, path = next(begun for begun in reversed(self._begun) if begun[0] < number)
        return place(path, number - before)

    def count(self) -> int | None:
        """How many lines there are, if that can be found out without reading what can be read only once."""
        from headway.text.files import is_stream, read_blocks

        if any(map(is_stream, self.paths)):
            return None
        return sum(block.count(b"\n") for path in self.paths for block in read_blocks(path))


def parse_line(text: str, place: str) -> "Line":
    """The line in a JSON object: its text, and perhaps how its translation begins and what it contains."""
    from headway.search.translations import Line

    try:
        record: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: invalid JSON: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise UserError(f'{place}: expected a JSON object with a text, as in {{"text": "a line", "prefix": "une"}}')
    if unknown := sorted(record.keys() - set(FIELDS)):
        raise UserError(f"{place}: unknown field {unknown[0]}{did_you_mean(unknown[0], FIELDS)}")
    prefix, phrases = record.get("prefix", ""), record.get("phrases", [])
    if not isinstance(prefix, str) or not isinstance(phrases, list) or not all(isinstance(p, str) for p in phrases):
        raise UserError(f"{place}: expected a string as prefix and a list of strings as phrases")
    return Line(record["text"], prefix, tuple(phrases))
