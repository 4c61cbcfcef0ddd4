"""Pairs of texts -> token ids on disk, encoded once; and ids back by their place.

A prepared corpus is a directory: for each side all ids in one array and where each sentence begins in it (`source.ids`,
`source.starts`), `places` with the numbers of the pairs sorted by their two lengths, `cells.npy` with how many pairs
have which lengths, and `prepared.json` with what it was made from and what was kept and dropped. It is written beside
its place and renamed when it is whole, so that an interrupted preparation leaves nothing that could be taken for one.

Reading goes by position in the files and holds nothing: a process that trains on a large corpus is no larger than one
that trains on a small one.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.data.plan import Cells, Integers, cell_numbers
from headway.errors import UserError
from headway.text.corpus import Pair

FORMAT = 1
CHUNK = 20_000
"""Pairs that are encoded at once."""
SIDES = ("source", "target")

Encode = Callable[[Sequence[str]], list[list[int]]]
Ids = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Rules:
    """Which pairs are left out. A pair with an empty side always is: nothing can be learned from it."""

    max_length: int
    """Tokens of the longer side."""
    max_ratio: float | None = None
    """How many times longer one side may be than the other."""

    def reasons(self, source: Integers, target: Integers) -> dict[str, NDArray[np.bool_]]:
        """Which pairs of these lengths each rule leaves out; the first rule that applies counts."""
        shorter, longer = np.minimum(source, target), np.maximum(source, target)
        rules = {
            "an empty side": shorter == 0,
            f"over data.max_length = {self.max_length} tokens": longer > self.max_length,
        }
        if self.max_ratio is not None:
            rules[f"over data.max_ratio = {self.max_ratio:g}"] = longer > self.max_ratio * shorter
        left_out = np.zeros(len(source), dtype=np.bool_)
        for name, applies in rules.items():
            rules[name] = applies & ~left_out
            left_out |= applies
        return rules


@dataclass
class Report:
    """What became of the pairs that were read."""

    read: int = 0
    kept: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SIDES, 0))


class _SideWriter:
    """Appends the sentences of one side."""

    def __init__(self, directory: Path, side: str, dtype: str) -> None:
        self.dtype = dtype
        self.end = 0
        self._ids = (directory / f"{side}.ids").open("wb")
        self._starts = (directory / f"{side}.starts").open("wb")
        self._starts.write(np.zeros(1, dtype=np.uint64).tobytes())

    def write(self, sentences: Sequence[list[int]]) -> None:
        """Append sentences."""
        self._ids.write(np.fromiter(chain.from_iterable(sentences), dtype=self.dtype).tobytes())
        ends = self.end + np.cumsum([len(sentence) for sentence in sentences], dtype=np.uint64)
        self._starts.write(ends.tobytes())
        self.end = int(ends[-1]) if len(ends) else self.end

    def close(self) -> None:
        """Close the files."""
        for file in (self._ids, self._starts):
            file.close()


def prepare(
    pairs: Iterable[Pair],
    encoders: tuple[Encode, Encode],
    directory: Path,
    rules: Rules,
    *,
    vocabulary: int,
    origin: dict[str, Any],
    on_progress: Callable[[Report], None] = lambda _: None,
) -> "Prepared":
    """Encode the pairs into `directory`, or open what is there if it has the same origin and rules."""
    made_from = {"origin": origin, "rules": asdict(rules), "vocabulary": vocabulary}
    if (known := _read_card(directory)) and known["made_from"] == made_from:
        return Prepared(directory)
    partial = directory.with_name(f"{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _write(pairs, encoders, partial, rules, made_from, on_progress)
    except BaseException:
        shutil.rmtree(partial)
        raise
    shutil.rmtree(directory, ignore_errors=True)
    partial.rename(directory)
    return Prepared(directory)


def _write(
    pairs: Iterable[Pair],
    encoders: tuple[Encode, Encode],
    partial: Path,
    rules: Rules,
    made_from: dict[str, Any],
    on_progress: Callable[[Report], None],
) -> None:
    """All files of a prepared corpus; the card comes last."""
    dtype = "uint16" if made_from["vocabulary"] <= 1 << 16 else "uint32"
    report, counts = _write_sides(pairs, encoders, partial, rules, dtype, on_progress)
    if not report.kept:
        raise UserError(f"no pair is left to train on: {report.read:,} read, dropped {_listed(report.dropped)}")
    cells = np.array(sorted(counts), dtype=np.int64)
    np.save(partial / "cells.npy", np.stack([cells, [counts[int(cell)] for cell in cells]]))
    _write_places(partial, cells, np.load(partial / "cells.npy")[1], rules.max_length)
    card = {"format": FORMAT, "made_from": made_from, "dtype": dtype, "report": asdict(report)}
    (partial / "prepared.json").write_text(json.dumps(card, indent=1), encoding="utf-8")


def _write_sides(
    pairs: Iterable[Pair],
    encoders: tuple[Encode, Encode],
    directory: Path,
    rules: Rules,
    dtype: str,
    on_progress: Callable[[Report], None],
) -> tuple[Report, dict[int, int]]:
    """Encode, apply the rules, write; count what was dropped and how many pairs each cell has."""
    report, counts = Report(), dict[int, int]()
    with ExitStack() as files:
        writers = [files.enter_context(closing(_SideWriter(directory, side, dtype))) for side in SIDES]
        for sides in _encoded(pairs, encoders):
            lengths = [np.array([len(sentence) for sentence in side], dtype=np.int64) for side in sides]
            keep = _apply(rules, lengths, report)
            for writer, side in zip(writers, sides, strict=True):
                writer.write([sentence for sentence, is_kept in zip(side, keep, strict=True) if is_kept])
            numbers = cell_numbers(lengths[0][keep], lengths[1][keep], rules.max_length)
            for number, count in zip(*(x.tolist() for x in np.unique(numbers, return_counts=True)), strict=True):
                counts[number] = counts.get(number, 0) + count
            report.tokens = {side: writer.end for side, writer in zip(SIDES, writers, strict=True)}
            on_progress(report)
    return report, counts


def _apply(rules: Rules, lengths: list[Integers], report: Report) -> NDArray[np.bool_]:
    """Which pairs of a chunk are kept; the report counts them, and the others by their reasons."""
    keep = np.ones(len(lengths[0]), dtype=np.bool_)
    for reason, applies in rules.reasons(*lengths).items():
        report.dropped[reason] = report.dropped.get(reason, 0) + int(applies.sum())
        keep &= ~applies
    report.read += len(keep)
    report.kept += int(keep.sum())
    return keep


def _write_places(directory: Path, cells: Integers, counts: Integers, longest: int) -> None:
    """The numbers of the pairs, those of a cell together, cells in order: a counting sort by chunks."""
    total = int(counts.sum())
    places = np.memmap(directory / "places", dtype=_place_type(total), mode="w+", shape=(total,))
    free = np.cumsum(counts) - counts  # where the next pair of each cell goes
    for start in range(0, total, CHUNK):
        end = min(start + CHUNK, total)
        source, target = (_lengths(directory / f"{side}.starts", start, end) for side in SIDES)
        cell = np.searchsorted(cells, cell_numbers(source, target, longest))
        by_cell = np.argsort(cell, kind="stable")
        times = np.bincount(cell, minlength=len(cells))
        within = np.arange(end - start) - np.repeat(np.cumsum(times) - times, times)
        places[free[cell[by_cell]] + within] = start + by_cell
        free += times
    places.flush()


def _place_type(pairs: int) -> str:
    return "uint32" if pairs <= 1 << 32 else "uint64"


def _lengths(starts: Path, first: int, last: int) -> Integers:
    """Lengths of the sentences from `first` up to `last`."""
    bounds = np.fromfile(starts, dtype=np.uint64, count=last - first + 1, offset=8 * first)
    return (bounds[1:] - bounds[:-1]).astype(np.int64)


def _encoded(pairs: Iterable[Pair], encoders: tuple[Encode, Encode]) -> Iterator[list[list[list[int]]]]:
    """Chunks of sources and targets as ids. While one is being used, the next is encoded in another thread."""
    iterator = iter(pairs)

    def encode_next() -> list[list[list[int]]]:
        chunk = list(islice(iterator, CHUNK))
        return [encode([pair[side] for pair in chunk]) for side, encode in enumerate(encoders)]

    with ThreadPoolExecutor(max_workers=1) as thread:
        sides = encode_next()
        while sides[0]:
            following = thread.submit(encode_next)
            yield sides
            sides = following.result()


def _listed(dropped: dict[str, int]) -> str:
    return ", ".join(f"{count:,} with {reason}" for reason, count in dropped.items() if count) or "none"


def _read_card(directory: Path) -> dict[str, Any] | None:
    """What a prepared corpus says of itself; None where there is none, or one of another format."""
    try:
        card: dict[str, Any] = json.loads((directory / "prepared.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return card if card.get("format") == FORMAT else None


class Prepared:
    """A prepared corpus, open for reading."""

    def __init__(self, directory: Path) -> None:
        card = _read_card(directory)
        if card is None:
            raise UserError(f"{directory} holds no prepared corpus of format {FORMAT}; prepare it again")
        self.directory = directory
        self.report = Report(**card["report"])
        numbers, counts = np.load(directory / "cells.npy")
        self.cells = Cells.of(numbers, counts, card["made_from"]["rules"]["max_length"])
        self._dtype = np.dtype(card["dtype"])
        self._place_width = np.dtype(_place_type(len(self))).itemsize
        self._files = {
            name: os.open(directory / name, os.O_RDONLY)
            for name in ("places", "source.ids", "source.starts", "target.ids", "target.starts")
        }

    def __len__(self) -> int:
        return self.report.kept

    def __getitem__(self, number: int) -> tuple[Ids, Ids]:
        """The ids of the source and of the target of a pair, by its number in the order of the corpus."""
        source, target = (self._sentence(side, number) for side in SIDES)
        return source, target

    def numbers(self, places: Integers) -> list[int]:
        """The numbers of the pairs at places of the sorted order."""
        file, width = self._files["places"], self._place_width
        return [int.from_bytes(os.pread(file, width, width * place), "little") for place in places.tolist()]

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            os.close(file)
        self._files = {}

    def _sentence(self, side: str, number: int) -> Ids:
        start, end = np.frombuffer(os.pread(self._files[f"{side}.starts"], 16, 8 * number), dtype=np.uint64).tolist()
        width = self._dtype.itemsize
        return np.frombuffer(
            os.pread(self._files[f"{side}.ids"], (end - start) * width, start * width), dtype=self._dtype
        )
