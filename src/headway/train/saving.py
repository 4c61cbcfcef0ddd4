"""Training state <-> checkpoints of a run, for one rank or many."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor
from torch.optim import Optimizer

from headway.config import TrainConfig
from headway.models import Model
from headway.store.checkpoints import Checkpoint, Checkpoints, step_name
from headway.store.tensors import model_tensors
from headway.train.moving_average import MovingAverage
from headway.train.optimizers import load_optimizer, optimizer_tensors
from headway.train.precision import Precision
from headway.train.progress import Progress
from headway.train.ranks import Ranks, like, whole

RAW = "raw"
"""Prefix of the weights that are trained, where `model.safetensors` has their moving average."""


class Saver:
    """Writes and reads all that training needs to go on."""

    def __init__(
        self,
        checkpoints: Checkpoints,
        model: Model,
        optimizer: Optimizer,
        precision: Precision,
        ranks: Ranks,
        config: TrainConfig,
    ) -> None:
        self.checkpoints = checkpoints
        self.model = model
        self.optimizer = optimizer
        self.precision = precision
        self.ranks = ranks
        self.config = config
        self.average = MovingAverage(model, config.ema) if config.ema else None

    def save(self, progress: Progress, last: int) -> Checkpoint:
        """Write a checkpoint and remove those that the rule does not keep; `last` is the final step, if it is known."""
        with self.weights_to_use():
            weights = self._gathered(model_tensors(self.model))
        memory = optimizer_tensors(self.optimizer, self.model.named_parameters())
        if self.average is not None:
            memory |= {f"{RAW}/{name}": weight for name, weight in model_tensors(self.model).items()}
        memory = self._gathered(memory)
        name = step_name(progress.step)
        if self.ranks.is_first:
            state = {**progress.as_json(), "scaler": self.precision.state()}
            self.checkpoints.write(name, weights, memory, state)
            self._prune(progress, last)
        return Checkpoint(self.checkpoints.directory / name)

    def load(self, checkpoint: Checkpoint) -> Progress:
        """Go back to a checkpoint."""
        weights, memory, state = checkpoint.weights(), checkpoint.optimizer(), checkpoint.state()
        if self.average is not None:
            self.average.load({name: like(weights[name], x) for name, x in self.average.averages.items()})
        # A run may be resumed with another train.ema than it was stopped with.
        raw = {name.removeprefix(f"{RAW}/"): x for name, x in memory.items() if name.startswith(f"{RAW}/")}
        self._set(raw or weights)
        examples = dict(self.model.named_parameters())
        spread = {
            key: like(value, examples[key.partition("/")[2]]) if not key.startswith("step/") else value
            for key, value in memory.items()
            if not key.startswith(f"{RAW}/")
        }
        load_optimizer(self.optimizer, self.model.named_parameters(), spread)
        self.precision.load_state(state["scaler"])
        return Progress.from_json(state)

    def use(self, checkpoint: Checkpoint) -> None:
        """Give the model the weights of a checkpoint, to be judged; training cannot go on from there."""
        self._set(checkpoint.weights())

    @contextmanager
    def weights_to_use(self) -> Iterator[None]:
        """Inside, the model has the weights that it is to be judged by."""
        with self.average.in_place() if self.average is not None else nullcontext():
            yield

    def regular(self, last: int) -> list[Checkpoint]:
        """The checkpoints that any run with these settings has, however often it was stopped.

        All ranks must ask. They go by what the first one sees: a shared disk may show its news to others later.
        """
        names = self.ranks.text_of(0, " ".join(step_name(step) for step in self._regular_steps(last)))
        return [Checkpoint(self.checkpoints.directory / name) for name in names.split()]

    def _regular_steps(self, last: int) -> list[int]:
        steps = [checkpoint.step for checkpoint in self.checkpoints.steps()]
        return [step for step in steps if step and (step % self.config.save_every == 0 or step == last)]

    def _prune(self, progress: Progress, last: int) -> None:
        regular = self._regular_steps(last)
        kept = {progress.step, *regular[-max(self.config.keep, self.config.average) :]}
        if progress.best is not None:
            kept.add(progress.best.step)
        self.checkpoints.prune(kept)

    @torch.no_grad()
    def _set(self, weights: dict[str, Tensor]) -> None:
        for name, weight in model_tensors(self.model).items():
            weight.copy_(like(weights[name], weight))

    def _gathered(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Copies of whole tensors on the CPU; only the first rank keeps them."""
        found = {}
        for name, tensor in tensors.items():
            full = whole(tensor)
            if self.ranks.is_first:
                found[name] = full.detach().cpu().clone()
        return found
