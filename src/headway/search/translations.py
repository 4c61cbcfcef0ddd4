"""What a translator is given and what it gives back, for each line of text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp

from headway.search.alignment import Alignment
from headway.search.lines import join_parts
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Line:
    """A line to translate, and what its translation must look like."""

    text: str
    prefix: str = ""
    """How the translation begins."""
    phrases: tuple[str, ...] = ()
    """What it contains, each somewhere."""


@dataclass(frozen=True)
class Output:
    """One translation of a line."""

    text: str
    score: float
    """The log-probability divided by the length penalty; the larger the better. Not a number if nobody asked for it."""
    tokens: list[str]
    """The pieces of the text."""
    probabilities: list[float]
    """One for each piece, then that of the end, if the model has ended it; of a line in parts, the end of each part.
    None if they were not asked for."""
    finished: bool
    """Whether the model has ended it; if not, it was cut at the greatest length allowed."""


@dataclass(frozen=True)
class Translation:
    """The translation of a line: the best output first, then all that were asked for."""

    text: str = ""
    score: float = 0.0
    tokens: list[str] = field(default_factory=list)
    probabilities: list[float] = field(default_factory=list)
    finished: bool = True
    alignment: Alignment | None = None
    """Words that belong together, if asked for."""
    n_best: list[Output] = field(default_factory=list)
    """The best outputs, best first; the first is this translation. None for an empty line."""
    error: str | None = None
    """Why there is no translation."""
    engine: str = "torch"
    """The name of what made it."""

    @classmethod
    def of(cls, n_best: list[Output], engine: str, alignment: Alignment | None = None) -> "Translation":
        """The translation that the first of the outputs is."""
        best = n_best[0]
        return cls(**vars(best), alignment=alignment, n_best=n_best, engine=engine)


def to_output(parts: list[str], hypotheses: Sequence[Hypothesis], target: Tokenizer, penalty: LengthPenalty) -> Output:
    """The output of a line from those of its parts; its score is that of all tokens together."""
    texts = [target.decode(each.tokens).replace("\n", " ").replace("\r", " ") for each in hypotheses]
    values = [value for each in hypotheses for value in each.token_log_probabilities]
    return Output(
        text=join_parts(parts, texts),
        score=sum(each.log_probability for each in hypotheses) / penalty(sum(each.length for each in hypotheses)),
        tokens=[piece for each in hypotheses for piece in target.pieces(each.tokens)],
        probabilities=[exp(value) for value in values],
        finished=all(each.finished for each in hypotheses),
    )


def joined_alignment(parts: list[str], texts: list[str], alignments: list[Alignment]) -> Alignment:
    """The alignment of a line from those of its parts, and of their translations' texts."""
    joined: Alignment = []
    source_words = target_words = 0
    for part, text, alignment in zip(parts, texts, alignments, strict=True):
        joined += [(source + source_words, target + target_words) for source, target in alignment]
        source_words += len(part.split())
        target_words += len(text.split())
    return joined
