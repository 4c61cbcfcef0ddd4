"""One update: the gradient of the whole batch, looked at before it is used, and one step of the optimizer.

The loss is divided once, by the tokens of the whole update over all parts and ranks, so that neither changes anything
but speed and memory. Chance is a function of (seed, step, rank): a run that is resumed finds the same dropout
as if nothing had happened.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.optim import Optimizer

from headway.config import TrainConfig
from headway.errors import UserError
from headway.train.batches import Batch, Part, Share
from headway.train.optimizers import set_rate
from headway.train.precision import Precision
from headway.train.ranks import Ranks, whole, without_exchange


class Wishes(NamedTuple):
    """What this rank, or any, wants to be done after an update."""

    stop: bool = False
    save: bool = False


NO_WISH = Wishes()


@dataclass(frozen=True)
class Stats:
    """What an update saw, over all ranks."""

    loss: float
    """Mean smoothed loss of a token: what is trained."""
    plain: float
    """Mean unsmoothed loss of a token: what perplexity is made from."""
    tokens: int
    """How many tokens were to be said."""
    norm: float
    """Of the gradient, before it is clipped."""

    @property
    def is_finite(self) -> bool:
        """Whether the gradient may be used."""
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class Updater:
    """Computes gradients with `module`, the objective as all ranks compute it, and steps the optimizer."""

    def __init__(
        self,
        module: nn.Module,
        optimizer: Optimizer,
        precision: Precision,
        ranks: Ranks,
        config: TrainConfig,
        on_warning: Callable[[str], None],
    ) -> None:
        self.module = module
        self.optimizer = optimizer
        self.precision = precision
        self.ranks = ranks
        self.config = config
        self.on_warning = on_warning
        self._weights = [weight for weight in module.parameters() if weight.requires_grad]

    def gradient(self, share: Share, step: int, wishes: Wishes = NO_WISH) -> tuple[Stats, Wishes]:
        """Put the mean gradient of the update into the weights' `grad`; also says what any rank wishes."""
        tokens, *wanted = self.ranks.total(share.tokens, *wishes)
        self.module.train()
        parts, scale = share.parts, self.ranks.count / max(tokens, 1)
        while (sums := self._attempt(parts, step, scale)) is None:
            parts = self._split(parts, step)
        self.precision.unscale(self.optimizer)
        gradients = [weight.grad for weight in self._weights if weight.grad is not None]
        norm = float(whole(nn.utils.get_total_norm(gradients)))
        smoothed, plain = (total / max(tokens, 1) for total in self.ranks.total(*sums))
        return Stats(smoothed, plain, int(tokens), norm), Wishes(*map(bool, wanted))

    def step(self, rate: float, norm: float) -> None:
        """Change the weights by the gradient, clipped if it is longer than the settings allow."""
        if self.config.clip:
            nn.utils.clip_grads_with_norm_(self._weights, self.config.clip, torch.tensor(norm))
        set_rate(self.optimizer, rate)
        self.precision.step(self.optimizer)

    def forward(self, batch: Batch) -> torch.Tensor:
        """The loss of a batch as training computes it, to look into."""
        with self.precision.autocast():
            return self.module(to_device(batch, self.precision.device)).smoothed

    def seed(self, step: int) -> None:
        """Let chance begin anew, as it does in this step on this rank."""
        torch.manual_seed(_mix(self.config.seed, step, self.ranks.rank))

    def _attempt(self, parts: Sequence[Part], step: int, scale: float) -> tuple[float, float] | None:
        """What `_sums` gives, or None if memory ran out; its error must be gone before memory can be given back."""
        try:
            return self._sums(parts, step, scale)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            if self.ranks.count > 1:  # the others would not split theirs
                raise UserError(
                    f"rank {self.ranks.rank} is out of memory in step {step}; let all ranks work in smaller parts: "
                    f"--set train.accumulate={2 * self.config.accumulate}"
                ) from error
            return None

    def _sums(self, parts: Sequence[Part], step: int, scale: float) -> tuple[float, float]:
        """Gradients of all parts, and the sums of their losses."""
        self.optimizer.zero_grad(set_to_none=True)
        self.seed(step)
        smoothed, plain = 0.0, 0.0
        for number, part in enumerate(parts, start=1):
            batch = to_device(part.batch, self.precision.device)
            with without_exchange(self.module, is_last=number == len(parts)):
                with self.precision.autocast():
                    loss = self.module(batch)
                self.precision.backward(loss.smoothed * scale)
            smoothed += float(loss.smoothed.detach())
            plain += float(loss.plain)
        return smoothed, plain

    def _split(self, parts: Sequence[Part], step: int) -> list[Part]:
        """Each part in two halves; memory that the failed attempt held is given back first."""
        self.optimizer.zero_grad(set_to_none=True)
        with suppress(RuntimeError):
            torch.cuda.empty_cache()
        halves = [half for part in parts for half in _halves(part)]
        if len(halves) == len(parts):
            raise UserError(
                f"out of memory in step {step}, with one sentence at a time; lower data.max_length or the size of "
                "the model, or set machine.recompute=true"
            )
        self.on_warning(
            f"out of memory in step {step}: its batch is computed in {len(halves)} parts instead of {len(parts)}; "
            f"--set train.accumulate={len(halves)} does so from the start"
        )
        return halves


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The batch where the model is."""
    return type(batch)(*(tensor.to(device, non_blocking=True) for tensor in batch))


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, on whatever device."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _halves(part: Part) -> list[Part]:
    rows = part.batch.answer.size(0)
    if rows < 2:
        return [part]
    cuts = (slice(0, rows // 2), slice(rows // 2, rows))
    return [Part(type(part.batch)(*(x[cut] for x in part.batch)), part.numbers[cut]) for cut in cuts]


def _mix(*numbers: int) -> int:
    """A seed that depends on all of the numbers."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0] >> 1)
