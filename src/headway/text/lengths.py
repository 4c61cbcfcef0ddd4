"""How many tokens sentences have, counted -> what is usual, and what is far from it."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from headway.text.findings import Bin

Integers = NDArray[np.int64]

FAR_FACTOR, FAR_TOKENS = 3.0, 10
"""A pair is an outlier if its target is this many times longer or shorter than usual, and by more than these tokens."""
LONGEST = 4095
"""Lengths above are counted as this one in the table of lengths, which would have no end otherwise."""
BINS = 12


def typical_ratio(source: Integers, target: Integers, times: Integers) -> float | None:
    """The median of target length / source length, over pairs with tokens on both sides."""
    whole = np.minimum(source, target) > 0
    ratios = target[whole] / source[whole]
    order = np.argsort(ratios)
    cumulative = np.cumsum(times[whole][order])
    if not len(cumulative):
        return None
    return float(ratios[order][np.searchsorted(cumulative, (cumulative[-1] + 1) // 2)])


def histogram(source: Counter[int], target: Counter[int]) -> tuple[Bin, ...]:
    """Bins of equal and round width that reach the length of 99% of the sentences, and one for the rest."""
    top = quantile(source + target, 0.99)
    width = next(nice for nice in (1, 2, 5, 10, 20, 50, 100, 200, 500) if nice * BINS > top)
    last = top // width + 1
    bins = []
    for n in range(last + 1):
        first, end = n * width, (n + 1) * width if n < last else LONGEST + 1
        counts = (sum(side[length] for length in range(first, end)) for side in (source, target))
        bins.append(Bin(first, end - 1 if n < last else None, *counts))
    return tuple(bins)


def quantile(lengths: Counter[int], share: float) -> int:
    """The smallest length that at least this share of the sentences does not exceed."""
    needed, seen = share * lengths.total(), 0
    for length in sorted(lengths):
        seen += lengths[length]
        if seen >= needed:
            return length
    return 0


def weigh(values: Integers, times: Integers) -> Counter[int]:
    """How often each value occurs, if the n-th is there `times[n]` times."""
    unique, inverse = np.unique(values, return_inverse=True)
    sums = np.bincount(inverse, weights=times, minlength=len(unique)).astype(np.int64)
    return Counter(dict(zip(unique.tolist(), sums.tolist(), strict=True)))


def is_far(source: Integers | int, target: Integers | int, ratio: float) -> NDArray[np.bool_]:
    """Whether a target is too long or too short for its source, if `ratio` times as many tokens are usual."""
    expected = ratio * np.asarray(source)
    longer, shorter = np.maximum(target, expected), np.minimum(target, expected)
    return (shorter > 0) & (longer > FAR_FACTOR * shorter) & (longer - shorter > FAR_TOKENS)
