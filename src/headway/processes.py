"""Work that is shared out to other processes, whose answers come back in order.

They are plain subprocesses with pipes rather than those of `multiprocessing`, which would run the user's script again,
send pickles, and live on when this process is killed. A process is told once what it is for, its order, and is then
asked again and again; it ends when its input does, so that it never outlives the one that started it.
"""

import os
import queue
import signal
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from typing import IO, TypeVar

from headway.errors import UserError

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Talk = Callable[[IO[bytes], IO[bytes]], None]
"""Reads a question from the one stream and writes its answer to the other."""


class LostProcessError(UserError):
    """A process that was to answer has ended."""


_SIZE = struct.Struct("<Q")


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a message."""
    stream.write(_SIZE.pack(len(data)))
    stream.write(data)


def receive(stream: IO[bytes]) -> bytes:
    """Read a message; raises EOFError if there is none, or only a part."""
    size = stream.read(_SIZE.size)
    data = stream.read(_SIZE.unpack(size)[0]) if len(size) == _SIZE.size else b""
    if len(size) < _SIZE.size or len(data) < _SIZE.unpack(size)[0]:
        raise EOFError
    return data


def serve(begin: Callable[[bytes], Talk]) -> None:
    """What a process does: begin by its order, then answer questions until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    source, target = sys.stdin.buffer, sys.stdout.buffer
    talk = begin(receive(source))
    while True:
        try:
            talk(source, target)
        except EOFError:
            return
        target.flush()


class Worker:
    """A process that runs a module of ours; `does` says in an error what it is for, as in "encodes text"."""

    def __init__(self, module: str, order: bytes, does: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},  # one core is its share
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._order: bytes | None = order
        self._does = does

    def ask(self, write: Callable[[IO[bytes]], None], read: Callable[[IO[bytes]], Answer]) -> Answer:
        """Write a question, and read its answer."""
        try:
            if self._order is not None:
                send(self._input, self._order)
                self._order = None
            write(self._input)
            self._input.flush()
            return read(self._output)
        except (EOFError, BrokenPipeError):
            raise LostProcessError(
                f"a process that {self._does} has ended with code {self._process.wait()}; if it was killed, there may "
                "be too little memory for so many"
            ) from None

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError):  # what was never sent cannot be flushed
                pipe.close()


def share_out(
    questions: Iterable[Question],
    count: int,
    start: Callable[[], Worker],
    ask: Callable[[Worker, Question], Answer],
) -> Generator[Answer, None, None]:
    """The answers of `count` workers to questions, in order; a few questions are asked ahead."""
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(count))  # left last, when nothing keeps a thread waiting
        free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for _ in range(count):
            free.put(stack.enter_context(closing(start())))
        stack.callback(threads.shutdown, wait=False, cancel_futures=True)

        def answer(question: Question) -> Answer:
            worker = free.get()
            try:
                return ask(worker, question)
            finally:
                free.put(worker)

        waiting: deque[Future[Answer]] = deque()
        for question in questions:
            waiting.append(threads.submit(answer, question))
            if len(waiting) > 2 * count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
