"""Real tokens without their padding, for all that treats each token by itself: projections, norms, feed-forward.

A batch (B, T, D) of sentences of many lengths is mostly padding. Packed, it is the (n, D) vectors of its real tokens;
only attention, where tokens meet, spreads them out again.
"""

from dataclasses import dataclass

from torch import Tensor

WORTHWHILE = 1 / 8
"""From this share of padding on, computing without it saves more than packing costs."""


@dataclass(frozen=True)
class Packing:
    """Where the n real tokens of a batch (B, T) stand."""

    shape: tuple[int, int]
    places: Tensor
    """(n,), in the flattened batch."""

    @classmethod
    def of(cls, real: Tensor | None) -> "Packing | None":
        """The packing of the tokens that are `real` (B, T), or None if there is not enough padding to be worth it."""
        if real is None:
            return None
        places = real.flatten().nonzero()[:, 0]
        if len(places) > (1 - WORTHWHILE) * real.numel():
            return None
        return cls((real.size(0), real.size(1)), places)

    def pack(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (n, D)."""
        return x.flatten(0, 1).index_select(0, self.places)

    def spread(self, x: Tensor) -> Tensor:
        """(n, D) -> (B, T, D), zeros for padding."""
        rows, columns = self.shape
        return x.new_zeros(rows * columns, x.size(-1)).index_copy_(0, self.places, x).unflatten(0, self.shape)


def pack(x: Tensor, packing: Packing | None) -> Tensor:
    """`x` without its padding, if there is a packing."""
    return x if packing is None else packing.pack(x)


def spread(x: Tensor, packing: Packing | None) -> Tensor:
    """`x` as a batch again."""
    return x if packing is None else packing.spread(x)
