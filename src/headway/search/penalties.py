"""Length penalties: what a log-probability is divided by, so that outputs of different lengths can be compared.

Longer outputs are less probable, and without a penalty short ones would win. Two formulas are in use, and the same
alpha does not mean the same in both: from L = 10 to L = 40, alpha = 0.6 raises `gnmt` 1.93 times, `power` 2.30 times.

L is the number of tokens that have been scored: it counts EOS, as in tensor2tensor.
"""

from dataclasses import dataclass
from typing import Literal

from headway.config import SearchConfig


@dataclass(frozen=True)
class LengthPenalty:
    """A formula and its strength."""

    name: Literal["gnmt", "power"]
    alpha: float

    @classmethod
    def of(cls, config: SearchConfig) -> "LengthPenalty":
        """The penalty that the settings name."""
        return cls(config.penalty, config.alpha)

    def __call__(self, length: int) -> float:
        """The divisor for an output of `length` tokens, EOS counted; it grows with the length."""
        match self.name:
            case "gnmt":  # Wu et al., 2016; the paper
                return float(((5 + length) / 6) ** self.alpha)
            case "power":
                return float(max(length, 1) ** self.alpha)
