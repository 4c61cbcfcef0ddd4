"""Word alignments from attention weights."""

import pytest
import torch

from headway.errors import UserError
from headway.search.alignment import align_words, chosen_layer, to_pharaoh, word_numbers


def test_pieces_belong_to_the_words_that_spaces_separate() -> None:
    assert word_numbers(["The", " ani", "mal", " ", "sle", "eps", "."]) == [0, 1, 1, None, 2, 2, 2]
    assert word_numbers(["  ", "a", "  ", "<0xE9>"]) == [None, 0, None, 1]
    assert word_numbers([]) == []


def test_words_are_aligned_when_pieces_of_them_are() -> None:
    source, target = ["The", " ani", "mal", " sleeps"], ["Das", " schläft", " Tier", "chen"]
    best = [0, 3, 1, 2]
    weights = torch.full((2, 5, 5), 0.1)
    weights[:, :, 4] = 0.9  # EOS, which gets most weight and is no word
    for target_piece, source_piece in enumerate(best):
        weights[target_piece % 2, target_piece, source_piece] = 0.8
    assert align_words(weights, source, target) == [(0, 0), (1, 2), (2, 1)]
    assert align_words(weights, [], target) == []
    assert align_words(weights, source, []) == []


def test_the_pharaoh_format() -> None:
    assert to_pharaoh([(0, 0), (1, 2), (2, 1)]) == "0-0 1-2 2-1"


def test_the_layer_is_the_last_but_one_or_the_one_asked_for() -> None:
    layers = [torch.tensor(number) for number in (1, 2, 3)]
    assert int(chosen_layer(layers, None)) == 2
    assert int(chosen_layer(layers[:1], None)) == 1
    assert int(chosen_layer(layers, 3)) == 3
    with pytest.raises(UserError, match="the decoder has only 3 layers"):
        chosen_layer(layers, 4)
