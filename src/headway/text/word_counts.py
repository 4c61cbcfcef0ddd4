"""Lines of text -> how often each word occurs in them."""

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice

from headway.text.cuts import FIRST, cut

BLOCK = 2000
"""Lines that are counted at once."""
LIMIT = 1 << 18
"""Parts of lines that are kept until they are cut into words."""


def count_words(lines: Iterable[str], words: Callable[[str], Iterable[str]]) -> Counter[str]:
    """The words that `words` cuts lines into, counted; it is asked once for a part of a line that occurs often."""
    counts: Counter[str] = Counter()
    parts: Counter[str] = Counter()
    remaining = iter(lines)
    while block := list(islice(remaining, BLOCK)):
        parts.update(cut(block).parts)
        if len(parts) > LIMIT:
            _move(parts, words, counts)
    _move(parts, words, counts)
    return counts


def _move(parts: Counter[str], words: Callable[[str], Iterable[str]], counts: Counter[str]) -> None:
    """Count the words of parts instead of the parts."""
    alike: dict[int, list[str]] = {}
    for part, count in parts.items():
        if part.startswith(FIRST):
            for word in words(part.removeprefix(FIRST)):
                counts[word] += count
        else:
            alike.setdefault(count, []).append(part)
    for count, several in alike.items():
        for start in range(0, len(several), BLOCK):  # as one text, which is faster than one by one
            for word in words(" " + " ".join(several[start : start + BLOCK])):
                counts[word] += count
    parts.clear()
