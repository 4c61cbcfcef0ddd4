"""A virtual environment for each peer, made once by venv and pip, and running commands in it."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TORCH = "torch~=2.13.0"
"""As Headway's. pip is told with the peer, so that a peer that wants another version is refused, and not served."""
MARK = "installed.txt"


class PeerError(Exception):
    """A peer cannot be installed, or ends with an error; the text says why, in one line."""


@dataclass(frozen=True)
class Environment:
    """Where a peer is installed."""

    path: Path

    @property
    def python(self) -> str:
        """Its interpreter."""
        return self.program("python")

    def program(self, name: str) -> str:
        """A command that was installed with the peer."""
        return str(self.path / ("Scripts" if os.name == "nt" else "bin") / name)

    def version(self, package: str) -> str:
        """The version of a package that is installed in it."""
        code = f"from importlib.metadata import version; print(version({package!r}))"
        return subprocess.run([self.python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def install(path: Path, packages: tuple[str, ...], *, with_torch: bool) -> Environment:
    """The environment at a path, made now unless it is there and whole."""
    environment = Environment(path.absolute())
    mark = environment.path / MARK
    if not mark.exists():
        environment.path.mkdir(parents=True, exist_ok=True)
        wanted = [*([TORCH] if with_torch else []), *packages]
        log = environment.path.with_name(f"{path.name}-install.log")
        run_logged([sys.executable, "-m", "venv", "--clear", str(environment.path)], log)
        run_logged([environment.python, "-m", "pip", "install", *wanted], log)
        mark.write_text("".join(f"{each}\n" for each in wanted), encoding="utf-8")
    return environment


def run_logged(command: list[str], log: Path, *, threads: int | None = None) -> None:
    """Run a command to its end, in the directory where what it says is kept."""
    with log.open("w", encoding="utf-8") as file:
        result = subprocess.run(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment_of(threads), cwd=log.parent
        )
    if result.returncode:
        raise PeerError(f"{Path(command[0]).name} ended with status {result.returncode}: {last_words(log)}")


def environment_of(threads: int | None) -> dict[str, str]:
    """This process's variables without what would show a peer our packages, and with the threads that are wanted."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    wanted = {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)} if threads else {}
    return {**kept, **wanted, "PYTHONUNBUFFERED": "1"}


def last_words(log: Path) -> str:
    """The last line of a log that says something, short enough for a table."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].replace("|", "/")[:160] if lines else "it said nothing"
