"""Pairs of texts -> token ids on disk, encoded once; and ids back by their place.

A prepared corpus is a directory: for each side all ids as one array, in files of bounded size (`source.ids-00000`,
`source.ids-00001`, ...), and where each sentence begins in it (`source.starts`); `places` with the numbers of the pairs
sorted by their two lengths, `cells.npy` with how many pairs have which lengths, and `prepared.json` with what it was
made from and what was kept and dropped. It is written beside its place and renamed when it is whole, so that an
interrupted preparation leaves nothing that could be taken for one.

Reading goes by position in the files and holds nothing: a process that trains on a large corpus is no larger than one
that trains on a small one.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.data.encoding import Tokenizers, encode_pairs
from headway.data.plan import Cells, Integers, cell_numbers
from headway.data.shards import SHARD_BYTES, ShardReader, ShardWriter
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.tokenizer import Joined

FORMAT = 2
SORTED_AT_ONCE = 20_000
"""Pairs whose places are found at once."""
SIDES = ("source", "target")

Ids = NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class Rules:
    """Which pairs are left out. A pair with an empty side always is: nothing can be learned from it."""

    max_length: int
    """Tokens of the longer side."""
    max_ratio: float | None = None
    """How many times longer one side may be than the other."""
    equal_lengths: bool = False
    """Whether both sides must have the same length, as tagging wants it."""

    def reasons(self, source: Integers, target: Integers) -> dict[str, NDArray[np.bool_]]:
        """Which pairs of these lengths each rule leaves out; the first rule that applies counts."""
        shorter, longer = np.minimum(source, target), np.maximum(source, target)
        rules = {
            "an empty side": shorter == 0,
            f"over data.max_length = {self.max_length} tokens": longer > self.max_length,
        }
        if self.max_ratio is not None:
            rules[f"over data.max_ratio = {self.max_ratio:g}"] = longer > self.max_ratio * shorter
        if self.equal_lengths:
            rules["sides of different length, which train.objective = tagging cannot pair"] = longer != shorter
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

    def __init__(self, directory: Path, side: str, dtype: str, shard_bytes: int) -> None:
        self.end = 0
        self._dtype = dtype
        self._ids = ShardWriter(directory, f"{side}.ids", shard_bytes)
        self._starts = (directory / f"{side}.starts").open("wb")
        self._starts.write(np.zeros(1, dtype=np.uint64).tobytes())

    def write(self, sentences: Joined, keep: NDArray[np.bool_]) -> None:
        """Append the sentences that are kept."""
        ids, lengths = sentences
        if not keep.all():
            ids, lengths = ids[np.repeat(keep, lengths)], lengths[keep]
        self._ids.write(ids.astype(self._dtype, copy=False).tobytes())
        self._starts.write((self.end + np.cumsum(lengths)).astype(np.uint64).tobytes())
        self.end += len(ids)

    def close(self) -> None:
        """Close the files."""
        self._ids.close()
        self._starts.close()


def prepare(
    pairs: Iterable[Pair],
    tokenizers: Tokenizers,
    directory: Path,
    rules: Rules,
    *,
    origin: dict[str, Any],
    processes: int | None = None,
    shard_bytes: int = SHARD_BYTES,
    on_progress: Callable[[Report], None] = lambda _: None,
) -> "Prepared":
    """Encode the pairs into `directory`, or open what is there if it has the same origin and rules."""
    made_from = {"origin": origin, "rules": asdict(rules), "vocabulary": max(map(len, tokenizers))}
    if (known := _read_card(directory)) and known["made_from"] == made_from:
        return Prepared(directory)
    partial = directory.with_name(f"{directory.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with closing(encode_pairs(pairs, tokenizers, processes)) as chunks:
            _write(chunks, partial, rules, made_from, shard_bytes, on_progress)
    except BaseException:
        shutil.rmtree(partial)
        raise
    shutil.rmtree(directory, ignore_errors=True)
    partial.rename(directory)
    return Prepared(directory)


def _write(
    chunks: Iterable[list[Joined]],
    partial: Path,
    rules: Rules,
    made_from: dict[str, Any],
    shard_bytes: int,
    on_progress: Callable[[Report], None],
) -> None:
    """All files of a prepared corpus; the card comes last."""
    dtype = "uint16" if made_from["vocabulary"] <= 1 << 16 else "uint32"
    with ExitStack() as files:
        writers = [files.enter_context(closing(_SideWriter(partial, side, dtype, shard_bytes))) for side in SIDES]
        report, counts = _write_sides(chunks, writers, rules, on_progress)
    if not report.kept:
        raise UserError(f"no pair is left to train on: {report.read:,} read, dropped {_listed(report.dropped)}")
    cells = np.array(sorted(counts), dtype=np.int64)
    np.save(partial / "cells.npy", np.stack([cells, [counts[int(cell)] for cell in cells]]))
    _write_places(partial, cells, np.load(partial / "cells.npy")[1], rules.max_length)
    facts = {"dtype": dtype, "shard_bytes": shard_bytes, "report": asdict(report)}
    card = {"format": FORMAT, "made_from": made_from, **facts}
    (partial / "prepared.json").write_text(json.dumps(card, indent=1), encoding="utf-8")


def _write_sides(
    chunks: Iterable[list[Joined]],
    writers: list[_SideWriter],
    rules: Rules,
    on_progress: Callable[[Report], None],
) -> tuple[Report, dict[int, int]]:
    """Apply the rules, write; count what was dropped and how many pairs each cell has."""
    report, counts = Report(), dict[int, int]()
    for sides in chunks:
        lengths = [side.lengths for side in sides]
        keep = _apply(rules, lengths, report)
        for writer, side in zip(writers, sides, strict=True):
            writer.write(side, keep)
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
    for start in range(0, total, SORTED_AT_ONCE):
        end = min(start + SORTED_AT_ONCE, total)
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
            name: os.open(directory / name, os.O_RDONLY) for name in ("places", "source.starts", "target.starts")
        }
        self._ids = {side: ShardReader(directory, f"{side}.ids", card["shard_bytes"]) for side in SIDES}

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
        for ids in self._ids.values():
            ids.close()
        self._files = {}

    def _sentence(self, side: str, number: int) -> Ids:
        start, end = np.frombuffer(os.pread(self._files[f"{side}.starts"], 16, 8 * number), dtype=np.uint64).tolist()
        width = self._dtype.itemsize
        return np.frombuffer(self._ids[side].read(start * width, end * width), dtype=self._dtype)
