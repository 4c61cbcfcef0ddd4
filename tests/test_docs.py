"""The pages keep their word: symbols exist, code runs, links lead somewhere, both languages say the same."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from pages import ROOT, all_blocks, code_blocks

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
TRANSLATED = {
    "README.md": "README.zh-CN.md",
    "docs/tour.md": "docs/zh/tour.md",
    "docs/tutorial.md": "docs/zh/tutorial.md",
}


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


@pytest.mark.parametrize("page", ["README.md", "docs/tour.md"])
def test_the_python_of_a_page_runs(page: str) -> None:
    blocks = code_blocks(page, "python")
    assert blocks
    result = subprocess.run([sys.executable, "-"], input="\n".join(blocks), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_the_readme_shows_what_describe_prints() -> None:
    shown = next(block for block in code_blocks("README.md", "") if "$ headway describe" in block)
    command = Path(sys.executable).parent / "headway"
    printed = subprocess.run([command, "describe", "--preset", "base"], capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in printed.stdout.splitlines()]
    expected = shown.splitlines()[1:-1]
    assert lines[: len(expected)] == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_translated_page_has_the_same_code(page: str) -> None:
    blocks = all_blocks(page)
    assert len(blocks) > 3
    assert all_blocks(TRANSLATED[page]) == blocks


@pytest.mark.parametrize("page", TRANSLATED)
def test_both_languages_have_the_same_sections_and_pictures(page: str) -> None:
    def outline(name: str) -> tuple[list[str], list[str]]:
        text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        return re.findall(r"^#+", text, flags=re.MULTILINE), re.findall(r"([\w-]+\.svg)\)", text)

    assert outline(TRANSLATED[page]) == outline(page)


@pytest.mark.parametrize("page", TRANSLATED)
def test_both_languages_lead_to_each_other(page: str) -> None:
    english, chinese = ROOT / page, ROOT / TRANSLATED[page]
    for here, there in ((english, chinese), (chinese, english)):
        links = re.findall(r"\]\(([^)]+)\)", "".join(here.read_text(encoding="utf-8").splitlines()[:4]))
        assert there in [(here.parent / link).resolve() for link in links]
