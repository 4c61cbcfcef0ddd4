"""An evaluation as people read it: each number with its interval, its signature and what it means."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.evaluate.report import Example
    from headway.evaluate.scores import Score
    from headway.tasks.evaluating import Evaluation

SPREAD = 28
"""Columns of the names."""


def as_text(evaluation: "Evaluation", width: int = 100) -> str:
    """All that was found, in lines of at most `width` columns where words allow it; signatures stay whole."""
    tests, scores = evaluation.test_set, evaluation.scores
    lines = [f"{evaluation.system.name} on {tests.name}: {scores.lines:,} lines, {_references(scores.references)}"]
    lines += _wrap(_language(evaluation), width)
    lines.append("")
    for score in scores.by_metric.values():
        lines += [_row(score.name, _with_interval(score)), f"  {score.signature}"]
    for labelled in evaluation.tokenized.values():
        lines += [_row(labelled.label, _with_interval(labelled.score)), *_wrap(labelled.note, width, "  ")]
    lines += ["", *_facts(evaluation)]
    for note in scores.notes:
        lines += _wrap(f"note: {note}", width)
    if evaluation.comparison is not None:
        lines.append("")
        for difference in evaluation.comparison.by_metric.values():
            lines += _wrap(difference.verdict, width)
    for title, examples in (("worst", evaluation.report.worst), ("longest", evaluation.report.longest)):
        for example in examples:
            lines += ["", *_example(title, example)]
    return "\n".join(lines)


def _language(evaluation: "Evaluation") -> str:
    """The language, where it comes from, and what BLEU makes of it."""
    code, origin = evaluation.test_set.language
    splits = f"; BLEU splits words by {evaluation.scores.tokenizer}" if evaluation.scores.tokenizer else ""
    return f"language of the target: {f'{code}, {origin}' if code else origin}{splits}"


def _facts(evaluation: "Evaluation") -> Iterator[str]:
    """The numbers that are no scores."""
    system, report = evaluation.system, evaluation.report
    if system.perplexity is not None:
        yield _row("perplexity", f"{system.perplexity:8.2f}  of a target token")
    if report.length_ratio is not None:
        yield _row("length ratio", f"{report.length_ratio:8.3f}  characters for one of the reference")
    yield _row("exact matches", f"{100 * report.exact_matches:8.2f}% of the lines")
    if report.empty:
        yield _row("empty lines", f"{report.empty:8,}")
    if (speed := system.speed) is not None:
        yield _row(
            "speed",
            f"{speed.sentences_per_second:8,.1f}  sentences/s, {speed.tokens_per_second:,.0f} target tokens/s",
        )


def _example(title: str, example: "Example") -> Iterator[str]:
    yield f"{title}: line {example.line:,}, chrF {example.chrf:.1f}"
    if example.source is not None:
        yield f"  source      {example.source}"
    yield f"  hypothesis  {example.hypothesis}"
    for reference in example.references:
        yield f"  reference   {reference}"


def _row(name: str, value: str) -> str:
    return f"{name:<{SPREAD}}{value}"


def _with_interval(score: "Score") -> str:
    between = f"  ({score.low:.2f} to {score.high:.2f})" if score.low is not None else ""
    return f"{score.value:8.2f}{between}"


def _references(count: int) -> str:
    return f"{count} reference{'' if count == 1 else 's'}"


def _wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` columns, in which paths stay whole."""
    wrapper = textwrap.TextWrapper(width, indent, indent or "  ", break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text)
