"""Pairs of texts -> how probable a model finds the second, given the first."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import exp, nan
from typing import Any

from headway.search.translator import OnWarning, Translator


@dataclass(frozen=True)
class PairScore:
    """A translation that was given, as the model sees it."""

    score: float
    """The log-probability divided by the length penalty, as the score of a translation."""
    log_probability: float
    """The natural logarithm, of all tokens and the end together."""
    tokens: list[str]
    probabilities: list[float]
    """One for each token, then that of the end."""
    error: str | None = None
    """Why there is no score."""

    def as_json(self) -> dict[str, Any]:
        """All numbers, or why there are none, for `json.dumps`."""
        if self.error is not None:
            return {"error": self.error}
        return {name: fact for name, fact in asdict(self).items() if name != "error"}


@dataclass
class Likelihood:
    """The sum over many pairs; those without a score do not count."""

    pairs: int = 0
    tokens: int = 0
    """Of the targets, with the end of each."""
    log_probability: float = 0.0

    def add(self, pair: PairScore) -> None:
        """Count one more pair."""
        if pair.error is None:
            self.pairs += 1
            self.tokens += len(pair.probabilities)
            self.log_probability += pair.log_probability

    @property
    def perplexity(self) -> float | None:
        """Of a token; None of none."""
        return exp(-self.log_probability / self.tokens) if self.tokens else None

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        return {**asdict(self), "perplexity": self.perplexity}


def score_pairs(
    translator: Translator, pairs: Iterable[tuple[str, str]], on_warning: OnWarning | None = None
) -> Iterator[PairScore]:
    """The score of each pair, in order, in constant memory."""
    for given in translator.score(pairs, on_warning=on_warning):
        if given.error is not None:
            yield PairScore(nan, nan, [], [], given.error)
            continue
        # Not from the probabilities, which may have become 0 where their logarithms are still numbers.
        total = given.score * translator.penalty(len(given.probabilities))
        yield PairScore(given.score, total, given.tokens, given.probabilities)
