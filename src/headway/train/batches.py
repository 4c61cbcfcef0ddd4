"""Rows of a prepared corpus -> the parts of an update, for each objective."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch

from headway.config import Config
from headway.data.loader import Rows
from headway.data.objectives import (
    Ids,
    Seq2SeqBatch,
    TokenBatch,
    continuation,
    infilling,
    language_model,
    masked_tokens,
    span_corruption,
    tagging,
    translation,
)
from headway.text.bpe_dropout import BpeDropout
from headway.text.specials import EOS, PAD
from headway.text.vocabulary import Vocabulary

Batch = Seq2SeqBatch | TokenBatch
Pairs = Sequence[tuple[Ids, Ids]]
Keys = Sequence[tuple[int, ...]]


class Part(NamedTuple):
    """What a rank works on at once."""

    batch: Batch
    numbers: list[int]
    """Which pairs of the corpus these are."""


class Share(NamedTuple):
    """One rank's share of an update."""

    parts: list[Part]
    tokens: int
    """How many tokens it must say."""


class BatchMaker:
    """Makes a share from rows; `pairs` of ids are cut anew if there is BPE dropout."""

    def __init__(self, config: Config, vocabulary: Vocabulary, *, dropout: float = 0.0, parts: int = 1) -> None:
        self._make = batches_of(config)
        self._parts = parts
        self._dropouts = (
            (BpeDropout(vocabulary.source, dropout), BpeDropout(vocabulary.target, dropout)) if dropout else None
        )

    def __call__(self, rows: Rows) -> Share:
        pairs = self._cut_anew(rows)
        bounds = [len(pairs) * part // self._parts for part in range(self._parts + 1)]
        parts = [
            Part(self._make(pairs[start:end], rows.keys[start:end]), rows.numbers[start:end])
            if start < end
            else self._idle()
            for start, end in pairwise(bounds)
        ]
        return Share(parts, sum(int((part.batch.answer != PAD).sum()) for part in parts))

    def _idle(self) -> Part:
        """What a rank does that has no row for a part, but must take part in it: a batch that asks for nothing."""
        token = np.array([EOS])
        batch = self._make([(token, token)], [(0,)])
        return Part(batch._replace(answer=torch.full_like(batch.answer, PAD)), [])

    def _cut_anew(self, rows: Rows) -> Pairs:
        if self._dropouts is None:
            return rows.pairs
        source, target = self._dropouts
        return [
            (
                np.array(source.encode_again(one.tolist(), (*key, 0))),
                np.array(target.encode_again(other.tolist(), (*key, 1))),
            )
            for (one, other), key in zip(rows.pairs, rows.keys, strict=True)
        ]


def batches_of(config: Config) -> Callable[[Pairs, Keys], Batch]:
    """The function that makes the batches of the objective that the settings name."""
    vocabulary, length = config.model.vocabulary, config.data.max_length
    match config.objective:
        case "translation" if config.model.family == "decoder-only":
            return lambda pairs, _: continuation(pairs)
        case "translation":
            return lambda pairs, _: translation(pairs)
        case "language-model":
            return lambda pairs, _: language_model([source for source, _ in pairs], length)
        case "masked-tokens":
            return lambda pairs, keys: masked_tokens([source for source, _ in pairs], keys, vocabulary)
        case "infilling":
            return lambda pairs, keys: infilling([source for source, _ in pairs], keys)
        case "span-corruption":
            return lambda pairs, keys: span_corruption([source for source, _ in pairs], keys)
        case "tagging":
            return lambda pairs, _: tagging(pairs)
