"""BPE dropout (Provilkov et al., 2020): cut words anew each time, by leaving out merges at random.

The `tokenizers` library can do it, but from a random state that nobody can set. A run must repeat bit for bit, so the
merges of a word are applied here. That is slow, so each word has a number of ways in which it is cut, drawn when they
are first needed, and the caller's key decides which one is taken.
"""

import json
from collections.abc import Sequence
from itertools import chain, pairwise
from zlib import crc32

import numpy as np

from headway.text.tokenizer import Tokenizer

WAYS = 64
"""In how many ways a word is cut; most words are short, and have fewer different ones."""
LIMIT = 1 << 18
"""Ways that are kept, some 50 MB; past it all are forgotten, and drawn again, the same."""


class BpeDropout:
    """Encodes with each merge left out with probability `rate`, whenever it could be made."""

    def __init__(self, tokenizer: Tokenizer, rate: float) -> None:
        model = json.loads(tokenizer.to_json())["model"]
        self._tokenizer = tokenizer
        self._rate = rate
        self._ids: dict[str, int] = model["vocab"]
        self._ranks = {tuple(pair): rank for rank, pair in enumerate(model["merges"])}
        self._known: dict[tuple[str, int], list[int]] = {}

    def encode(self, text: str, key: tuple[int, ...]) -> list[int]:
        """The ids of a text; the same key always leaves out the same merges."""
        words = self._tokenizer.words(text)
        chosen = zip(words, np.random.default_rng(key).integers(WAYS, size=len(words)).tolist(), strict=True)
        return list(chain.from_iterable(self._known.get(each) or self._cut(*each) for each in chosen))

    def encode_again(self, ids: Sequence[int], key: tuple[int, ...]) -> list[int]:
        """Other ids of the text that `ids` stand for."""
        return self.encode(self._tokenizer.decode(ids), key)

    def _cut(self, word: str, way: int) -> list[int]:
        """The ids of a word, cut in one of its ways."""
        if len(self._known) >= LIMIT:
            self._known = {}
        random = np.random.default_rng((way, crc32(word.encode())))
        ids = self._known[word, way] = self._spell(self._merge(word, random))
        return ids

    def _merge(self, word: str, random: np.random.Generator) -> list[str]:
        """Make the first of the merges that are possible and not left out, until there is none."""
        pieces = list(word)
        while len(pieces) > 1:
            possible = [
                (rank, place)
                for place, pair in enumerate(pairwise(pieces))
                if (rank := self._ranks.get(pair)) is not None
            ]
            kept = [merge for merge in possible if random.random() >= self._rate]
            if not kept:
                break
            _, place = min(kept)
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
        return pieces

    def _spell(self, pieces: list[str]) -> list[int]:
        """The ids of pieces; a character that is no piece in bytes."""
        ids = []
        for piece in pieces:
            known = self._ids.get(piece)
            ids += [known] if known is not None else [self._ids[f"<0x{byte:02X}>"] for byte in piece.encode()]
        return ids
