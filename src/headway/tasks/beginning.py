"""What a run begins with, if not with chance: the weights and the vocabulary of another run, or its vocabulary alone.

The card names the run and the checkpoint, so that a run that is killed before its first checkpoint begins with the
same weights again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.config import ModelConfig
from headway.errors import UserError
from headway.store.checkpoints import WEIGHTS, Checkpoint
from headway.store.run import Run
from headway.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headway.models import Model

ON_THE_CARD = "init"


@dataclass(frozen=True)
class Origin:
    """A checkpoint whose weights another run begins with: all of them, or those of some of its layers."""

    run: Run
    checkpoint: Checkpoint

    @classmethod
    def open(cls, path: Path) -> "Origin":
        """The checkpoint that a run has chosen."""
        run = Run.open(path)
        return cls(run, run.chosen())

    @classmethod
    def of_card(cls, card: Mapping[str, Any]) -> "Origin | None":
        """What the card of a run names; None: it began with chance."""
        known = card.get(ON_THE_CARD)
        if known is None:
            return None
        run = Run.open(known["run"])
        origin = cls(run, run.checkpoints.find(known["checkpoint"]))
        if origin.facts() != known:
            raise UserError(f"{origin.checkpoint.path} no longer has the weights that the run began with")
        return origin

    def facts(self) -> dict[str, str]:
        """For the card."""
        return {
            "run": str(self.run.path.resolve()),
            "checkpoint": self.checkpoint.path.name,
            "fingerprint": self.checkpoint.state()["sha256"][WEIGHTS],
        }

    def fill(self, model: "Model", config: ModelConfig) -> None:
        """Give a model of these settings its first weights."""
        from headway.models.inherit import inherit
        from headway.store.tensors import load_weights

        weights = inherit(self.checkpoint.weights(), self.run.config.model, config)
        load_weights(model, weights, str(self.checkpoint.path))

    def check(self, config: ModelConfig) -> None:
        """Refuse a model that cannot begin with these weights."""
        import torch

        from headway.models import build_model

        with torch.device("meta"):
            self.fill(build_model(config), config)


@dataclass(frozen=True)
class Beginning:
    """What a run has from another one."""

    vocabulary: Vocabulary | None = None
    origin: Origin | None = None

    @classmethod
    def with_run(cls, path: Path) -> "Beginning":
        """Both are that run's."""
        origin = Origin.open(path)
        return cls(origin.run.vocabulary, origin)

    def facts(self) -> dict[str, Any]:
        """For the card."""
        return {ON_THE_CARD: self.origin.facts()} if self.origin is not None else {}


NEW = Beginning()
"""A vocabulary that is learned, and weights by chance."""


def settings_file(preset: str | None, file: Path | None, init: Path | None) -> Path | None:
    """The settings to change: a file's that was named, or if no preset was either those of the run to begin with."""
    if file is not None or preset is not None or init is None:
        return file
    return Run.open(init).path / "config.toml"


def check_same(run: Run, init: Path) -> None:
    """A run that goes on cannot begin with other weights."""
    known = run.card.get(ON_THE_CARD, {}).get("run")
    if known != str(init.resolve()):
        raise UserError(f"{run.path} began with {known or 'random weights'}, not with {init}; leave --init out")
