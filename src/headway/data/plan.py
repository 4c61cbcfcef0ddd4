"""Lengths -> the batches of an epoch, as a pure function of (lengths, budget, seed, epoch).

Section 5.1 of the paper: pairs of about the same length go together, and a batch has about N source tokens and about N
target tokens. Padding counts.

Pairs with the same two lengths form a *cell*. An epoch strings the cells on a *line* along which both lengths change
slowly: target lengths in groups, from short to long, and within a group source lengths up and, in the next group, down
again. It shuffles every cell, cuts the line into batches, and shuffles the batches. The size of the groups and the
first cut are drawn anew for each epoch, so that a pair meets others each time. Nothing is kept but the cells and the
cuts: which pairs a batch has is computed when it is asked for.

Sentences of one length teach much about this length, and what the next batch teaches contradicts it. So batches may be
*mixed*: the pairs of several are put together and dealt out again, so that each has some of all their lengths.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.data.shuffle import Shuffle

Integers = NDArray[np.int64]

GROUP_BATCHES = (2.0, 7.0)
"""How many batches a group of target lengths holds at least, drawn between these. On Multi30k at 4,096 tokens, from 1
to 8 pad about 4% of the tokens; 1 pads the sources most, 8 the targets."""


@dataclass(frozen=True)
class Cells:
    """The pairs of lengths that occur. On disk, the pairs of a cell stand together, and cells in this order."""

    source: Integers
    target: Integers
    counts: Integers

    @classmethod
    def of(cls, numbers: Integers, counts: Integers, longest: int) -> "Cells":
        """From the numbers of the cells, as `cell_numbers` gives them, in order, and how many pairs each has."""
        target, source = np.divmod(numbers, longest + 1)
        return cls(source, target, counts)

    @cached_property
    def starts(self) -> Integers:
        """Where each cell begins on disk."""
        return np.cumsum(self.counts) - self.counts


def cell_numbers(source_lengths: Integers, target_lengths: Integers, longest: int) -> Integers:
    """The number of each pair's cell; lengths are at most `longest`."""
    return target_lengths * (longest + 1) + source_lengths


@dataclass(frozen=True)
class Plan:
    """The batches of one epoch."""

    cells: Cells
    line: Integers
    """Which cell is the k-th of the line."""
    starts: Integers
    """Where the k-th cell of the line begins on it; at the end, where the line ends."""
    cuts: Integers
    """Where batches begin on the line; at the end, where the line ends."""
    order: Integers
    """Which batch of the line is the k-th of the epoch."""
    key: tuple[int, int]
    """Seed and epoch."""
    mix: int
    """How many consecutive batches are mixed."""

    def __len__(self) -> int:
        return len(self.order)

    def places(self, number: int) -> Integers:
        """Where the pairs of the `number`-th batch stand on disk."""
        first = number - number % self.mix
        mixed = self.order[first : first + self.mix]
        return np.concatenate([self._unmixed(batch) for batch in mixed])[number - first :: len(mixed)]

    def _unmixed(self, batch: int) -> Integers:
        """Where the pairs between two cuts of the line stand on disk."""
        places = np.arange(self.cuts[batch], self.cuts[batch + 1])
        cells = np.searchsorted(self.starts, places, side="right") - 1  # on the line
        on_disk = np.empty_like(places)
        for cell in np.unique(cells):
            inside = cells == cell
            known = int(self.line[cell])
            shuffle = Shuffle(int(self.cells.counts[known]), (*self.key, known))
            on_disk[inside] = self.cells.starts[known] + shuffle[places[inside] - self.starts[cell]]
        return on_disk


def plan_epoch(cells: Cells, tokens: int, seed: int, epoch: int, mix: int = 1) -> Plan:
    """Cut and shuffle; a batch has at most `tokens` tokens a side, EOS and padding counted.

    A pair that is longer than that by itself is a batch of its own. If batches are mixed, they have about so many
    tokens without the padding.
    """
    random = np.random.default_rng((seed, epoch))
    line = _string(cells, tokens * random.uniform(*GROUP_BATCHES))
    starts = np.concatenate([[0], np.cumsum(cells.counts[line])])
    widths = np.maximum(cells.source, cells.target)[line] + 1
    cuts = _cut(starts, widths, tokens, first_share=1 - random.random())
    return Plan(cells, line, starts, cuts, random.permutation(len(cuts) - 1), (seed, epoch), mix)


def _string(cells: Cells, group_tokens: float) -> Integers:
    """The order of cells along the line, for groups of target lengths of at least `group_tokens` tokens."""
    tokens = np.bincount(cells.target, cells.counts * (cells.target + 1))  # by target length
    group, number, held = np.zeros(len(tokens), dtype=np.int64), 0, 0.0
    for length, more in enumerate(tokens):
        group[length] = number
        held += more
        if held >= group_tokens:
            number, held = number + 1, 0.0
    groups = group[cells.target]
    along = np.where(groups % 2 == 0, cells.source, -cells.source)
    return np.lexsort((cells.target, along, groups))


def _cut(starts: Integers, widths: Integers, tokens: int, first_share: float) -> Integers:
    """Where batches begin: each takes as many rows as fit, the first only its share of them."""
    cuts, end, share = [0], int(starts[-1]), first_share
    while cuts[-1] < end:
        rows = _rows_that_fit(cuts[-1], starts, widths, tokens)
        cuts.append(min(cuts[-1] + max(int(rows * share), 1), end))
        share = 1.0
    return np.array(cuts, dtype=np.int64)


def _rows_that_fit(start: int, starts: Integers, widths: Integers, tokens: int) -> int:
    """How many pairs from `start` on fit into a batch, the widest among them setting the width of all."""
    cell = int(np.searchsorted(starts, start, side="right")) - 1
    widest = 0
    while True:
        widest = max(widest, int(widths[cell]))
        rows = tokens // widest
        if start + rows <= starts[cell + 1] or cell + 2 == len(starts):
            return max(rows, 1)
        # The next cell may be wider: then as many rows as fit with it, but at least those before it.
        next_widest = max(widest, int(widths[cell + 1]))
        before = int(starts[cell + 1]) - start
        if tokens // next_widest <= before:
            return max(before, 1)
        cell += 1
