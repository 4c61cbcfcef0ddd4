"""Lines of text -> how often each word occurs in them."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain, islice

from headway.text.cuts import cut

BLOCK = 10_000
"""Lines that are counted at once."""
LIMIT = 1 << 18
"""Parts of lines that are kept until they are cut into words."""


def count_words(lines: Iterable[str], words: Callable[[str], Iterable[str]]) -> Counter[str]:
    """The words that `words` cuts lines into, counted; it is asked once for a part of a line that occurs often."""
    counts: Counter[str] = Counter()
    first: Counter[str] = Counter()
    later: Counter[str] = Counter()
    remaining = iter(lines)
    while block := list(islice(remaining, BLOCK)):
        rows = [cut(line) for line in block]
        first.update([parts[0] for parts in rows])
        later.update(chain.from_iterable(parts[1:] for parts in rows))
        if len(first) + len(later) > LIMIT:
            _move(first, later, words, counts)
    _move(first, later, words, counts)
    return counts


def _move(
    first: Counter[str], later: Counter[str], words: Callable[[str], Iterable[str]], counts: Counter[str]
) -> None:
    """Count the words of parts instead of the parts."""
    for part, count in first.items():
        for word in words(part):
            counts[word] += count
    alike: dict[int, list[str]] = {}
    for part, count in later.items():
        alike.setdefault(count, []).append(part)
    for count, parts in alike.items():
        for start in range(0, len(parts), BLOCK):  # as one text, which is faster than one by one
            for word in words(" " + " ".join(parts[start : start + BLOCK])):
                counts[word] += count
    first.clear()
    later.clear()
