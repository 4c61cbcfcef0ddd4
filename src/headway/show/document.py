"""A model and a sentence -> all its attention weights as one document, which is all that the page knows.

The form that `Document.as_json` writes is described in docs/attention-page.md; its version changes with it.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headway.errors import UserError
from headway.models import AttentionMaps, DecoderOnly, EncoderDecoder, EncoderOnly, Model
from headway.show.words import word_numbers
from headway.text.specials import BOS, EOS
from headway.text.tokenizer import Tokenizer
from headway.text.vocabulary import Vocabulary
from headway.train.validation import asking

VERSION = 1
PARTS = 65_535
"""Weights are written as whole numbers, of which those of a query sum to this."""

Kind = Literal["encoder", "decoder", "cross"]
SequenceName = Literal["source", "target", "written"]
Weights = NDArray[np.float32]

SIDES: dict[Kind, tuple[SequenceName, SequenceName]] = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("written", "source"),
}
"""The queries and the keys of each kind. A query of cross-attention is named by the piece that it is about to write."""


@dataclass(frozen=True)
class Pieces:
    """A sequence of pieces, and for each the number of its word."""

    texts: tuple[str, ...]
    words: tuple[int, ...]

    def word(self, number: int) -> str:
        """The text of a word."""
        return "".join(text for text, own in zip(self.texts, self.words, strict=True) if own == number).strip()


@dataclass(frozen=True, eq=False)
class Maps:
    """The weights (layers, heads, Q, K) of one kind of attention, and whose they are."""

    queries: SequenceName
    keys: SequenceName
    weights: Weights

    def as_json(self) -> dict[str, Any]:
        """The weights as 16-bit numbers in base64."""
        layers, heads = self.weights.shape[:2]
        packed = base64.b64encode(in_parts(self.weights).astype("<u2").tobytes()).decode("ascii")
        return {"queries": self.queries, "keys": self.keys, "layers": layers, "heads": heads, "weights": packed}


@dataclass(frozen=True)
class Document:
    """What a page shows."""

    source_text: str | None
    target_text: str | None
    sequences: Mapping[SequenceName, Pieces]
    maps: Mapping[Kind, Maps]

    def as_json(self) -> dict[str, Any]:
        """The document, for `json.dumps`."""
        return {
            "version": VERSION,
            "source_text": self.source_text,
            "target_text": self.target_text,
            "sequences": {
                name: {"pieces": list(pieces.texts), "words": list(pieces.words)}
                for name, pieces in self.sequences.items()
            },
            "maps": {kind: maps.as_json() for kind, maps in self.maps.items()},
        }


def attention_document(
    model: Model, vocabulary: Vocabulary, source_text: str, target_text: str | None = None
) -> Document:
    """The attention of a model over a sentence, and over its translation if the model writes one.

    An encoder-decoder needs the translation; a decoder-only model may have one, or just continue a text.
    """
    source = vocabulary.source.encode(source_text)
    target = None if target_text is None else vocabulary.target.encode(target_text)
    texts: tuple[str | None, str | None] = (source_text, target_text)
    sequences: dict[SequenceName, Pieces]
    match model:
        case EncoderDecoder():
            if target is None:
                raise UserError("an encoder-decoder attends from a translation to its source; give target_text as well")
            maps = _attend(model, [*source, EOS], [BOS, *target])
            sequences = {
                "source": _pieces(vocabulary.source, [*source, EOS]),
                "target": _pieces(vocabulary.target, [BOS, *target]),
                "written": _pieces(vocabulary.target, [*target, EOS]),
            }
        case EncoderOnly():
            if target is not None:
                raise UserError("an encoder-only model reads one text; leave out target_text")
            maps = _attend(model, [*source, EOS])
            sequences = {"source": _pieces(vocabulary.source, [*source, EOS])}
        case DecoderOnly():
            # As in training: a translation follows its source, and a text by itself follows the end of another.
            read = [EOS, *source] if target is None else [*source, EOS, BOS, *target]
            maps = _attend(model, read)
            sequences = {
                "target": _pieces(vocabulary.target, read),
                "written": _pieces(vocabulary.target, [*read[1:], EOS]),
            }
            texts = (None, source_text) if target is None else texts
    return Document(*texts, sequences, _by_kind(maps))


def in_parts(weights: Weights) -> NDArray[np.int64]:
    """Weights (..., K) as whole numbers that sum to PARTS in every row, none further off than one part.

    The rows are rounded down, and the parts that are then missing go where most was cut off.
    """
    rows = weights.astype(np.float64)
    total = rows.sum(-1, keepdims=True)
    exact = rows / np.where(total > 0, total, 1) * PARTS
    parts = np.floor(exact).astype(np.int64)
    missing = np.rint(exact.sum(-1, keepdims=True)).astype(np.int64) - parts.sum(-1, keepdims=True)
    rank = np.argsort(np.argsort(parts - exact, axis=-1, kind="stable"), axis=-1, kind="stable")
    return parts + (rank < missing)


def _attend(model: Model, *sides: list[int]) -> AttentionMaps:
    """The weights of one sentence."""
    device = next(model.parameters()).device
    with asking(model):
        _, maps = model.states(*(torch.tensor([ids], device=device) for ids in sides), with_weights=True)
    return maps


def _by_kind(maps: AttentionMaps) -> dict[Kind, Maps]:
    """The kinds that a model has."""
    found: dict[Kind, list[Tensor]] = {"encoder": maps.encoder, "decoder": maps.decoder, "cross": maps.cross}
    return {
        kind: Maps(*SIDES[kind], torch.cat(layers).float().cpu().numpy()) for kind, layers in found.items() if layers
    }


def _pieces(tokenizer: Tokenizer, ids: list[int]) -> Pieces:
    texts = tokenizer.pieces(ids)
    return Pieces(tuple(texts), tuple(word_numbers(texts)))
