"""The pages keep their word: symbols exist, code runs, links lead somewhere, commands are those of the help."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def resolve(symbol: str) -> object:
    """The object that a dotted name means, importing as much of it as is a module."""
    parts = symbol.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(symbol)


def mapped_symbols() -> list[str]:
    return sorted(set(re.findall(r"`(headway\.[\w.]+)`", (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8"))))


@pytest.mark.parametrize("symbol", mapped_symbols())
def test_the_paper_map_names_what_exists(symbol: str) -> None:
    assert resolve(symbol) is not None


def test_a_wrong_symbol_would_be_noticed() -> None:
    assert len(mapped_symbols()) > 20
    with pytest.raises(AttributeError):
        resolve("headway.nn.attention.attendd")
    with pytest.raises(AttributeError):
        resolve("headway.nn.atention")


def code_blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_the_python_of_a_page_runs(page: str) -> None:
    blocks = code_blocks(ROOT / page, "python")
    assert blocks
    result = subprocess.run([sys.executable, "-"], input="\n".join(blocks), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_readme_shows_what_describe_prints() -> None:
    shown = next(block for block in code_blocks(ROOT / "README.md", "") if "$ headway describe" in block)
    command = Path(sys.executable).parent / "headway"
    printed = subprocess.run([command, "describe", "--preset", "base"], capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in printed.stdout.splitlines()]
    expected = shown.splitlines()[1:-1]
    assert lines[: len(expected)] == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
