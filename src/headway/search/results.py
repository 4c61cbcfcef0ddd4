"""What search finds."""

from collections.abc import Sequence
from dataclasses import dataclass

from headway.search.penalties import LengthPenalty
from headway.text.specials import EOS


@dataclass(frozen=True)
class Hypothesis:
    """An output of the model, and how probable it is."""

    tokens: list[int]
    """Without BOS and EOS."""
    score: float
    """The log-probability divided by the length penalty; the larger the better."""
    log_probability: float
    """The sum of those of the tokens."""
    token_log_probabilities: list[float]
    """One for each token, then that of EOS if the output is finished; none if they were not asked for."""
    finished: bool
    """Whether the model has ended it; if not, it was cut at the greatest length allowed."""

    @property
    def length(self) -> int:
        """How many tokens were written, EOS counted."""
        return len(self.tokens) + self.finished

    @classmethod
    def of(cls, tokens: Sequence[int], log_probabilities: Sequence[float], penalty: LengthPenalty) -> "Hypothesis":
        """From the tokens written, EOS being the last if the output is finished, and the log-probability of each."""
        finished = bool(tokens) and tokens[-1] == EOS
        total = float(sum(log_probabilities))
        return cls(
            tokens=list(tokens[:-1] if finished else tokens),
            score=total / penalty(len(tokens)),
            log_probability=total,
            token_log_probabilities=list(log_probabilities),
            finished=finished,
        )
