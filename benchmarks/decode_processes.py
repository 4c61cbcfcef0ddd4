"""The processes of decode_speed.py, seen from the one that measures: what each row of the tables is, and its turns."""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from headway.text.vocabulary import Vocabulary

HEADWAY: Literal["headway"] = "headway"
FROM_TOKENS: Literal["ctranslate2_tokens"] = "ctranslate2_tokens"
PROGRAM = Path(__file__).with_name("decode_engines.py")
WARM_UP = 2
"""Batches that are translated before anything is timed."""
PAUSE = 0.25
"""Seconds before each turn: threads of the one before may spin as long while they wait for more."""


@dataclass(frozen=True)
class Row:
    """An engine, and how it uses the machine."""

    name: str
    kind: Literal["headway", "ctranslate2", "ctranslate2_tokens", "huggingface"]
    wanted: dict[str, Any]
    """What its processes load."""
    processes: int = 1
    """Several share the sentences and have one thread each."""
    python: str = sys.executable


class Measurement(NamedTuple):
    """What all turns of a row gave."""

    seconds: list[float]
    """Of all sentences, in batches; one number a round."""
    latencies: list[list[float]]
    """Of each single sentence, in each round."""
    texts: list[str]
    tokens: int
    """Written in all, EOS counted."""
    peak: int
    """Bytes of all processes together, each at its own peak."""
    start: float
    """Seconds until the engine was loaded."""


class Process:
    """A process with an engine."""

    def __init__(self, row: Row, wanted: dict[str, Any]) -> None:
        shown = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        if row.processes > 1:
            shown["OMP_NUM_THREADS"] = "1"
        self.name = row.name
        self._process = subprocess.Popen(
            [row.python, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**shown, "TRANSFORMERS_VERBOSITY": "error"},
        )
        self.send(wanted)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def send(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} has ended with code {self._process.wait()}; its message stands above")
        return json.loads(line)

    def peak_memory(self) -> int:
        """The most bytes that it and the processes it has started have held so far; 0 where there is no /proc."""
        own = Path(f"/proc/{self._process.pid}")
        children = [pid for path in own.glob("task/*/children") for pid in path.read_text().split()]
        return sum(map(held_at_most, [own, *(Path("/proc", pid) for pid in children)]))


def held_at_most(process: Path) -> int:
    """The most bytes that a process has held, from its folder in /proc."""
    status = process / "status"
    found = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


@dataclass(frozen=True)
class Bench:
    """What all rows translate, and in which portions."""

    vocabulary: Vocabulary
    sentences: list[str]
    batch: int
    """Sentences of a batch; our engines, which count tokens, are given as many tokens as so many sentences have."""
    singles: int
    """How many sentences are translated one by one."""

    @cached_property
    def encoded(self) -> list[list[int]]:
        return [self.vocabulary.source.encode(each) for each in self.sentences]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Of the tokens of the target, by their names."""
        return {name: number for number, name in enumerate(self.vocabulary.target.names)}

    @property
    def batch_tokens(self) -> int:
        """How many source tokens a batch of sentences has, EOS counted."""
        return round(self.batch * statistics.mean(len(ids) + 1 for ids in self.encoded))

    def given(self, kind: str) -> list[Any]:
        """The sentences as an engine takes them."""
        if kind != FROM_TOKENS:
            return self.sentences
        names = self.vocabulary.source.names
        return [[names[token] for token in ids] for ids in self.encoded]

    def found(self, kind: str, output: list[Any]) -> tuple[str, int]:
        """What an engine wrote: a text, and its number of tokens."""
        if kind != FROM_TOKENS:
            text, tokens = output
            return text, tokens
        ids = [self.ids[name] for name in output]
        return self.vocabulary.target.decode(ids).strip(), len(ids) + 1


class Loaded:
    """The processes of a row, with their engine loaded and warmed up; between its turns they wait."""

    def __init__(self, bench: Bench, row: Row, beam: int) -> None:
        self.bench = bench
        self.row = row
        self._given = bench.given(row.kind)
        self._outputs: list[Any] = []
        self._seconds: list[float] = []
        self._latencies: list[list[float]] = []
        size = {"batch_tokens": bench.batch_tokens} if row.kind == HEADWAY else {"batch": bench.batch}
        wanted = {"kind": row.kind, "beam": beam, **size, **row.wanted}
        begin = time.perf_counter()
        with ExitStack() as stack:
            self._processes = [stack.enter_context(Process(row, wanted)) for _ in range(row.processes)]
            for process in self._processes:
                process.receive()
            self._start = time.perf_counter() - begin
            self._ask([share[: WARM_UP * bench.batch] for share in self._shares()])
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def translate_all(self) -> float:
        """Begin a round: all sentences, in batches. Gives the seconds it took."""
        time.sleep(PAUSE)
        begin = time.perf_counter()
        answers = self._ask(self._shares())
        self._seconds.append(time.perf_counter() - begin)
        rounds = zip_longest(*(answer["outputs"] for answer in answers))
        self._outputs = [output for each in rounds for output in each][: len(self._given)]
        self._latencies.append([])
        return self._seconds[-1]

    def translate_one(self, place: int) -> None:
        """The sentence at that place, alone."""
        time.sleep(PAUSE)
        self._latencies[-1].append(self._ask([self._given[place : place + 1]])[0]["seconds"])

    def measurement(self) -> Measurement:
        """What all rounds gave."""
        found = [self.bench.found(self.row.kind, output) for output in self._outputs]
        texts, tokens = zip(*found, strict=True)
        peak = sum(process.peak_memory() for process in self._processes)
        return Measurement(self._seconds, self._latencies, list(texts), sum(tokens), peak, self._start)

    def _shares(self) -> list[list[Any]]:
        """The sentences of each process, dealt out one by one, as several processes of ours share them."""
        return [self._given[place :: self.row.processes] for place in range(self.row.processes)]

    def _ask(self, shares: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        """The answers of as many processes as there are shares, which work at the same time."""
        asked = self._processes[: len(shares)]
        for process, share in zip(asked, shares, strict=True):
            process.send({"sentences": share})
        return [process.receive() for process in asked]
