"""A random order of n things that takes no memory: where each stands is computed when it is asked for.

A Feistel network on the numbers below the next power of four is a bijection whatever its round function; walking on
until a number below n appears makes it one on n numbers. Any position of any epoch is found without the others.
"""

import numpy as np
from numpy.typing import NDArray

_ROUNDS = 8


class Shuffle:
    """A permutation of the numbers below `count`, chosen by `key`."""

    def __init__(self, count: int, key: tuple[int, ...]) -> None:
        self.count = count
        self._half_bits = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
        self._round_keys = np.random.SeedSequence(key).generate_state(_ROUNDS, np.uint64)

    def __getitem__(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """What stands at the given positions."""
        values = self._encrypt(positions.astype(np.uint64))
        while (outside := values >= self.count).any():
            values[outside] = self._encrypt(values[outside])
        return values.astype(np.int64)

    def _encrypt(self, values: NDArray[np.uint64]) -> NDArray[np.uint64]:
        bits = np.uint64(self._half_bits)
        mask = np.uint64((1 << self._half_bits) - 1)
        left, right = values >> bits, values & mask
        for round_key in self._round_keys:
            left, right = right, left ^ (_mix(right ^ round_key) & mask)
        return (left << bits) | right


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter the bits of 64-bit numbers, as the finaliser of SplitMix64 does."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
