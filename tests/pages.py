"""The pages of the documentation, for the tests that take them at their word."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def code_blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page that are marked with a language."""
    return [code for name, code in all_blocks(page) if name == language]


def all_blocks(page: str) -> list[tuple[str, str]]:
    """All fenced blocks of a page, each with its language, which may be none."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
