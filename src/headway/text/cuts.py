r"""Where a text may be cut so that its parts, tokenized one by one, give the tokens of the whole.

Tokens never cross the words of `learn.WORDS`, and a word begins at every space that stands before anything but space:
` ?` takes one space along, and `\s+(?!\S)` leaves that one behind. Nor does normalisation reach across: no character
composes with a space that follows it. So a cut before such a space is exact, whatever stands before it.

What follows the space must not be space after normalisation either, and NFKC writes some signs as a space and an
accent.
"""

import re

BECOME_SPACE = (
    "\u00a8\u00af\u00b4\u00b8\u02d8-\u02dd\u037a\u0384\u0385\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed\u1fee"
    "\u1ffd\u1ffe\u2017\u203e\u309b\u309c\ufc5e-\ufc63\ufe49-\ufe4c\ufe70\ufe72\ufe74\ufe76\ufe78\ufe7a\ufe7c\ufe7e\uffe3"
)
"""The characters, beside white space, that begin with a space in NFKC; as ranges of a regular expression."""

_CUT = re.compile(rf" (?=[^\s{BECOME_SPACE}])")
_SPACE_TO_KEEP = re.compile(rf" (?![^\s{BECOME_SPACE}])")


def cut(text: str) -> list[str]:
    """The parts of a text; before each but the first stood a space, which is left out."""
    # Most texts have no other spaces, and then splitting at all of them is the same and three times as fast.
    return _CUT.split(text) if _SPACE_TO_KEEP.search(text) else text.split(" ")
