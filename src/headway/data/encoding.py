"""Pairs of texts -> their token ids, chunk by chunk, in order; a large corpus on all cores.

Looking up words holds Python's lock, so that cores are kept busy by processes, not by threads. They are plain
subprocesses with pipes rather than those of `multiprocessing`, which would run the user's script again, send pickles,
and live on when this process is killed. A corpus of a few chunks is encoded here: processes take a moment to start.
"""

import json
import os
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import chain, islice

from headway.data.encoding_worker import receive_joined, send, send_texts
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.tokenizer import Joined, Tokenizer

CHUNK = 10_000
"""Pairs that are encoded at once."""
ALONE = 4
"""Chunks for which no processes are started."""
MOST_PROCESSES = 4
"""More would wait for this process, which reads and writes."""

Tokenizers = tuple[Tokenizer, Tokenizer]
Texts = list[tuple[str, ...]]
Sides = list[Joined]


def encode_pairs(
    pairs: Iterable[Pair], tokenizers: Tokenizers, processes: int | None = None
) -> Generator[Sides, None, None]:
    """The ids of the two sides of each chunk, by as many processes as there are cores; 1 is this one alone."""
    count = min(_cores(), MOST_PROCESSES) if processes is None else processes
    chunks = _chunks(pairs)
    ahead = list(islice(chunks, ALONE + 1)) if count > 1 else []
    if len(ahead) > ALONE:
        yield from _encode_in_processes(chain(ahead, chunks), tokenizers, count)
    else:
        for texts in chain(ahead, chunks):
            yield [tokenizer.encode_joined(side) for tokenizer, side in zip(tokenizers, texts, strict=True)]


def _chunks(pairs: Iterable[Pair]) -> Iterator[Texts]:
    """The texts of the two sides of as many pairs as are encoded at once."""
    remaining = iter(pairs)
    while chunk := list(islice(remaining, CHUNK)):
        yield list(zip(*chunk, strict=True))


def _encode_in_processes(chunks: Iterable[Texts], tokenizers: Tokenizers, count: int) -> Iterator[Sides]:
    with ExitStack() as stack:
        free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        for _ in range(count):
            free.put(stack.enter_context(closing(_Worker(tokenizers))))
        threads = stack.enter_context(ThreadPoolExecutor(count))
        stack.callback(threads.shutdown, cancel_futures=True)

        def encode(texts: Texts) -> Sides:
            worker = free.get()
            try:
                return worker.encode(texts)
            finally:
                free.put(worker)

        waiting: deque[Future[Sides]] = deque()
        for texts in chunks:
            waiting.append(threads.submit(encode, texts))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Worker:
    """A process that encodes texts with the tokenizers it was given."""

    def __init__(self, tokenizers: Tokenizers) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "headway.data.encoding_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},  # one core is its share
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._tokenizers: bytes | None = json.dumps([tokenizer.to_json() for tokenizer in tokenizers]).encode()

    def encode(self, texts: Texts) -> Sides:
        """The ids of both sides."""
        try:
            if self._tokenizers is not None:
                send(self._input, self._tokenizers)
                self._tokenizers = None
            for side in texts:
                send_texts(self._input, side)
            self._input.flush()
            return [receive_joined(self._output) for _ in texts]
        except (EOFError, BrokenPipeError):
            raise UserError(
                f"a process that encodes text has ended with code {self._process.wait()}; if it was killed, there may "
                "be too little memory"
            ) from None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
