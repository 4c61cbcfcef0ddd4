"""The memory allocator of a process. Training is faster with tcmalloc, which can be chosen only at the start."""

import os
import sys
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path

from headway.errors import UserError

INSTALL = (
    "Debian and Ubuntu: apt-get install libtcmalloc-minimal4; Fedora: dnf install gperftools-libs; conda: gperftools"
)
RESTARTED = "HEADWAY_RESTARTED"
"""Set while a process starts again, so that it does so once at most."""

_LIBRARIES = ("tcmalloc_minimal", "tcmalloc")
_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
)
_COMMANDS = ("headway", "__main__.py")
"""What the first argument of a process is called when it was started as `headway` or as `python -m headway`."""


def find_tcmalloc() -> str | None:
    """The library, as LD_PRELOAD takes it, if this machine has it."""
    return next(_candidates(), None)


def allocator_in_use() -> str:
    """tcmalloc, jemalloc or mimalloc, if this process has loaded one of them; else default."""
    try:
        loaded = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:  # only Linux has it, and only there do we load another allocator
        return "default"
    return next((name for name in ("tcmalloc", "jemalloc", "mimalloc") if f"/lib{name}" in loaded), "default")


def restart_with_allocator(name: str, find: Callable[[], str | None] = find_tcmalloc) -> None:
    """Start this command again with the allocator of that name, unless it is the default or in use already.

    Only the command itself starts again; a program that uses Headway as a library keeps the allocator that it has.
    """
    was_restarted = os.environ.pop(RESTARTED, None) is not None
    if name == "default" or allocator_in_use() == name or Path(sys.argv[0]).name not in _COMMANDS:
        return
    if sys.platform != "linux":
        raise UserError(f"machine.allocator = {name} works on Linux only; leave it at default on this system")
    library = find()
    if library is None:
        raise UserError(f"machine.allocator = {name}, but it is not on this machine. {INSTALL}; or leave it at default")
    if was_restarted:
        raise UserError(f"machine.allocator = {name}, but {library} cannot be loaded by LD_PRELOAD; is it damaged?")
    preloaded = ":".join(filter(None, (library, os.environ.get("LD_PRELOAD"))))
    sys.stdout.flush()
    sys.stderr.flush()
    environment = {**os.environ, "LD_PRELOAD": preloaded, RESTARTED: "1"}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def _candidates() -> Iterator[str]:
    """Where tcmalloc is: in the environment that Python runs in, where the linker looks, in the usual folders."""
    yield from _in_folder(Path(sys.prefix, "lib"))
    yield from filter(None, map(find_library, _LIBRARIES))
    for folder in _FOLDERS:
        yield from _in_folder(Path(folder))


def _in_folder(folder: Path) -> Iterator[str]:
    for library in _LIBRARIES:
        yield from sorted(str(path) for path in folder.glob(f"lib{library}.so*"))
