"""Text <-> token ids, by the subword models of the `tokenizers` library.

Whatever the kind, nothing is lost: `decode(encode(text)) == normalise(text)` for any text, and no text is unknown.
What the vocabulary cannot spell in pieces it spells in bytes.

Text is first cut into words: runs of letters, single digits, and runs of other signs, each with the space before it.
Pieces never cross these cuts. They keep their spaces, so that decoding is joining; and as no piece mixes letters with
signs, no text can ever be taken for a special token or for a byte.

Ids: the special tokens (`specials.py`), then 256 bytes, then the learned pieces.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Engine

from headway.text.specials import SPECIAL_TOKENS
from headway.text.word_cache import WordCache


class Joined(NamedTuple):
    """The ids of several texts, one after the other."""

    ids: NDArray[np.unsignedinteger[Any]]
    """Of 16 bits, or of 32 if the vocabulary needs them."""
    lengths: NDArray[np.int64]
    """How many are of each text."""


class Tokenizer:
    """A trained tokenizer."""

    def __init__(self, engine: Engine) -> None:
        engine.encode_special_tokens = True  # what looks like a special token in a text is text
        self._engine = engine
        self._typecode = "H" if len(self) <= 1 << 16 else "I"
        self._pieces: dict[int, str] = {}

    @cached_property
    def names(self) -> list[str]:
        """The names of all tokens, by id, as the `tokenizers` library has them."""
        ids: dict[str, int] = self._engine.get_vocab()
        return sorted(ids, key=ids.__getitem__)

    @cached_property
    def _cache(self) -> WordCache:
        tokens = self._engine.get_vocab()
        with_space = np.zeros(len(self), dtype=np.bool_)
        with_space[[i for token, i in tokens.items() if self._engine.decoder.decode([token]).startswith(" ")]] = True
        return WordCache(self._encode_plainly, self._typecode, with_space)

    def __len__(self) -> int:
        return self._engine.get_vocab_size()

    def normalise(self, text: str) -> str:
        """The text that `decode` gives back for `text`."""
        normalizer = self._engine.normalizer
        return normalizer.normalize_str(text) if normalizer else text

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without BOS and EOS."""
        return self._engine.encode(text, add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of several texts: what `encode` gives for each, but much faster."""
        if len(texts) == 1:
            return [self.encode(texts[0])]
        ids, lengths = self.encode_joined(texts)
        return [part.tolist() for part in np.split(ids, np.cumsum(lengths[:-1]))] if texts else []

    def encode_joined(self, texts: Sequence[str]) -> Joined:
        """The ids of several texts in one array, for many texts the fastest way."""
        data, sizes = self._cache.encode(texts)
        ids = np.frombuffer(data, dtype=self._typecode)
        return Joined(ids, sizes // ids.itemsize)

    def _encode_plainly(self, texts: list[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._engine.encode_batch_fast(texts, add_special_tokens=False)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; special tokens are left out, bytes that make no character become U+FFFD."""
        names = self.names
        return self._engine.decoder.decode([names[i] for i in ids if i >= len(SPECIAL_TOKENS)])

    def words(self, text: str) -> list[str]:
        """The words that a text is cut into before pieces are sought, as the model sees them."""
        return [word for word, _ in self._engine.pre_tokenizer.pre_tokenize_str(self.normalise(text))]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids one by one, for people to look at; bytes that are part of a character as <0xE9>."""
        return [self._pieces[i] if i in self._pieces else self._pieces.setdefault(i, self._readable(i)) for i in ids]

    def _readable(self, token_id: int) -> str:
        name = self.names[token_id]
        if token_id < len(SPECIAL_TOKENS):
            return name
        text = self._engine.decoder.decode([name])
        return text if "\N{REPLACEMENT CHARACTER}" not in text else name

    def to_json(self) -> str:
        """All of the tokenizer, as the `tokenizers` library writes and reads it."""
        return self._engine.to_str()

    @classmethod
    def from_json(cls, text: str) -> "Tokenizer":
        """The inverse of `to_json`."""
        return cls(Engine.from_str(text))
