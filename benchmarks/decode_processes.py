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
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from headway.export.engine import token_names
from headway.text.specials import EOS
from headway.text.vocabulary import Vocabulary

HEADWAY: Literal["headway"] = "headway"
PROGRAM = Path(__file__).with_name("decode_engines.py")
WARM_UP = 2
"""Batches that are translated before anything is timed."""


@dataclass(frozen=True)
class Row:
    """An engine, and how it uses the machine."""

    name: str
    kind: Literal["headway", "ctranslate2", "huggingface"]
    wanted: dict[str, Any]
    """What its processes load."""
    processes: int = 1
    """Several share the sentences and have one thread each."""
    python: str = sys.executable


class Measurement(NamedTuple):
    """What one turn of a row gave."""

    seconds: float
    """Of all sentences, in batches."""
    latencies: list[float]
    """Seconds of single sentences, one by one."""
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
            env={**shown, "TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error"},
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
        """The most bytes that it has held so far; 0 where there is no /proc."""
        status = Path(f"/proc/{self._process.pid}/status")
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
    def names(self) -> list[str]:
        """Of the tokens of the source, by their ids, as CTranslate2 wants them."""
        return token_names(self.vocabulary.source)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Of the tokens of the target, by their names."""
        return {name: number for number, name in enumerate(token_names(self.vocabulary.target))}

    @property
    def batch_tokens(self) -> int:
        """How many source tokens a batch of sentences has, EOS counted."""
        return round(self.batch * statistics.mean(len(ids) + 1 for ids in self.encoded))

    def measure(self, row: Row, beam: int) -> Measurement:
        """One turn: load, warm up, translate all in batches, then some one by one."""
        size = {"batch_tokens": self.batch_tokens} if row.kind == HEADWAY else {"batch": self.batch}
        wanted = {"kind": row.kind, "beam": beam, **size, **row.wanted}
        given = self.given(row.kind)
        share = -(-len(given) // row.processes)
        shares = [given[start : start + share] for start in range(0, len(given), share)]
        with ExitStack() as stack:
            begin = time.perf_counter()
            processes = [stack.enter_context(Process(row, wanted)) for _ in shares]
            for process in processes:
                process.receive()
            start = time.perf_counter() - begin
            together(processes, [each[: WARM_UP * self.batch] for each in shares])
            begin = time.perf_counter()
            answers = together(processes, shares)
            seconds = time.perf_counter() - begin
            singles = together(processes[:1], [given[: self.singles]], one_by_one=True)
            peak = sum(process.peak_memory() for process in processes)
        found = [self.found(row.kind, output) for answer in answers for output in answer["outputs"]]
        texts, tokens = zip(*found, strict=True)
        return Measurement(seconds, singles[0]["seconds"], list(texts), sum(tokens), peak, start)

    def given(self, kind: str) -> list[Any]:
        """The sentences as an engine takes them."""
        if kind == HEADWAY:
            return self.sentences
        if kind == "huggingface":
            return [[*ids, EOS] for ids in self.encoded]
        return [[self.names[token] for token in ids] for ids in self.encoded]

    def found(self, kind: str, output: list[Any]) -> tuple[str, int]:
        """What an engine wrote: a text, and its number of tokens."""
        if kind == HEADWAY:
            text, tokens = output
            return text, tokens
        if kind == "huggingface":
            ids = output[: output.index(EOS)] if EOS in output else output
        else:
            ids = [self.ids[name] for name in output]
        return self.vocabulary.target.decode(ids).strip(), len(ids) + 1


def together(
    processes: Sequence[Process], shares: Sequence[Sequence[Any]], *, one_by_one: bool = False
) -> list[dict[str, Any]]:
    """The answers of processes that work at the same time."""
    for process, share in zip(processes, shares, strict=True):
        process.send({"sentences": share, "one_by_one": one_by_one})
    return [process.receive() for process in processes]
