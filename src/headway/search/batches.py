"""Items of any number -> batches of about equal length -> results in the order of the items, in constant memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_batches(
    items: Iterable[Item],
    run: Callable[[list[Item]], list[Result]],
    *,
    length: Callable[[Item], int],
    tokens: int,
    window: int,
) -> Iterator[Result]:
    """What `run` makes of the items, in their order.

    Of `window` items at a time, those of about equal `length` are run together, `tokens` of them at most, padding
    included.
    """
    source = iter(items)
    while seen := list(islice(source, window)):
        results: dict[int, Result] = {}
        for places in cut_by_length([length(item) for item in seen], tokens):
            results.update(zip(places, run([seen[place] for place in places]), strict=True))
        yield from (results[place] for place in range(len(seen)))


def cut(items: Sequence[Item], length: Callable[[Item], int], tokens: int) -> Iterator[list[Item]]:
    """The items in batches of about equal `length`, `tokens` of them at most once padded; one always fits."""
    for places in cut_by_length([length(item) for item in items], tokens):
        yield [items[place] for place in places]


def cut_by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """The places of all lengths, the longest first, in batches that hold `tokens` once padded; one always fits."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(tokens // max(lengths[order[start]], 1), 1)
        yield order[start : start + size]
        start += size
