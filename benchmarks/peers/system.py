"""What a benchmark needs to know about a toolkit: how it is installed, started and read."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from peers.environments import Environment
from peers.work import Work

LOG = "log.txt"
"""What a toolkit said, in the directory of its run."""


@dataclass(frozen=True)
class Plan:
    """How long a run is, in updates, and what happens every so many of them."""

    steps: int
    log_every: int
    validate_every: int | None = None
    """None if it is not to translate anything."""


@dataclass(frozen=True)
class Validation:
    """What a model could do at some moment of its training."""

    step: int
    seconds: float
    """Time spent training; validating is not counted."""
    bleu: float


Judge = Callable[[Path], float]
"""BLEU of a file with translations of the validation sentences, in words of the `Work`."""


@dataclass(frozen=True)
class System:
    """A toolkit that trains."""

    name: str
    packages: tuple[str, ...]
    """What pip installs: the toolkit, and what it needs without saying so."""
    command: Callable[[Environment, Work, Plan, Path], list[str]]
    """What starts a training run in a directory, where it may write its settings first."""
    rates: Callable[[Path], list[float]]
    """Real target tokens a second, ends of sentences counted, of each `log_every` updates of the run in a directory."""
    validations: Callable[[Path, Judge], list[Validation]] | None = None
    """Those of the run in a directory so far; None if the toolkit is not asked for any."""
    has_torch: bool = True
    has_workers: bool = False
    """Whether its threads are workers that compute with one thread each."""

    def threads(self, work: Work) -> int:
        """What OpenMP is told."""
        return 1 if self.has_workers else work.threads


def read_log(directory: Path) -> str:
    """What the toolkit has said so far."""
    log = directory / LOG
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def training_seconds(began: float, validated: list[tuple[float, float]]) -> list[float]:
    """Time spent training up to each validation, from the clock times when it began and ended."""
    seconds: list[float] = []
    since = began
    for start, end in validated:
        seconds.append((seconds[-1] if seconds else 0.0) + start - since)
        since = end
    return seconds
