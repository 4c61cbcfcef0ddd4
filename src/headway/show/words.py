"""Pieces -> the words that people see, so that a page can join the one to the other.

A word begins at a space, and where letters, digits and signs meet. An apostrophe between letters ends a word, as in
*l'* *animal*, but an English ending stays with its word, as in *didn't*. Where a script has no spaces nobody can tell
words without a dictionary, and every piece stands for itself; so does every special token.
"""

import re
import unicodedata
from collections.abc import Sequence

from headway.text.scripts import WITHOUT_SPACES, script_of
from headway.text.specials import SPECIAL_TOKENS

APOSTROPHES = ("'", "’")
ENDINGS = frozenset({"t", "s", "re", "ve", "ll", "d", "m"})
"""What English writes after an apostrophe."""
BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def word_numbers(pieces: Sequence[str]) -> list[int]:
    """For each piece the number of the word that it is part of; words are numbered from 0 in their order."""
    numbers: list[int] = []
    for place in range(len(pieces)):
        begins = place == 0 or not _continues(pieces, place)
        numbers.append((numbers[-1] if numbers else -1) + begins)
    return numbers


def _continues(pieces: Sequence[str], place: int) -> bool:
    """Whether a piece belongs to the word of the piece before it."""
    before, piece = pieces[place - 1], pieces[place]
    kind, last = _kind(piece), _kind(before)
    if piece[:1].isspace() or "alone" in (kind, last):
        return False
    if last == "space":
        return True
    if piece in APOSTROPHES:
        return last == "letters" and bool(_letters_from(pieces, place + 1))
    if before in APOSTROPHES and kind == "letters":
        return _letters_from(pieces, place) in ENDINGS
    return kind == last


def _kind(piece: str) -> str:
    """What a piece is made of; pieces never mix letters, digits and signs."""
    if piece in SPECIAL_TOKENS or script_of(piece) in WITHOUT_SPACES:
        return "alone"
    text = piece.strip()
    if not text:
        return "space"
    category = unicodedata.category(text[0])[0]
    if BYTE.fullmatch(text) or category in "LM":
        return "letters"
    return "digits" if category == "N" else "signs"


def _letters_from(pieces: Sequence[str], start: int) -> str:
    """The letters from a piece on, up to the next space or sign."""
    letters = ""
    for piece in pieces[start:]:
        if _kind(piece) != "letters" or piece[:1].isspace():
            break
        letters += piece
    return letters
