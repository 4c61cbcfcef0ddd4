"""Texts -> ids, from words that have been seen before: the fast way to encode many texts.

Most of a text is words that were in others. A text is cut where that is exact (`cuts.py`), the ids of its parts are
looked up, and only parts that are new go through the `tokenizers` library, many as one text: it takes
three times as long for as many short texts. Their ids are told apart by the spaces that parts begin with.
"""

from array import array
from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from headway.text.cuts import FIRST, cut

BLOCK = 2000
"""Texts that are looked up at once."""
TOGETHER = 500
"""New parts that are encoded as one text; the library shares several texts out to the cores."""
LIMIT = 1 << 20
"""Characters of parts that are kept, about 150,000 words and 30 MB; past it all are forgotten and seen anew."""

Encode = Callable[[list[str]], list[list[int]]]


class WordCache:
    """Gives the ids that `encode` gives, as the bytes of an array of `typecode`.

    `with_space` says of each id whether its token begins with a space.
    """

    def __init__(self, encode: Encode, typecode: str, with_space: NDArray[np.bool_]) -> None:
        self._encode = encode
        self._typecode = typecode
        self._with_space = with_space
        self._known: dict[str, bytes] = {}
        self._size = 0

    def encode(self, texts: Sequence[str]) -> tuple[bytes, NDArray[np.int64]]:
        """The ids of all texts, one after the other, and how many bytes are of each."""
        ids, lengths = [b""], [np.zeros(0, dtype=np.int64)]
        for start in range(0, len(texts), BLOCK):
            parts, counts = cut(texts[start : start + BLOCK])
            found = self._find(parts)
            sizes = np.fromiter(map(len, found), np.int64, len(found))
            ids.append(b"".join(found))
            lengths.append(np.add.reduceat(sizes, np.cumsum([0, *counts[:-1]])))
        return b"".join(ids), np.concatenate(lengths)

    def _find(self, parts: list[str]) -> list[bytes]:
        """The ids of each part."""
        if self._size > LIMIT:
            self._known, self._size = {}, 0
        known = self._known  # kept here, as another thread may let all be forgotten
        try:
            return list(map(known.__getitem__, parts))
        except KeyError:
            self._add(set(parts).difference(known), known)
            return list(map(known.__getitem__, parts))

    def _add(self, parts: set[str], known: dict[str, bytes]) -> None:
        """Encode parts that are not known yet."""
        plain = [part for part in parts if FIRST not in part and " " not in part]
        other = list(parts.difference(plain))
        known.update(zip(plain, self._together(plain), strict=True))
        known.update(zip(other, self._one_by_one(other), strict=True))
        self._size += sum(map(len, parts))

    def _together(self, parts: list[str]) -> list[bytes]:
        """The ids of parts with a space before them and none within."""
        texts = [" " + " ".join(parts[start : start + TOGETHER]) for start in range(0, len(parts), TOGETHER)]
        ids = np.array(list(chain.from_iterable(self._encode(texts))), dtype=self._typecode)
        starts = np.flatnonzero(self._with_space[ids])
        if len(starts) != len(parts):  # normalisation has made more spaces, and nobody knows which are which
            return self._one_by_one(parts)
        data, width = ids.tobytes(), ids.itemsize
        return [data[start:end] for start, end in pairwise([*(starts * width).tolist(), len(data)])]

    def _one_by_one(self, parts: list[str]) -> list[bytes]:
        """The ids of any parts: the plain way."""
        texts = [part.removeprefix(FIRST) if part.startswith(FIRST) else " " + part for part in parts]
        return [array(self._typecode, ids).tobytes() for ids in self._encode(texts)]
