"""Why training fails, in words: numbers that are not finite, and a loss that runs away."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from headway.train.batches import Part
from headway.train.ranks import whole
from headway.train.update import Stats, Updater

SHOWN_SENTENCES = 3
MEMORY = 50
"""About how many updates make the running mean of the loss; the noise of small batches must not look like a rise."""


def explain_nonfinite(
    updater: Updater, parts: Sequence[Part], stats: Stats, step: int, show: Callable[[int], str]
) -> str:
    """Say where a loss or gradient that is not finite came from: step, layer, and sentences as `show` has them.

    All ranks look at their parts, and all of them get what the first one that finds something says.
    """
    what = "loss" if not math.isfinite(stats.loss) else "gradient"
    ranks = updater.ranks
    updater.seed(step)  # once: each part then finds the dropout that it had
    layers = [first_nonfinite_layer(updater, part) for part in parts]  # of all parts: ranks compute together
    found = [(f"first in the output of {layer}", [part]) for layer, part in zip(layers, parts, strict=True) if layer]
    finders = ranks.total(*(float(bool(found) and rank == ranks.rank) for rank in range(ranks.count)))
    if not any(finders):
        found = [(f"first in the gradient of {_nonfinite_gradient(updater.module)}", list(parts))]
    said = _said(f"{what} of step {step}", *found[0], show) if found else ""
    return ranks.text_of(finders.index(1.0) if any(finders) else 0, said)


def _said(what: str, where: str, blamed: Sequence[Part], show: Callable[[int], str]) -> str:
    numbers = [number for part in blamed for number in part.numbers]
    listed = "\n".join(f"  pair {number + 1:,}: {show(number)}" for number in numbers[:SHOWN_SENTENCES])
    more = f"\n  and {len(numbers) - SHOWN_SENTENCES:,} more" if len(numbers) > SHOWN_SENTENCES else ""
    return f"the {what} is not a finite number: {where}; in the batch are\n{listed}{more}"


def first_nonfinite_layer(updater: Updater, part: Part) -> str | None:
    """The first module, in the order of computation, whose output is not finite; None if all are."""
    found: list[str] = []
    with _watched(updater.module, found), torch.no_grad():
        loss = updater.forward(part.batch)
    if found:
        return found[0]
    return None if math.isfinite(float(loss)) else "the loss"


@contextmanager
def _watched(module: nn.Module, found: list[str]) -> Iterator[None]:
    """Inside, the names of modules whose outputs are not finite are put down in `found`."""

    def watch(name: str) -> Callable[[nn.Module, object, object], None]:
        def look(_: nn.Module, __: object, output: object) -> None:
            tensors = output if isinstance(output, tuple) else (output,)
            if any(isinstance(x, Tensor) and not bool(torch.isfinite(x).all()) for x in tensors):
                found.append(name)

        return look

    hooks = [part.register_forward_hook(watch(_plain(name))) for name, part in module.named_modules() if name]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _nonfinite_gradient(module: nn.Module) -> str:
    """The weight whose gradient was not finite first: backward goes from the last to the first."""
    names = [
        name
        for name, weight in module.named_parameters()
        if weight.grad is not None and not bool(torch.isfinite(whole(weight.grad)).all())
    ]
    return _plain(names[-1]) if names else "no weight by itself: their norm overflows"


def _plain(name: str) -> str:
    """A name without the wrappers around the model."""
    return re.sub(r"^((module|objective|model)\.)+", "", name)


class Divergence:
    """Notices early that the loss goes up for good, and says what that usually means."""

    def __init__(self, uniform: float, warmup: int) -> None:
        self._uniform = uniform  # the loss of a model that knows nothing
        self._warmup = warmup
        self._seen = 0
        self._mean = 0.0
        self._lowest = math.inf
        self._has_said = False

    def look(self, step: int, loss: float) -> str | None:
        """A warning, once, when the running mean has risen half way back to knowing nothing."""
        self._seen += 1
        self._mean += (loss - self._mean) / min(self._seen, MEMORY)
        if self._seen < MEMORY:
            return None
        self._lowest = min(self._lowest, self._mean)
        limit = self._lowest + 0.5 * max(self._uniform - self._lowest, 1.0)
        if self._has_said or self._mean < limit:
            return None
        self._has_said = True
        reasons = "the learning rate is too high (lower train.peak_rate or train.rate_factor, or clip: train.clip=1)"
        if step <= 2 * self._warmup:
            reasons = f"the warm-up is too short (train.warmup = {self._warmup}) or {reasons}"
        return (
            f"the loss was {self._lowest:.2f} and is {self._mean:.2f} by step {step}: training diverges. Most likely "
            f"{reasons}; post-norm models of many layers are less stable than pre-norm ones (model.norm_place=pre)"
        )
