"""Lines on standard output, each as a whole, whatever interrupts the command."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def whole_lines() -> Iterator[Callable[[str], None]]:
    """Inside, a function that writes a line, in UTF-8 and at once; Ctrl-C waits until the line is written."""
    out = sys.stdout.buffer
    is_writing = is_interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal is_interrupted
        if not is_writing or is_interrupted:  # the second time, perhaps nobody takes what is being written
            raise KeyboardInterrupt
        is_interrupted = True

    def write(line: str) -> None:
        nonlocal is_writing
        is_writing = True
        out.write(f"{line}\n".encode())
        out.flush()
        is_writing = False
        if is_interrupted:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield write
    finally:
        signal.signal(signal.SIGINT, before)
