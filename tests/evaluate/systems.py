"""References from the built-in corpus, and systems that are more or less wrong about them."""

import random
from functools import cache
from pathlib import Path

from headway.text.builtin import Sentence, builtin_corpus


@cache
def sentences() -> list[Sentence]:
    return builtin_corpus(sizes={"train": 0, "valid": 0, "test": 120, "pronouns": 0})["test"]


def references(language: str) -> list[str]:
    return [sentence.text(language) for sentence in sentences()]


def damaged(lines: list[str], share: float, seed: int = 1) -> list[str]:
    """The lines with this share of their words lost; of Chinese, of its characters."""
    chance = random.Random(seed)
    separator = " " if " " in lines[0] else ""
    pieces = [line.split() if separator else list(line) for line in lines]
    return [separator.join(piece for piece in each if chance.random() >= share) for each in pieces]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
