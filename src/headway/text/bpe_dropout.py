"""BPE dropout (Provilkov et al., 2020): cut words anew each time, by leaving out merges at random.

The `tokenizers` library can do it, but from a random state that nobody can set. A run must repeat bit for bit, so the
merges of a word are applied here, from a generator that the caller seeds.
"""

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from headway.text.tokenizer import Tokenizer


class BpeDropout:
    """Encodes with each merge left out with probability `rate`, whenever it could be made."""

    def __init__(self, tokenizer: Tokenizer, rate: float) -> None:
        model = json.loads(tokenizer.to_json())["model"]
        self._tokenizer = tokenizer
        self._rate = rate
        self._ids: dict[str, int] = model["vocab"]
        self._ranks = {tuple(pair): rank for rank, pair in enumerate(model["merges"])}

    def encode(self, text: str, key: tuple[int, ...]) -> list[int]:
        """The ids of a text; the same key always leaves out the same merges."""
        random = np.random.default_rng(key)
        return [i for word in self._tokenizer.words(text) for i in self._spell(self._merge(word, random))]

    def encode_again(self, ids: Sequence[int], key: tuple[int, ...]) -> list[int]:
        """Other ids of the text that `ids` stand for."""
        return self.encode(self._tokenizer.decode(ids), key)

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
