"""A line of text -> parts that a model has seen the like of, cut only where sentences end."""

import re
from collections.abc import Callable, Iterator

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*(\s+)|(?<=[。！？])[”’」』）]*(\s*)(?=\S)")
"""Signs that end a sentence, with the quotes and brackets that close after them, then space; Chinese needs none."""


def split_line(text: str, count: Callable[[str], int], longest: int) -> list[str]:
    """Parts of at most `longest` tokens by `count`, as few as can be; a sentence that is longer is a part of its own.

    Joined, the parts are the text.
    """
    if count(text) <= longest:
        return [text]
    parts: list[str] = []
    for sentence in sentences(text):
        if parts and count(parts[-1] + sentence) <= longest:
            parts[-1] += sentence
        else:
            parts.append(sentence)
    return parts


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each with the space after it."""
    start = 0
    for match in SENTENCE_END.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    if start < len(text):
        yield text[start:]


def join_parts(parts: list[str], translations: list[str]) -> str:
    """The translations of parts, with the space between them that the parts had.

    Where the parts had none, as in Chinese, there is none either after a sign that is written without.
    """
    text = translations[0]
    for part, translation in zip(parts, translations[1:], strict=False):
        space = part[len(part.rstrip()) :] or ("" if text.endswith(("。", "！", "？")) else " ")
        text += space + translation
    return text
