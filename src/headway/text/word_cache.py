"""Texts -> ids, from words that have been seen before: the fast way to encode many texts.

Most of a text is words that were in others. A text is cut where that is exact (`cuts.py`), the ids of its parts are
looked up, and only parts that are new go through the `tokenizers` library, all new ones of a call at once.
"""

from array import array
from collections.abc import Callable, Sequence

from headway.text.cuts import cut

BLOCK = 1000
"""Texts that are looked up at once. In smaller blocks fewer texts wait for words that another has brought up."""
LIMIT = 1 << 20
"""Characters of parts that are kept, about 150,000 words and 30 MB; past it all are forgotten and seen anew."""

Encode = Callable[[list[str]], list[list[int]]]


class WordCache:
    """Gives the ids that `encode` gives, as the bytes of an array of `typecode`."""

    def __init__(self, encode: Encode, typecode: str) -> None:
        self._encode = encode
        self._typecode = typecode
        self._forget()

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """The ids of each text."""
        return [
            ids for start in range(0, len(texts), BLOCK) for ids in self._encode_block(texts[start : start + BLOCK])
        ]

    def _encode_block(self, texts: Sequence[str]) -> list[bytes]:
        if self._size > LIMIT:
            self._forget()
        first, later = self._first, self._later  # kept here, as another thread may let all be forgotten
        find = later.__getitem__
        found: list[bytes] = []
        unfinished: list[tuple[int, list[str]]] = []
        for text in texts:
            parts = cut(text)
            try:
                found.append(b"".join([first[parts[0]], *map(find, parts[1:])]))
            except KeyError:
                unfinished.append((len(found), parts))
                found.append(b"")
        self._add([parts for _, parts in unfinished], first, later)
        for place, parts in unfinished:
            found[place] = b"".join([first[parts[0]], *map(find, parts[1:])])
        return found

    def _add(self, rows: list[list[str]], first: dict[str, bytes], later: dict[str, bytes]) -> None:
        """Encode the parts of `rows` that are not known yet."""
        new_first = list({parts[0] for parts in rows} - first.keys())
        new_later = list({part for parts in rows for part in parts[1:]} - later.keys())
        ids = [array(self._typecode, ids).tobytes() for ids in self._encode(new_first + [" " + p for p in new_later])]
        first.update(zip(new_first, ids, strict=False))
        later.update(zip(new_later, ids[len(new_first) :], strict=True))
        self._size += sum(map(len, new_first)) + sum(map(len, new_later))

    def _forget(self) -> None:
        self._first: dict[str, bytes] = {}
        """Ids of parts at the beginning of a text."""
        self._later: dict[str, bytes] = {}
        """Ids of parts with a space before them."""
        self._size = 0
