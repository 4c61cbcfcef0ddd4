"""A prepared corpus -> batches without end, from any position, for any rank.

Where a run is in its data is two numbers, epoch and batch; a loader that starts there gives the same batches as one
that came there. All ranks plan the same batches and each takes its share of the rows of every one, so that ranks
partition the epoch exactly, take the same number of steps, and together see what one process would.
"""

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from headway.data.plan import plan_epoch
from headway.data.prepared import Ids, Prepared

Made = TypeVar("Made")


class Position(NamedTuple):
    """Where in the data a run stands: the next batch to be given."""

    epoch: int
    batch: int


START = Position(0, 0)


@dataclass(frozen=True)
class Rows:
    """The pairs of a batch that are one rank's."""

    numbers: list[int]
    """Their numbers in the corpus."""
    pairs: list[tuple[Ids, Ids]]
    """Their ids."""
    keys: list[tuple[int, ...]]
    """For each, what decides about chance in this epoch."""
    following: Position
    """Where a loader must start to go on after this batch."""


class Loader(Generic[Made]):
    """Batches of `prepared`, made by `make` from the rows, with a thread that works ahead."""

    def __init__(
        self,
        prepared: Prepared,
        make: Callable[[Rows], Made],
        *,
        tokens: int,
        seed: int,
        mix: int = 1,
        rank: int = 0,
        ranks: int = 1,
        ahead: int = 4,
    ) -> None:
        self.prepared = prepared
        self.make = make
        self.tokens = tokens
        self.seed = seed
        self.mix = mix
        self.rank = rank
        self.ranks = ranks
        self.ahead = ahead

    def epoch(self, epoch: int, first: int = 0) -> Iterator[Rows]:
        """This rank's rows of the batches of one epoch, from batch `first` on."""
        plan = plan_epoch(self.prepared.cells, self.tokens, self.seed, epoch, self.mix)
        for number in range(first, len(plan)):
            numbers = self.prepared.numbers(plan.places(number))[self.rank :: self.ranks]
            is_last = number + 1 == len(plan)
            yield Rows(
                numbers,
                [self.prepared[n] for n in numbers],
                [(self.seed, epoch, n) for n in numbers],
                Position(epoch + 1, 0) if is_last else Position(epoch, number + 1),
            )

    def rows(self, start: Position = START) -> Iterator[Rows]:
        """This rank's rows of every batch from `start` on, epoch after epoch."""
        epoch, batch = start
        while True:
            yield from self.epoch(epoch, batch)
            epoch, batch = epoch + 1, 0

    def batches(self, start: Position = START) -> Generator[tuple[Made, Position]]:
        """What `make` makes of the rows, and where to start to go on after it. Close the iterator to end the thread."""
        ready: queue.Queue[tuple[Made, Position] | Exception] = queue.Queue(self.ahead)
        is_over = threading.Event()

        def work() -> None:
            try:
                for rows in self.rows(start):
                    if not _put(ready, (self.make(rows), rows.following), is_over):
                        return
            except Exception as error:
                _put(ready, error, is_over)

        thread = threading.Thread(target=work, name="headway-loader", daemon=True)
        thread.start()
        try:
            while True:
                item = ready.get()
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            is_over.set()
            thread.join()


def _put(target: queue.Queue, item: object, is_over: threading.Event) -> bool:  # type: ignore[type-arg]
    """Put an item as soon as there is room; False if nobody wants it any more."""
    while not is_over.is_set():
        try:
            target.put(item, timeout=0.1)
        except queue.Full:
            continue
        return True
    return False
