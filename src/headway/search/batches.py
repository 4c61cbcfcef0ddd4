"""Items of any number -> batches of about equal length -> results in the order of the items, in constant memory."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain, islice, pairwise
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Batch = tuple[list[int], list[Item]]
"""The numbers of items, counted from 0, and the items."""

FIRST_WINDOW = 256
"""How many items are looked at before the first results: few, as somebody waits for them. Then more and more."""


def in_batches(
    items: Iterable[Item],
    run: Callable[[list[Item]], list[Result]],
    *,
    length: Callable[[Item], int],
    tokens: int,
    window: int,
    first_window: int = FIRST_WINDOW,
    workers: int = 0,
) -> Iterator[Result]:
    """What `run` makes of the items, in their order.

    Of up to `window` items at a time, at first of fewer, those of about equal `length` are run together, `tokens` of
    them at most, padding included. With `workers`, `run` is called from several threads: one batch for each of the
    workers, and one more so that none of them waits. Who looks at one item at a time gets its result before the next
    item is asked for.
    """
    batches = _batches(items, length, tokens, window, first_window, max(workers, 1))
    at_once = workers + 1 if workers and window > 1 else 1
    results: dict[int, Result] = {}
    following = 0
    done = _run_at_once(batches, run, at_once, 2 * window) if at_once > 1 else _run_in_turn(batches, run)
    for numbers, found in done:
        results.update(zip(numbers, found, strict=True))
        while following in results:
            yield results.pop(following)
            following += 1


def _batches(
    items: Iterable[Item], length: Callable[[Item], int], tokens: int, window: int, first_window: int, shares: int
) -> Iterator[Batch[Item]]:
    """The items in batches, those of each window such that all shares have as much to do."""
    source, first, size = iter(items), 0, min(window, first_window)
    while seen := list(islice(source, size)):
        for places in cut_evenly([length(item) for item in seen], tokens, shares):
            yield [first + place for place in places], [seen[place] for place in places]
        first, size = first + len(seen), min(window, 2 * size)


def _run_in_turn(
    batches: Iterable[Batch[Item]], run: Callable[[list[Item]], list[Result]]
) -> Iterator[tuple[list[int], list[Result]]]:
    for numbers, batch in batches:
        yield numbers, run(batch)


def _run_at_once(
    batches: Iterable[Batch[Item]], run: Callable[[list[Item]], list[Result]], at_once: int, most: int
) -> Iterator[tuple[list[int], list[Result]]]:
    """As they are done, but none gets ahead of another by more than `most` items, whose results would pile up.

    Who is interrupted, or wants no more, does not wait for those that are running.
    """
    batches = iter(batches)
    begun = list(islice(batches, 2))
    if len(begun) < 2:  # no thread for a single one
        yield from _run_in_turn(begun, run)
        return
    pool = ThreadPoolExecutor(at_once, "headway-batch")
    running: dict[Future[list[Result]], list[int]] = {}
    try:
        for numbers, batch in chain(begun, batches):
            running[pool.submit(run, batch)] = numbers
            oldest, started = next(iter(running.items()))
            if min(numbers) - min(started) > most:
                yield running.pop(oldest), oldest.result()
            elif len(running) == at_once:
                yield from _done(running)
        while running:
            yield from _done(running)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _done(running: dict[Future[list[Result]], list[int]]) -> Iterator[tuple[list[int], list[Result]]]:
    """Those that are done, at least one; they are then no longer among the running."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        yield running.pop(future), future.result()


def cut_by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The places of all lengths, the longest first, in batches that hold `tokens` once padded; one always fits."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    ends = _ends([lengths[place] for place in order], tokens)
    yield from (order[start:end] for start, end in pairwise([0, *ends]))


def cut_evenly(lengths: Sequence[int], tokens: int, shares: int) -> Iterator[list[int]]:
    """The same in batches as small as they can be while their number is as it was, rounded up to whole shares.

    So none of several workers has to work off a last batch while the others have nothing left.
    """
    if len(lengths) <= shares:
        yield from cut_by_length(lengths, 1)
        return
    longest_first = sorted(lengths, reverse=True)
    most = -(-len(_ends(longest_first, tokens)) // shares) * shares
    sizes = range(1, tokens)
    enough = bisect_left(sizes, True, key=lambda size: len(_ends(longest_first, size)) <= most)
    yield from cut_by_length(lengths, sizes[enough] if enough < len(sizes) else tokens)


def _ends(longest_first: Sequence[int], tokens: int) -> list[int]:
    """Where batches end that hold `tokens` once padded."""
    ends = [0] if longest_first else []
    while ends and ends[-1] < len(longest_first):
        rows = max(tokens // max(longest_first[ends[-1]], 1), 1)
        ends.append(min(ends[-1] + rows, len(longest_first)))
    return ends[1:]
