"""What a trainer tells those who watch it. It prints nothing itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Begun:
    """Training starts, or goes on, after `step` updates."""

    step: int
    steps: int
    parameters: int
    epoch_tokens: int
    """Target tokens of an epoch."""
    path: Path


@dataclass(frozen=True)
class Updated:
    """An update is done."""

    step: int
    epoch: int
    loss: float
    perplexity: float
    """exp of the unsmoothed loss."""
    rate: float
    norm: float
    tokens: int
    seconds: float
    """Since the update before, waiting for data included."""


@dataclass(frozen=True)
class Validated:
    """The model was looked at."""

    step: int
    scores: Mapping[str, float]
    """Perplexity, and what else the validation gives."""
    is_best: bool
    sample: tuple[str, str, str] | None
    """A source, its reference and what the model makes of it."""
    seconds: float


@dataclass(frozen=True)
class Saved:
    """A checkpoint is on disk."""

    step: int
    path: Path
    seconds: float


@dataclass(frozen=True)
class Noted:
    """A choice that was made, or a part that is done, in words."""

    text: str


@dataclass(frozen=True)
class Warned:
    """Something that a person should know."""

    text: str


Event = Begun | Updated | Validated | Saved | Noted | Warned
Watch = Callable[[Event], None]
