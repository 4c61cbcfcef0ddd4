"""Lines -> translations, in order, by one engine or by several processes at once.

CTranslate2 has workers of its own. With our own engine, several processes of one thread each translate more sentences
in a second than one process of several threads. They are plain subprocesses with pipes, as in `headway.data.encoding`,
and take a moment to start.
"""

import json
import os
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any

from headway.data.encoding_worker import receive, send
from headway.errors import UserError
from headway.search.translations import Line, Output, Translation
from headway.search.translator import OnWarning, Translator
from headway.tasks.engines import Notice, OnNotice, Request, Wishes, fast_engine
from headway.tasks.loading import ignore, make_translator, open_request

CHUNK = 512
"""Lines that a process translates at once: enough to find batches of equal length among them."""


@dataclass(frozen=True)
class Order:
    """What to load, and what to write with it."""

    run: str
    checkpoint: str | None = None
    settings: tuple[str, ...] = ()
    ensemble: tuple[str, ...] = ()
    alignments: bool = False
    engine: str = "auto"
    quantization: str | None = None
    probabilities: bool = True
    """Whether those of single tokens are wanted."""

    def request(self, workers: int | None = None) -> Request:
        """What is wanted of the run."""
        wishes = Wishes(self.engine, self.quantization, workers, self.probabilities, self.alignments)
        return open_request(self.run, self.checkpoint, self.settings, self.ensemble, wishes)

    def load(self, workers: int | None = None, on_notice: OnNotice = ignore) -> Translator:
        """The translator."""
        request = self.request(workers)
        return make_translator(request, fast_engine(request, on_notice), on_notice)

    def translate(
        self,
        lines: Iterable[str | Line],
        on_warning: OnWarning,
        workers: int | None = None,
        on_notice: OnNotice = ignore,
    ) -> Iterator[Translation]:
        """The translations of lines, in constant memory.

        Several workers are threads of CTranslate2 in this process, or processes with our own engine, of one thread
        each; by default as many as is best for CTranslate2, and one for our own.
        """
        request = self.request(workers)
        engine = fast_engine(request, on_notice)
        if engine is None and workers is not None and workers > 1:
            on_notice(Notice(f"engine torch: fp32, workers: {workers} processes, threads of each: 1"))
            return _translate_in_processes(replace(self, engine="torch"), lines, on_warning, workers)
        translator = make_translator(request, engine, on_notice)
        return translator.translate_stream(lines, alignments=self.alignments, on_warning=on_warning)


@dataclass(frozen=True)
class Answer:
    """What a process made of a chunk."""

    translations: list[Translation]
    warnings: list[tuple[int, str]]

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> "Answer":
        """From what a process has sent."""
        return cls([_translation(**each) for each in answer["translations"]], [tuple(w) for w in answer["warnings"]])


def _translation(n_best: list[dict[str, Any]], alignment: list[list[int]] | None, **facts: Any) -> Translation:
    pairs = None if alignment is None else [(source, target) for source, target in alignment]
    return Translation(n_best=[Output(**each) for each in n_best], alignment=pairs, **facts)


def _translate_in_processes(
    order: Order, lines: Iterable[str | Line], on_warning: OnWarning, count: int
) -> Iterator[Translation]:
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(count))  # left last, when nothing keeps a thread waiting
        free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):
            free.put(stack.enter_context(closing(_Worker(order))))
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)

        def translate(first: int, chunk: list[str | Line]) -> Answer:
            worker = free.get()
            try:
                return worker.translate(first, chunk)
            finally:
                free.put(worker)

        waiting: deque[Future[Answer]] = deque()
        for first, chunk in _chunks(lines):
            waiting.append(threads.submit(translate, first, chunk))
            if len(waiting) > 2 * count:
                yield from _told(waiting.popleft().result(), on_warning)
        while waiting:
            yield from _told(waiting.popleft().result(), on_warning)


def _chunks(lines: Iterable[str | Line]) -> Iterator[tuple[int, list[str | Line]]]:
    """As many lines as are translated at once, and the number of the first, counted from 1."""
    remaining = iter(lines)
    first = 1
    while chunk := list(islice(remaining, CHUNK)):
        yield first, chunk
        first += len(chunk)


def _told(answer: Answer, on_warning: OnWarning) -> Iterator[Translation]:
    for number, text in answer.warnings:
        on_warning(number, text)
    yield from answer.translations


class _Worker:
    """A process that translates."""

    def __init__(self, order: Order) -> None:
        alone = replace(order, settings=("machine.threads=1", *order.settings))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "headway.tasks.translation_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},  # one core is its share
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._order: bytes | None = json.dumps(asdict(alone)).encode()

    def translate(self, first: int, lines: list[str | Line]) -> Answer:
        """The translations of lines, of which the first has that number."""
        asked = [asdict(line) if isinstance(line, Line) else {"text": line} for line in lines]
        try:
            if self._order is not None:
                send(self._input, self._order)
                self._order = None
            send(self._input, json.dumps({"first": first, "lines": asked}).encode())
            self._input.flush()
            answer = json.loads(receive(self._output))
        except (EOFError, BrokenPipeError):
            raise UserError(
                f"a process that translates has ended with code {self._process.wait()}; if it was killed, there may be "
                "too little memory for so many workers"
            ) from None
        if "error" in answer:
            raise UserError(answer["error"])
        return Answer.from_json(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError):  # what was never sent cannot be flushed
                pipe.close()
