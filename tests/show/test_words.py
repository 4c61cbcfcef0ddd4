"""Pieces are joined to the words that people see."""

import pytest

from headway.show.words import word_numbers


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (["The", " an", "im", "al", "."], ["The", " animal", "."]),
        ([" didn", "'", "t", " go"], [" didn't", " go"]),
        (["we", "’", "l", "l"], ["we’ll"]),
        (["L", "'", "an", "imal", " qu", "'", "il"], ["L'", "animal", " qu'", "il"]),
        ([" '", "so", "'", "."], [" '", "so", "'."]),
        ([" 1", "9", "8", "4", "!", "?"], [" 1984", "!?"]),
        (["<s>", "a", "</s>"], ["<s>", "a", "</s>"]),
        (["动物", "没有", "。"], ["动物", "没有", "。"]),
        (["Na", "<0xC3>", "<0xAF>", "ve", " x"], ["Na<0xC3><0xAF>ve", " x"]),
        (["a", " ", "b", "c"], ["a", " bc"]),
        ([" नम", "स्ते"], [" नमस्ते"]),
        ([], []),
    ],
)
def test_pieces_are_joined(pieces: list[str], words: list[str]) -> None:
    joined = [""] * len(words)
    for piece, number in zip(pieces, word_numbers(pieces), strict=True):
        joined[number] += piece
    assert joined == words
