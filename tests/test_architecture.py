"""Imports run one way: a room imports only rooms of lower rank (docs/architecture.md)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "headway"

RANKS = {
    "errors": 0,
    "allocator": 0,
    "processes": 0,
    "config": 0,
    "presets": 0,
    "settings": 0,
    "reference": 0,
    "text": 1,
    "data": 2,
    "nn": 3,
    "models": 4,
    "store": 5,
    "train": 6,
    "search": 6,
    "evaluate": 7,
    "show": 8,
    "serve": 8,
    "export": 8,
    "tasks": 9,
    "cli": 10,
    "__main__": 11,
}
ROOMS_WITHOUT_TORCH = ("errors", "allocator", "processes", "config", "presets", "settings", "reference", "text")


def files() -> list[Path]:
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(code: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which room they come from"
            found.add(node.module or "")
    return found


def broken_rules(room: str, code: str) -> list[str]:
    broken = []
    for module in sorted(imported_modules(code)):
        top, _, rest = module.partition(".")
        other = rest.partition(".")[0]
        if top == "headway" and rest and other != room and RANKS[other] >= RANKS[room] > 0:
            broken.append(f"{room} (rank {RANKS[room]}) imports {module} (rank {RANKS[other]})")
        if top == "torch" and room in ROOMS_WITHOUT_TORCH:
            broken.append(f"{room} imports torch")
    return broken


def test_every_room_has_a_rank() -> None:
    assert {room_of(path) for path in files()} <= set(RANKS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_lower_rooms(path: Path) -> None:
    assert broken_rules(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("nn", "from headway.models.build import build_model"),
        ("train", "import headway.search.beam"),
        ("text", "import torch.nn"),
        ("show", "def f():\n    from headway.serve import api"),
    ],
)
def test_the_rule_catches_what_it_forbids(room: str, code: str) -> None:
    assert len(broken_rules(room, code)) == 1


def test_only_the_command_line_prints_and_exits() -> None:
    for path in files():
        if room_of(path) != "cli":
            calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            names = {ast.unparse(call) for call in calls}
            assert not names & {"print", "exit", "sys.exit", "input"}, path


@pytest.mark.parametrize("statement", ["import headway, headway.cli", "import headway.settings, headway.reference"])
def test_torch_is_not_loaded_before_it_is_needed(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
