"""A run directory: all that a later command needs to know about a training, and nothing else does.

`config.toml` (complete), `tokenizer.json`, `card.json`, `metrics.jsonl`, `checkpoints/`, `data/`, and at the end
`result.json`, which says which checkpoint is the one to use.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.config import Config
from headway.errors import UserError
from headway.settings import config_to_toml, load_config
from headway.store.card import FORMAT
from headway.store.checkpoints import Checkpoint, Checkpoints
from headway.store.metrics import Metrics
from headway.store.tensors import load_weights
from headway.text.files import hash_file
from headway.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headway.models import Model


@dataclass(frozen=True)
class Run:
    """A run by its directory."""

    path: Path

    @classmethod
    def create(cls, path: Path, config: Config, vocabulary: Vocabulary, card: Mapping[str, Any]) -> "Run":
        """Write what is known before the first step. The card comes last: a directory with one is a run."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            _replace(path / "config.toml", config_to_toml(config))
            _replace(path / "tokenizer.json", vocabulary.to_json())
            _replace(path / "card.json", json.dumps(card, indent=1, ensure_ascii=False))
        except OSError as error:
            raise UserError(f"cannot write to {path}: {error.strerror}") from None
        return cls(path)

    @classmethod
    def open(cls, path: str | Path) -> "Run":
        """The run in a directory; an unknown format is refused by name."""
        run = cls(Path(path))
        if not run.path.is_dir():
            raise UserError(f"{path} is not there; a run directory is what headway train --out writes")
        if not run.exists:
            raise UserError(
                f"{path} is not a run directory: it has no card.json. Train first: headway train --out {path}"
            )
        if (found := run.card.get("format")) != FORMAT:
            raise UserError(f"{path} has run format {found}; this Headway reads format {FORMAT}")
        return run

    @property
    def exists(self) -> bool:
        """Whether the directory has a run in it."""
        return (self.path / "card.json").is_file()

    @cached_property
    def card(self) -> dict[str, Any]:
        """Where the run comes from."""
        return self._json("card.json")

    @cached_property
    def config(self) -> Config:
        """All of its settings."""
        return load_config(file=self.path / "config.toml")

    def write_config(self, config: Config) -> None:
        """Replace the settings."""
        if config != self.config:
            _replace(self.path / "config.toml", config_to_toml(config))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its tokenizers, which must be those that the card knows and fit the model."""
        path = self.path / "tokenizer.json"
        vocabulary = Vocabulary.load(path)
        # The file, not what the library would write today: another version of it may spell the same differently.
        if hash_file(path) != self.card["vocabulary"]:
            raise UserError(f"{path} is not the vocabulary that the run was trained with")
        check_sizes(self.config, vocabulary)
        return vocabulary

    @property
    def checkpoints(self) -> Checkpoints:
        """Its checkpoints."""
        return Checkpoints(self.path / "checkpoints")

    @property
    def metrics(self) -> Metrics:
        """What it measured."""
        return Metrics(self.path / "metrics.jsonl")

    @property
    def data(self) -> Path:
        """Where its prepared corpora are."""
        return self.path / "data"

    @property
    def result(self) -> dict[str, Any] | None:
        """What came out, if the run has come to its end."""
        return self._json("result.json") if (self.path / "result.json").exists() else None

    def forget_result(self) -> None:
        """The run goes on: what came out is no longer what there is."""
        (self.path / "result.json").unlink(missing_ok=True)

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Say what came out."""
        _replace(self.path / "result.json", json.dumps(result, indent=1, ensure_ascii=False))

    def chosen(self) -> Checkpoint:
        """The checkpoint to use: what the result names, else the best so far, else the last."""
        if (result := self.result) is not None:
            return self.checkpoints.find(result["checkpoint"])
        latest = self.checkpoints.latest()
        if latest is None:
            raise UserError(f"{self.path} has no checkpoint yet; go on with headway train --out {self.path} --resume")
        best = latest.state().get("best") or {}
        known = {checkpoint.step: checkpoint for checkpoint in self.checkpoints.steps()}
        return known.get(best.get("step", latest.step), latest)

    def load_model(self, checkpoint: Checkpoint | None = None) -> "Model":
        """The model with the weights of a checkpoint, by default the one to use; ready to be asked."""
        from headway.models import build_model  # not before a model is wanted: it loads torch

        chosen = checkpoint or self.chosen()
        check_sizes(self.config, self.vocabulary)
        model = build_model(self.config.model)
        load_weights(model, chosen.weights(), str(chosen.path))
        return model.eval()

    def _json(self, name: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {self.path / name}: {error}") from None
        return found


def check_sizes(config: Config, vocabulary: Vocabulary) -> None:
    """The embedding must have a row for every token."""
    sides = {
        "model.vocabulary": (config.model.vocabulary, vocabulary.source),
        "model.target_vocabulary": (config.model.target_vocabulary or config.model.vocabulary, vocabulary.target),
    }
    for name, (rows, tokenizer) in sides.items():
        if rows != len(tokenizer):
            raise UserError(f"{name} = {rows:,}, but the vocabulary has {len(tokenizer):,} tokens")


def _replace(path: Path, text: str) -> None:
    """Write a file beside its place, then put it there."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)
