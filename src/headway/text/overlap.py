"""The texts of held-out sets -> which of them another corpus has, too, whatever their case and white space.

Of a held-out set all folded texts stay in memory as hashes, so that any other corpus can stream by.
"""

import unicodedata
from collections.abc import Iterator
from typing import Literal

from headway.text.corpus import Pair
from headway.text.findings import EXAMPLES, Example, Finding, example, judge
from headway.text.survey import hash_bytes

Form = Literal["NFC", "NFKC"]
KINDS = ("pairs", "sources", "targets")
Keys = list[tuple[str, int]]
"""For each kind, the hash of a folded text."""


class HeldOut:
    """The folded texts of a set that nothing else should have: hashes, by pair and by side."""

    def __init__(self) -> None:
        self.pairs = 0
        self.lines: dict[str, dict[int, list[int]]] = {kind: {} for kind in KINDS}
        self._overlaps: list[Overlap] = []

    def add(self, line: int, keys: Keys) -> None:
        """Take in a pair of the set."""
        self.pairs += 1
        for kind, key in keys:
            self.lines[kind].setdefault(key, []).append(line)

    def compare_with(self, other: str, unit: str) -> "Overlap":
        """Begin to look for the set in another corpus."""
        self._overlaps.append(Overlap(self, other, unit))
        return self._overlaps[-1]

    def findings(self) -> list[Finding]:
        """How much of the set each of the other corpora has; training, which is compared last, comes first."""
        return [finding for overlap in reversed(self._overlaps) for finding in overlap.findings()]


class Overlap:
    """What a held-out set shares with another corpus, `training` or `validation`, whose pair n is its `unit` n."""

    def __init__(self, held_out: HeldOut, other: str, unit: str) -> None:
        self.held_out, self.other, self.unit = held_out, other, unit
        self._met: dict[str, set[int]] = {kind: set() for kind in KINDS}
        self._examples: dict[str, list[Example]] = {kind: [] for kind in KINDS}

    def meet(self, line: int, pair: Pair, keys: Keys) -> None:
        """See whether a pair of the other corpus is in the set."""
        for kind, key in keys:
            if key in self.held_out.lines[kind] and key not in self._met[kind]:
                self._met[kind].add(key)
                if len(self._examples[kind]) < EXAMPLES:
                    texts = {"pairs": tuple(pair), "sources": pair[:1], "targets": pair[1:]}[kind]
                    note = f"{self.unit} {line:,} of {self.other}"
                    self._examples[kind].append(example(self.held_out.lines[kind][key][0], texts, note))

    def findings(self) -> Iterator[Finding]:
        """How many pairs of the set the other corpus has, whole or one side of them."""
        for kind in KINDS:
            lines = self.held_out.lines[kind]
            count = sum(len(lines[key]) for key in self._met[kind])
            yield judge(f"{kind}_in_{self.other}", count, self.held_out.pairs, self._examples[kind])


def folded_keys(pair: Pair, form: Form) -> Keys:
    """By which a pair and its sides are found again; what is empty has none."""
    source, target = (fold(text, form).encode() for text in pair)
    texts = (source and target and source + b"\xff" + target, source, target)
    return [(kind, hash_bytes(text)) for kind, text in zip(KINDS, texts, strict=True) if text]


def fold(text: str, form: Form = "NFC") -> str:
    """The text without what makes no difference between two sentences: case, and how much white space."""
    if not text.isascii():
        text = unicodedata.normalize(form, text)
    return " ".join(text.casefold().split())
