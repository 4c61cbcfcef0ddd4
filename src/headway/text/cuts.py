r"""Where a text may be cut so that its parts, tokenized one by one, give the tokens of the whole.

Tokens never cross the words of `learn.WORDS`, and a word begins at every space that stands before anything but space:
` ?` takes one space along, and `\s+(?!\S)` leaves that one behind. Nor does normalisation reach across: no character
composes with a space that follows it. So a cut before such a space is exact, whatever stands before it.

What follows the space must not be space after normalisation either, and NFKC writes some signs as a space and an
accent.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

BECOME_SPACE = (
    "\u00a8\u00af\u00b4\u00b8\u02d8-\u02dd\u037a\u0384\u0385\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed\u1fee"
    "\u1ffd\u1ffe\u2017\u203e\u309b\u309c\ufc5e-\ufc63\ufe49-\ufe4c\ufe70\ufe72\ufe74\ufe76\ufe78\ufe7a\ufe7c\ufe7e\uffe3"
)
"""The characters, beside white space, that begin with a space in NFKC; as ranges of a regular expression."""

FIRST = "\0"
"""Marks the part that a text begins with, which has no space before it."""

BLOCK = 200
"""Texts that are cut at once. One with odd spaces makes cutting slow for all of them."""

_CUT = re.compile(rf" (?=[^\s{FIRST}{BECOME_SPACE}])")
_SPACE_TO_KEEP = re.compile(rf" (?![^\s{BECOME_SPACE}])")


class Parts(NamedTuple):
    """The parts of several texts."""

    parts: list[str]
    """One text after the other. The first part of each has a mark before it; before the others stood a space."""
    counts: list[int]
    """How many parts each text has."""


def cut(texts: Sequence[str]) -> Parts:
    """Cut texts, many at once where their spaces are as usual."""
    parts, counts = Parts([], [])
    for start in range(0, len(texts), BLOCK):
        block = texts[start : start + BLOCK]
        joined = FIRST + f" {FIRST}".join(block)
        usual = not _SPACE_TO_KEEP.search(joined) and joined.count(f" {FIRST}") == len(block) - 1
        more = Parts(joined.split(" "), [text.count(" ") + 1 for text in block]) if usual else cut_one_by_one(block)
        parts += more.parts
        counts += more.counts
    return Parts(parts, counts)


def cut_one_by_one(texts: Sequence[str]) -> Parts:
    """The same, plainly; it takes several times as long."""
    rows = [_CUT.split(FIRST + text) for text in texts]
    return Parts([part for row in rows for part in row], [len(row) for row in rows])
