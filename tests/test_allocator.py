import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway.allocator import find_tcmalloc, restart_with_allocator
from headway.errors import UserError

SCRIPT = """
import json, os, sys
from headway.allocator import allocator_in_use, restart_with_allocator
print("began", flush=True)
restart_with_allocator(sys.argv[1], find=lambda: sys.argv[2] or None)
print(json.dumps([allocator_in_use(), os.environ.get("LD_PRELOAD"), "HEADWAY_RESTARTED" in os.environ, sys.argv[1:]]))
"""


def start(folder: Path, allocator: str, library: str, script: str = "headway", **environment: str):
    """What a process that asks for an allocator becomes, and how often it began."""
    path = folder / script
    path.write_text(SCRIPT)
    inherited = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    command = [sys.executable, "-W", "error", str(path), allocator, library, "--flag=a b"]
    done = subprocess.run(command, capture_output=True, text=True, env={**inherited, **environment})
    lines = done.stdout.splitlines()
    return lines.count("began"), json.loads(lines[-1]) if done.returncode == 0 else done.stderr


def loaded_library() -> str:
    """A library that this process has loaded already, and that harms no other."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if "/libm." in line or "/libm-" in line)


@pytest.fixture
def library(tmp_path: Path) -> str:
    """Stands for tcmalloc: it can be loaded and has the right name."""
    path = tmp_path / "libtcmalloc_minimal.so.4"
    shutil.copy(loaded_library(), path)
    return str(path)


def test_the_command_starts_again_once_with_the_library_and_the_same_arguments(tmp_path: Path, library: str) -> None:
    assert start(tmp_path, "tcmalloc", library) == (
        2,
        ["tcmalloc", library, False, ["tcmalloc", library, "--flag=a b"]],
    )


def test_what_was_preloaded_stays_so(tmp_path: Path, library: str) -> None:
    other = loaded_library()
    _, (used, preloaded, *_) = start(tmp_path, "tcmalloc", library, LD_PRELOAD=other)
    assert (used, preloaded) == ("tcmalloc", f"{library}:{other}")


def test_a_process_that_has_the_allocator_does_not_start_again(tmp_path: Path, library: str) -> None:
    began, (used, preloaded, *_) = start(tmp_path, "tcmalloc", library, LD_PRELOAD=library)
    assert (began, used, preloaded) == (1, "tcmalloc", library)


@pytest.mark.parametrize(("allocator", "script"), [("default", "headway"), ("tcmalloc", "program.py")])
def test_the_default_and_programs_that_use_the_library_do_not_start_again(
    allocator: str, script: str, tmp_path: Path, library: str
) -> None:
    began, (used, preloaded, *_) = start(tmp_path, allocator, library, script)
    assert (began, used, preloaded) == (1, "default", None)


def test_a_machine_without_it_is_told_how_to_get_it(tmp_path: Path) -> None:
    began, message = start(tmp_path, "tcmalloc", "")
    assert began == 1
    assert "machine.allocator = tcmalloc, but it is not on this machine" in message
    assert "apt-get install libtcmalloc-minimal4" in message


def test_a_library_that_cannot_be_loaded_is_named_after_one_try(tmp_path: Path) -> None:
    damaged = tmp_path / "libtcmalloc.so"
    damaged.write_text("no library")
    began, message = start(tmp_path, "tcmalloc", str(damaged))
    assert began == 2
    assert f"{damaged} cannot be loaded by LD_PRELOAD" in message


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "argv", ["/usr/bin/headway", "train"])
    with pytest.raises(UserError, match="works on Linux only"):
        restart_with_allocator("tcmalloc")


def test_the_environment_of_python_is_searched_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "lib" / "libtcmalloc.so.4"
    library.parent.mkdir()
    library.write_text("")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert find_tcmalloc() == str(library)
