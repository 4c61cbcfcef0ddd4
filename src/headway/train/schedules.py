"""Step -> learning rate. Pure functions of the step, counted from 1; all rise linearly over `warmup` steps."""

import math
from collections.abc import Callable

from headway.config import TrainConfig

Schedule = Callable[[int], float]


def noam(step: int, d_model: int, warmup: int, factor: float = 1.0) -> float:
    """The paper's formula (section 5.3); its peak is at `warmup`."""
    return factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def inverse_sqrt(step: int, peak: float, warmup: int) -> float:
    """Up to `peak`, then down with the root of the step: noam with a peak that is given instead of computed."""
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def cosine(step: int, peak: float, warmup: int, steps: int) -> float:
    """Up to `peak`, then half a cosine down to 0 at `steps`."""
    if step <= warmup:
        return peak * step / warmup
    done = min((step - warmup) / (steps - warmup), 1.0)
    return peak * (1 + math.cos(math.pi * done)) / 2


def constant(step: int, peak: float, warmup: int) -> float:
    """Up to `peak`, and there it stays."""
    return peak * min(step / warmup, 1.0)


def build_schedule(config: TrainConfig, d_model: int) -> Schedule:
    """The schedule that the settings name."""
    peak, warmup = config.peak_rate, config.warmup
    match config.schedule:
        case "noam":
            return lambda step: noam(step, d_model, warmup, config.rate_factor)
        case "inverse-sqrt":
            return lambda step: inverse_sqrt(step, peak, warmup)
        case "cosine":
            rising = min(warmup, max(config.steps // 2, 1))
            return lambda step: cosine(step, peak, rising, config.steps)
        case "constant":
            return lambda step: constant(step, peak, warmup)
