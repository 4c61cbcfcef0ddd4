"""A text -> the script that its letters are mostly of, and the characters in it that nobody can have wanted."""

import re
import unicodedata
from collections import Counter

JAPANESE = "Japanese"
"""Han and kana together: what a line of Japanese is written in."""
WITHOUT_SPACES = frozenset({"Han", JAPANESE, "Thai", "Lao", "Khmer", "Myanmar", "Tibetan"})
"""Scripts that put no spaces between words."""

WEIGHTS = {"Han": 4, "Hiragana": 2, "Katakana": 2, "Hangul": 2, "Yi": 2}
"""Letters that a character of these scripts counts as: a Chinese sentence about `reStructuredText` is still Chinese."""
KANA = ("Hiragana", "Katakana")
KANA_SHARE = 0.2
"""Japanese has more kana than this, by weight; Chinese at most the odd の."""

NOT_SCRIPTS = re.compile(
    r"ALEF|ANGSTROM|BET|BLACK-LETTER|CIRCLED|DALET|DOUBLE-STRUCK|EULER|FEMININE|GIMEL|INFORMATION|KELVIN|"
    r"MASCULINE|MATHEMATICAL|MICRO|MODIFIER|NEGATIVE|OHM|PARENTHESIZED|SCRIPT|SQUARED|SUBSCRIPT|"
    r"SUPERSCRIPT|TURNED"
)
"""First words of the names of letters that serve as symbols in every script."""

BEYOND_LATIN = re.compile(r"[^\x00-\u024F]")
LATIN_LETTER = re.compile(r"[A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F]")

ODD_CHARACTERS = {
    "line break": "\n\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029",  # where other programs see two lines
    "replacement character": "\ufffd",
    "zero-width space": "\u200b\u2060",  # not the joiners: Persian, Hindi and emoji are spelled with them
    "byte order mark": "\ufeff",
}
"""Names of what a text should not contain; all other control characters are "control character"."""
ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd\u200b\u2060\ufeff]")

_KINDS = {character: kind for kind, characters in ODD_CHARACTERS.items() for character in characters}


def script_of(text: str) -> str | None:
    """The script of most letters of a text, as in Latin, Han or Japanese; None for a text without letters.

    Letters are weighed by how much of a word they are; of two scripts with equal weight, the first is taken.
    """
    if not BEYOND_LATIN.search(text):
        return "Latin" if LATIN_LETTER.search(text) else None
    letters = Counter(script for script in map(_SCRIPTS.__getitem__, text) if script)
    for script in letters:
        letters[script] *= WEIGHTS.get(script, 1)
    kana = sum(letters.pop(script, 0) for script in KANA)
    if kana > KANA_SHARE * (kana + letters["Han"]):
        letters[JAPANESE] = kana + letters.pop("Han", 0)
    else:
        letters["Han"] += kana
    (script, count), *_ = letters.most_common(1)
    return script if count else None


def fits_script(script: str | None, dominant: str | None) -> bool:
    """Whether a line in `script` is at home among lines in `dominant`."""
    return script in (None, dominant) or (script == "Han" and dominant == JAPANESE)


def odd_characters(text: str) -> Counter[str]:
    """How often a text has which kind of character that it should not have."""
    return Counter(_KINDS.get(character, "control character") for character in ODD.findall(text))


def script_of_letter(letter: str) -> str | None:
    """The script of a letter, by its name in Unicode; None for what is no letter, and for symbols."""
    if not letter.isalpha():
        return None
    words = unicodedata.name(letter, "").split()
    if words and words[0] in ("FULLWIDTH", "HALFWIDTH"):
        del words[0]
    if not words or NOT_SCRIPTS.fullmatch(words[0]):
        return None
    return "Han" if words[0] == "CJK" else words[0].removesuffix("-HIRAGANA").capitalize()


class _Scripts(dict[str, str | None]):
    """The scripts of the letters met so far: Unicode's names are slow to ask for."""

    def __missing__(self, letter: str) -> str | None:
        self[letter] = script = script_of_letter(letter)
        return script


_SCRIPTS = _Scripts()
