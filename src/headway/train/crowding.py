"""Notices that other programs hold the cores that this one computes on.

Threads of a matrix product work in step: when one of them has to wait for a core, the others wait for it, some
thousand times in an update. So a busy core does not cost its share, but many times as much (docs/log.md has figures).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ENOUGH_SECONDS = 10.0
"""Of computing, before anything is said."""
USUAL_SHARE = 0.9
"""Threads that wait for each other keep their cores busy; if those of an update have less than this share of them, the
rest went to others."""


class Crowding:
    """Compares the processor's time that several threads get with the time that passes."""

    def __init__(
        self,
        threads: int,
        clock: Callable[[], float] = time.perf_counter,
        used: Callable[[], float] = time.process_time,
    ) -> None:
        self._threads = threads
        self._clock = clock
        self._used = used
        self._passed = self._got = 0.0

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Inside, all threads are at work."""
        began, had = self._clock(), self._used()
        yield
        self._passed += self._clock() - began
        self._got += self._used() - had

    def look(self) -> str | None:
        """A warning, once, if much of the time went to others."""
        if self._threads < 2 or self._passed < ENOUGH_SECONDS:
            return None
        cores, threads = self._got / self._passed, self._threads
        if cores >= USUAL_SHARE * threads:
            self._passed = self._got = 0.0  # the cores may be taken later
            return None
        self._threads = 1  # nothing more is said
        fewer = max(int(cores), 1)
        return (
            f"other programs keep this machine busy: {threads} threads get {cores:.1f} cores, and each waits for the "
            f"slowest. Fewer are faster then: stop, and go on with --resume --set machine.threads={fewer}"
        )
