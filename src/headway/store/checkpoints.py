"""Checkpoints on disk: written beside their place and renamed, with checksums, pruned by rule.

A checkpoint is a directory with `model.safetensors` (the weights to use), `optimizer.safetensors` (what training needs
besides) and `state.json` (numbers, and the sha256 of the other two). It is there as a whole or not at all: whatever
stops the writing leaves only a directory whose name ends in `.partial`. One that was damaged later is recognised by
its checksums; then the one before it serves.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.errors import UserError
from headway.store.tensors import Tensors, read_tensors, write_tensors, write_through

WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
NAME = re.compile(r"(step|average)-(\d{8,})")


class DamagedError(UserError):
    """A checkpoint whose files are missing, cut short or changed."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint by its directory; nothing is read before it is asked for."""

    path: Path

    @property
    def step(self) -> int:
        """The number of updates behind it."""
        return int(self.path.name.partition("-")[2])

    def state(self) -> dict[str, Any]:
        """The numbers that were stored with the weights."""
        try:
            state = json.loads((self.path / STATE).read_bytes())
        except (OSError, ValueError):
            state = None
        if not isinstance(state, dict) or "sha256" not in state:
            raise DamagedError(f"{self.path} is damaged: {STATE} is missing or cut short")
        return state

    def weights(self) -> Tensors:
        """The weights to use."""
        return self._tensors(WEIGHTS)

    def optimizer(self) -> Tensors:
        """What training needs besides the weights."""
        return self._tensors(OPTIMIZER)

    def verify(self) -> None:
        """Compare every file with its checksum."""
        for name, expected in self.state()["sha256"].items():
            self._verify_file(name, expected)

    def _tensors(self, name: str) -> Tensors:
        sums = self.state()["sha256"]
        if name not in sums:
            raise UserError(f"{self.path} was written without {name}; training cannot go on from it")
        self._verify_file(name, sums[name])
        return read_tensors(self.path / name)

    def _verify_file(self, name: str, expected: str) -> None:
        try:
            with (self.path / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            raise DamagedError(f"{self.path} is damaged: {name} cannot be read") from None
        if found != expected:
            raise DamagedError(f"{self.path} is damaged: {name} does not have the checksum it was written with")


class Checkpoints:
    """All checkpoints of a run."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def steps(self) -> list[Checkpoint]:
        """Those that training wrote, from the first to the last."""
        return self._named("step")

    def averages(self) -> list[Checkpoint]:
        """Those that were made by averaging others."""
        return self._named("average")

    def find(self, name: str) -> Checkpoint:
        """The checkpoint of that name, as in step-00001000."""
        known = [checkpoint.path.name for checkpoint in (*self.steps(), *self.averages())]
        if name not in known:
            raise UserError(f"{self.directory} has no checkpoint {name}; it has {', '.join(known) or 'none'}")
        return Checkpoint(self.directory / name)

    def latest(self, on_damage: Callable[[str], None] = lambda _: None) -> Checkpoint | None:
        """The last whole checkpoint of training; each damaged one after it is told to `on_damage`."""
        for checkpoint in reversed(self.steps()):
            try:
                checkpoint.verify()
            except DamagedError as damaged:
                on_damage(str(damaged))
                continue
            return checkpoint
        return None

    def write(
        self, name: str, weights: Mapping[str, Any], optimizer: Mapping[str, Any] | None, state: Mapping[str, Any]
    ) -> Checkpoint:
        """Write a checkpoint; an older one of the same name is replaced when the new one is whole."""
        partial = self.directory / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir(parents=True)
            sums = {WEIGHTS: write_tensors(partial / WEIGHTS, weights)}
            if optimizer is not None:
                sums[OPTIMIZER] = write_tensors(partial / OPTIMIZER, optimizer)
            write_through(partial / STATE, json.dumps({**state, "sha256": sums}, indent=1).encode())
            _rename(partial, self.directory / name)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            last = self.latest()
            kept = f"the last good checkpoint is {last.path}" if last else "there is no earlier checkpoint"
            raise UserError(f"cannot write the checkpoint {self.directory / name}: {error.strerror}; {kept}") from None
        return Checkpoint(self.directory / name)

    def prune(self, keep: Iterable[int]) -> None:
        """Remove all checkpoints of training but those of the given steps, and what broken writing left behind."""
        kept = set(keep)
        for checkpoint in self.steps():
            if checkpoint.step not in kept:
                _remove(checkpoint.path)
        for partial in self.directory.glob("*.partial"):
            shutil.rmtree(partial, ignore_errors=True)

    def _named(self, kind: str) -> list[Checkpoint]:
        if not self.directory.is_dir():
            return []
        matches = ((NAME.fullmatch(path.name), path) for path in self.directory.iterdir())
        found = [Checkpoint(path) for match, path in matches if match and match[1] == kind]
        return sorted(found, key=lambda checkpoint: checkpoint.step)


def step_name(step: int) -> str:
    """The name of the checkpoint that training writes after `step` updates."""
    return f"step-{step:08d}"


def average_name(step: int) -> str:
    """The name of an average whose last part is of `step`."""
    return f"average-{step:08d}"


def _rename(partial: Path, final: Path) -> None:
    """Put a whole directory in its place, and wait until the disk knows."""
    _sync(partial)
    if final.exists():
        _remove(final)
    partial.rename(final)
    _sync(final.parent)


def _sync(directory: Path) -> None:
    """Wait until the disk has the names in a directory."""
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _remove(path: Path) -> None:
    """Remove a checkpoint; it stops being one before its files go."""
    doomed = path.with_name(f"{path.name}.old.partial")  # beside a new one of the same name, which is .partial
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed)
