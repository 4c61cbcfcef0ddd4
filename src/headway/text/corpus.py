r"""Files of the formats that people have pairs of text in -> `Pair`s, streamed in one pass.

A corpus can be iterated any number of times; each time the files are read anew (standard input can be read once).
Texts are given exactly as they stand in the file: to normalise them is the tokenizer's task. Texts out of JSON may
contain any character, "\n" and "\t" among them; those out of TMX contain no "\n" (see `headway.text.tmx`). Which class
reads a file is decided in `headway.text.opening`.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import starmap, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from headway.errors import UserError
from headway.text.files import display_name, empty_file, hash_file, is_stdin, place, read_lines, read_records
from headway.text.tmx import Tally, read_pairs

LISTED_FIELDS = 20


class Pair(NamedTuple):
    """A text and its translation."""

    source: str
    target: str


class Corpus(Protocol):
    """Pairs of text; its `str` is a short name for it."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it is read from, if it is read from files."""

    @property
    def skipped(self) -> int:
        """How many units of the last pass were in other languages and gave no pair."""

    def fingerprint(self) -> dict[str, str]:
        """A hash of the content of each part, by its name; what would give other pairs has another fingerprint."""

    def __iter__(self) -> Iterator[Pair]: ...


@dataclass(frozen=True)
class AlignedFiles:
    """Files with one text a line: line n of a target file translates line n of its source file."""

    sources: tuple[Path, ...]
    targets: tuple[Path, ...]
    skipped = 0

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.targets) or not self.sources:
            raise UserError(
                f"{_count(len(self.sources), 'source file')} but {_count(len(self.targets), 'target file')}; "
                "give each source file its target file, in the same order"
            )
        if sum(map(is_stdin, self.paths)) > 1:
            raise UserError("standard input was given more than once; give the other texts as files")

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.sources + self.targets

    def __str__(self) -> str:
        return " | ".join(", ".join(map(display_name, side)) for side in (self.sources, self.targets))

    def fingerprint(self) -> dict[str, str]:
        """The hash of each file, by its name and its side: swapped sides are another corpus."""
        sides = {"source": self.sources, "target": self.targets}
        return {
            f"{display_name(path)} ({side}{f' {number}' if len(files) > 1 else ''})": hash_file(path)
            for side, files in sides.items()
            for number, path in enumerate(files, start=1)
        }

    def __iter__(self) -> Iterator[Pair]:
        for source, target in zip(self.sources, self.targets, strict=True):
            yield from _align(source, target)


@dataclass(frozen=True)
class TsvFile:
    """A file with source, tab, target on each line; or with more columns, of which two (from 0) are chosen.

    Nothing is quoted or escaped: what stands between the tabs is the text.
    """

    path: Path
    columns: tuple[int, int] | None = None
    skipped = 0

    def __post_init__(self) -> None:
        if self.columns is not None and min(self.columns) < 0:
            raise UserError(f"columns are counted from 0; got {self.columns[0]} and {self.columns[1]}")

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        chosen = f" (columns {self.columns[0] + 1}, {self.columns[1] + 1})" if self.columns else ""
        return display_name(self.path) + chosen

    def fingerprint(self) -> dict[str, str]:
        """The hash of the file, by its name and the columns that were chosen."""
        return {str(self): hash_file(self.path)}

    def __iter__(self) -> Iterator[Pair]:
        source, target = self.columns or (0, 1)
        needed = max(source, target) + 1
        number = 0
        for number, line in enumerate(read_lines(self.path), start=1):
            cells = line.split("\t")
            if len(cells) < needed or (len(cells) > needed and self.columns is None):
                remedy = "; choose two with data.source_column and data.target_column" if len(cells) > needed else ""
                expected = "2 (source, tab, target)" if self.columns is None else f"at least {needed}"
                found = _count(len(cells), "column")
                raise UserError(f"{place(self.path, number)} has {found}; expected {expected}{remedy}")
            yield Pair(cells[source], cells[target])
        if number == 0:
            raise empty_file(self.path)


@dataclass(frozen=True)
class JsonLinesFile:
    """A file with a JSON object on each line, two of whose fields are the texts."""

    path: Path
    source_field: str
    target_field: str
    skipped = 0

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{display_name(self.path)} ({self.source_field}, {self.target_field})"

    def fingerprint(self) -> dict[str, str]:
        """The hash of the file, by its name and its fields."""
        return {str(self): hash_file(self.path)}

    def __iter__(self) -> Iterator[Pair]:
        number = 0
        for number, line in read_records(self.path):
            record = _parse_object(self.path, number, line)
            source, target = (self._text(record, name, number) for name in (self.source_field, self.target_field))
            if "\\u" in line:  # only an escape can spell half of a surrogate pair, which no encoding has bytes for
                _check_surrogates(self.path, number, source + "\n" + target)
            yield Pair(source, target)
        if number == 0:
            raise empty_file(self.path)

    def _text(self, record: dict[str, Any], name: str, number: int) -> str:
        try:
            text = record[name]
        except KeyError:
            fields = list(record)[:LISTED_FIELDS]
            found = f"it has {', '.join(fields)}" if fields else "it has none"
            remedy = "name two of its fields with data.source_field and data.target_field"
            raise UserError(f"{place(self.path, number)} has no field {name}; {found}; {remedy}") from None
        if not isinstance(text, str):
            raise UserError(f"{place(self.path, number)}: {name} is {_json_kind(text)}; expected a string")
        return text


@dataclass(frozen=True)
class TmxFile:
    """A translation memory: of its units, those in both languages. A segment in en-US is one in en.

    Of several segments in a language, the one with exactly its code is taken, else the first.
    """

    path: Path
    source_language: str
    target_language: str
    _tally: Tally = field(default_factory=Tally, init=False, repr=False, compare=False)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,)

    @property
    def skipped(self) -> int:
        return self._tally.skipped

    def __str__(self) -> str:
        return f"{display_name(self.path)} ({self.source_language} to {self.target_language})"

    def fingerprint(self) -> dict[str, str]:
        """The hash of the file, by its name and its languages."""
        return {str(self): hash_file(self.path)}

    def __iter__(self) -> Iterator[Pair]:
        self._tally.clear()
        return starmap(Pair, read_pairs(self.path, self.source_language, self.target_language, self._tally))


def _align(source: Path, target: Path) -> Iterator[Pair]:
    sources, targets = read_lines(source), read_lines(target)
    count = 0
    for one, other in zip_longest(sources, targets):
        if one is None or other is None:
            break
        count += 1
        yield Pair(one, other)
    else:
        if count == 0:
            raise empty_file(source)
        return
    if count == 0:
        raise empty_file(source if one is None else target)
    longer = count + 1 + sum(1 for _ in (targets if one is None else sources))
    lines = (count, longer) if one is None else (longer, count)
    raise UserError(
        f"{display_name(source)} has {_count(lines[0], 'line')} but {display_name(target)} has {lines[1]:,}; "
        "they must align line by line."
    )


def _parse_object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise UserError(f"{place(path, number, error.colno)}: invalid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets thousands deep
        raise UserError(f"{place(path, number)}: JSON that cannot be read: {error}") from None
    if not isinstance(record, dict):
        raise UserError(f"{place(path, number)} is {_json_kind(record)}; expected an object, one a line")
    return record


def _check_surrogates(path: Path, number: int, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise UserError(f"{place(path, number)}: {half} is half of a surrogate pair; expected both halves") from None


def _json_kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
