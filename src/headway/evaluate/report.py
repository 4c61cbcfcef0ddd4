"""Hypotheses and references -> what the scores do not say: lengths, exact matches, and lines to read."""

import heapq
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sacrebleu import CHRF

from headway.evaluate.texts import References, align, require_same_count


@dataclass(frozen=True)
class Example:
    """A line to read."""

    line: int
    """Counted from 1."""
    source: str | None
    hypothesis: str
    references: tuple[str, ...]
    chrf: float
    """Of this line alone."""


@dataclass(frozen=True)
class TextReport:
    """How texts compare as a whole, and examples."""

    lines: int
    length_ratio: float | None
    """Characters of the hypotheses for one of the references, each taken as the one nearest in length; None of none."""
    exact_matches: float
    """The share of hypotheses that are one of their references, from 0 to 1."""
    empty: int
    """Hypotheses without a character."""
    worst: tuple[Example, ...]
    """Those with the lowest chrF, the lowest first."""
    longest: tuple[Example, ...]
    """Those with the longest source, or else the longest reference, the longest first."""

    def as_json(self) -> dict[str, Any]:
        """All numbers and examples, for `json.dumps`."""
        return asdict(self)


def report_texts(
    hypotheses: Sequence[str],
    references: References,
    *,
    sources: Sequence[str] | None = None,
    worst: int = 0,
    longest: int = 0,
) -> TextReport:
    """Compare texts line by line; `worst` and `longest` say how many examples to pick."""
    lists = align(hypotheses, references)
    if sources is not None:
        require_same_count("the hypotheses", hypotheses, "the source", sources)
    texts = [line.strip() for line in hypotheses]
    answers = [tuple(line.strip() for line in lines) for lines in zip(*lists, strict=True)]
    examples = _examples(texts, answers, sources) if worst or longest else []
    return TextReport(
        len(texts),
        _length_ratio(texts, answers),
        sum(text in known for text, known in zip(texts, answers, strict=True)) / len(texts),
        sum(not text for text in texts),
        tuple(heapq.nsmallest(worst, examples, key=lambda example: example.chrf)),
        tuple(heapq.nlargest(longest, examples, key=_length)),
    )


def _examples(texts: list[str], answers: list[tuple[str, ...]], sources: Sequence[str] | None) -> list[Example]:
    """Every line as an example."""
    metric = CHRF()
    examples = []
    for index, (text, known) in enumerate(zip(texts, answers, strict=True)):
        # sacreBLEU gives 0 to an empty line whose reference is empty, too.
        chrf = 100.0 if text in known else metric.sentence_score(text, known).score
        examples.append(Example(index + 1, sources[index] if sources else None, text, known, chrf))
    return examples


def _length(example: Example) -> int:
    return len(example.source) if example.source is not None else max(map(len, example.references))


def _length_ratio(texts: list[str], answers: list[tuple[str, ...]]) -> float | None:
    nearest = [
        min(map(len, known), key=lambda length: (abs(length - len(text)), length))
        for text, known in zip(texts, answers, strict=True)
    ]
    return sum(map(len, texts)) / sum(nearest) if any(nearest) else None
