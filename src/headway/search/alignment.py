"""Word alignments: which word of the source each word of an output comes from, read from cross-attention.

The heads of one layer are averaged. A piece of the target is aligned to the piece of the source that gets most weight
when it is written, EOS aside; words are aligned when pieces of them are. By default the layer is the last but one,
after Garg et al. (2019). Attention was not trained to align, and need not. Words are what spaces separate.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from headway.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

Alignment = list[tuple[int, int]]
"""Pairs of a source word and a target word, both counted from 0, in order."""


def chosen_layer(layers: Sequence["Tensor"], number: int | None) -> "Tensor":
    """The weights (B, H, T, S) of the layer of that number, counted from 1, or of the last but one."""
    if number is not None and number > len(layers):
        raise UserError(f"search.alignment_layer = {number}, but the decoder has only {len(layers)} layers")
    return layers[number - 1] if number is not None else layers[max(len(layers) - 2, 0)]


def align_words(weights: "Tensor", source_pieces: Sequence[str], target_pieces: Sequence[str]) -> Alignment:
    """The words that belong together, from the weights (H, T, S) with which target pieces look at source pieces.

    Rows and columns beyond the pieces, EOS and padding, do not count.
    """
    if not source_pieces or not target_pieces:
        return []
    mean = weights.mean(dim=0)[: len(target_pieces), : len(source_pieces)]  # (T, S)
    nearest = mean.argmax(dim=1).tolist()  # (T,)
    source_words, target_words = word_numbers(source_pieces), word_numbers(target_pieces)
    pairs = {(source_words[place], word) for place, word in zip(nearest, target_words, strict=True)}
    return sorted((source, target) for source, target in pairs if source is not None and target is not None)


def word_numbers(pieces: Iterable[str]) -> list[int | None]:
    """For each piece the number of the word that it ends in; None for pieces of nothing but space."""
    numbers: list[int | None] = []
    word, is_between = -1, True
    for piece in pieces:
        for character in piece:
            if not character.isspace() and is_between:
                word += 1
            is_between = character.isspace()
        numbers.append(word if piece.strip() else None)
    return numbers


def to_pharaoh(alignment: Alignment) -> str:
    """As other tools read it: 0-0 1-2 2-1."""
    return " ".join(f"{source}-{target}" for source, target in alignment)
