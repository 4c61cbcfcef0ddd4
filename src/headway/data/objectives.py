"""Sentences of ids -> tensors that a model is trained on. All padding of the project happens here, in `padded`.

`translation` shifts the target for an encoder-decoder, and `continuation` puts it after the source for a decoder-only
model; `language_model` packs sentences into full rows; `masked_tokens` hides tokens as BERT does; `infilling` and
`span_corruption` hide whole spans, as BART and T5 do, with one mask token in place of T5's numbered ones; `tagging`
asks for a token a token.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.text.specials import BOS, EOS, MASK, PAD, SPECIAL_TOKENS

Ids = NDArray[Any]
KEEP_MASKED, KEEP_RANDOM = 0.8, 0.1  # of the chosen tokens: replaced by MASK, by a random token; the rest stay


class Seq2SeqBatch(NamedTuple):
    """What an encoder-decoder is given, and what it must answer."""

    source: Tensor
    """(B, S), with EOS."""
    target: Tensor
    """(B, T), shifted right: BOS first."""
    answer: Tensor
    """(B, T), with EOS; PAD where nothing is asked."""


class TokenBatch(NamedTuple):
    """What a one-stack model is given, and what it must answer at each position."""

    tokens: Tensor
    """(B, T)."""
    answer: Tensor
    """(B, T); PAD where nothing is asked."""


def padded(rows: Sequence[Ids]) -> Tensor:
    """Rows of ids of any lengths, filled up with PAD: (B, T)."""
    width = max((len(row) for row in rows), default=0)
    table = np.full((len(rows), width), PAD, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
    return torch.from_numpy(table)


def translation(pairs: Sequence[tuple[Ids, Ids]]) -> Seq2SeqBatch:
    """Sources with EOS; targets shifted right, and as they must be answered."""
    return Seq2SeqBatch(
        padded([np.append(source, EOS) for source, _ in pairs]),
        padded([np.insert(target, 0, BOS) for _, target in pairs]),
        padded([np.append(target, EOS) for _, target in pairs]),
    )


def continuation(pairs: Sequence[tuple[Ids, Ids]]) -> TokenBatch:
    """Translation by a decoder-only model: the source and its EOS, then BOS and the target, which is to be said."""
    return TokenBatch(
        padded([np.concatenate([source, [EOS, BOS], target]) for source, target in pairs]),
        padded([np.concatenate([np.full(len(source) + 1, PAD), target, [EOS]]) for source, target in pairs]),
    )


def tagging(pairs: Sequence[tuple[Ids, Ids]]) -> TokenBatch:
    """A target token for each source token; both sides must be equally long."""
    sources, targets = zip(*pairs, strict=True)
    return TokenBatch(padded(sources), padded(targets))


def language_model(sentences: Iterable[Ids], length: int) -> TokenBatch:
    """Sentences joined by EOS and cut into rows of `length`, the last one filled up; each token is to say the next."""
    stream = np.concatenate([[EOS], *(np.append(sentence, EOS) for sentence in sentences)]).astype(np.int64)
    starts = range(0, len(stream) - 1, length)
    return TokenBatch(
        padded([stream[:-1][start : start + length] for start in starts]),
        padded([stream[1:][start : start + length] for start in starts]),
    )


def masked_tokens(
    sentences: Sequence[Ids], keys: Sequence[tuple[int, ...]], vocabulary: int, rate: float = 0.15
) -> TokenBatch:
    """BERT's task: of a share of the tokens, 80% become MASK, 10% any token, 10% stay; those are to be said.

    The `key` of a sentence decides what is hidden in it, whatever batch it is in.
    """
    shown, asked = [], []
    for sentence, key in zip(sentences, keys, strict=True):
        random = np.random.default_rng(key)
        chosen = random.random(len(sentence)) < rate
        fate = random.random(len(sentence))
        some = random.integers(len(SPECIAL_TOKENS), vocabulary, len(sentence))
        hidden = np.where(fate < KEEP_MASKED, MASK, np.where(fate < KEEP_MASKED + KEEP_RANDOM, some, sentence))
        shown.append(np.append(np.where(chosen, hidden, sentence), EOS))
        asked.append(np.append(np.where(chosen, sentence, PAD), PAD))
    return TokenBatch(padded(shown), padded(asked))


def infilling(sentences: Sequence[Ids], keys: Sequence[tuple[int, ...]], rate: float = 0.3) -> Seq2SeqBatch:
    """BART's task: each hidden span became one MASK; say the whole sentence."""
    sources = [
        _hide(sentence, np.random.default_rng(key), rate)[0] for sentence, key in zip(sentences, keys, strict=True)
    ]
    return translation(list(zip(sources, sentences, strict=True)))


def span_corruption(sentences: Sequence[Ids], keys: Sequence[tuple[int, ...]], rate: float = 0.15) -> Seq2SeqBatch:
    """T5's task: each hidden span became one MASK; say only the spans, each after a MASK."""
    pairs = [_hide(sentence, np.random.default_rng(key), rate) for sentence, key in zip(sentences, keys, strict=True)]
    return translation(pairs)


def _hide(sentence: Ids, random: np.random.Generator, rate: float, mean_span: float = 3.0) -> tuple[Ids, Ids]:
    """The sentence with spans replaced by MASK, and the spans, each after a MASK; about `rate` of it is hidden."""
    left = round(rate * len(sentence))
    is_hidden = np.zeros(len(sentence), dtype=np.bool_)
    while left > 0:
        span = min(int(random.geometric(1 / mean_span)), left)
        start = int(random.integers(0, len(sentence) - span + 1))
        is_hidden[start : start + span] = True
        left -= span
    begins = is_hidden & ~np.insert(is_hidden[:-1], 0, False)
    masked = np.where(begins, MASK, sentence)[~is_hidden | begins]
    spans = [np.insert(part, 0, MASK) for part in _runs(sentence, is_hidden, begins)]
    return masked, np.concatenate([np.zeros(0, dtype=np.int64), *spans])


def _runs(sentence: Ids, is_hidden: NDArray[np.bool_], begins: NDArray[np.bool_]) -> list[Ids]:
    """The hidden spans one by one."""
    span_of = np.cumsum(begins)
    return [sentence[is_hidden & (span_of == number)] for number in range(1, int(begins.sum()) + 1)]
