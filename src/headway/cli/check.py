"""`headway check`: the health of a corpus, for people or as JSON."""

import json
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.corpora import (
    TestCorpus,
    TestSource,
    TestTarget,
    TrainCorpus,
    TrainSource,
    TrainTarget,
    ValidCorpus,
    ValidSource,
    ValidTarget,
    open_held_out,
    open_training,
)
from headway.cli.settings import Assignments, ConfigFile, Preset

if TYPE_CHECKING:
    from headway.text.findings import CorpusHealth, Example, Finding, HealthReport, SideHealth, TokenizerFacts

SPREAD = 22
"""Columns of the first column of every table."""
WIDEST = 160
"""Lines that are longer are hard to read on any terminal."""

ROLES = {"train": "training", "valid": "validation", "test": "test"}
NAMES = {
    "empty": "pairs with an empty side",
    "too_long": "pairs over data.max_length",
    "over_max_ratio": "pairs over data.max_ratio",
    "ratio_outliers": "length ratio outliers",
    "duplicates": "repeated pairs",
    "several_targets": "sources with several targets",
    "identical": "source and target identical",
    "wrong_script": "lines in another script",
    "odd_characters": "lines with odd characters",
    "spelled_in_bytes": "characters spelled in bytes",
    "pairs_in_training": "pairs also in training",
    "sources_in_training": "sources also in training",
    "targets_in_training": "targets also in training",
    "pairs_in_validation": "pairs also in validation",
    "sources_in_validation": "sources also in validation",
    "targets_in_validation": "targets also in validation",
}


def check(
    source: TrainSource = None,
    target: TrainTarget = None,
    corpus: TrainCorpus = None,
    valid_source: ValidSource = None,
    valid_target: ValidTarget = None,
    valid_corpus: ValidCorpus = None,
    test_source: TestSource = None,
    test_target: TestTarget = None,
    test_corpus: TestCorpus = None,
    preset: Preset = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Look a corpus over before training: lengths, repeats, wrong lines, odd characters, overlap with the test.

    Every finding is fine, to look at, or wrong, and says what to do. Files may be compressed (.gz, .zst).

    \b
    Examples:
      headway check --source train.de --target train.en
      headway check --source train.de --target train.en --test-source test.de --test-target test.en
      headway check --corpus builtin:en-fr
      headway check --corpus train.tsv --set data.source_column=2 --set data.target_column=3
      headway check --corpus memory.tmx --set data.source_language=de --set data.target_language=en --json
    """  # noqa: D301
    from headway.settings import load_config

    settings = load_config(preset, config, assignments or ())

    from headway.text.health import check_corpus

    train = open_training(source, target, corpus, settings.data)
    valid = open_held_out("valid", valid_source, valid_target, valid_corpus, settings.data, train)
    test = open_held_out("test", test_source, test_target, test_corpus, settings.data, train)
    _show_progress("train", 0)
    try:
        report = check_corpus(train, settings, valid=valid, test=test, on_progress=_show_progress)
    finally:
        _overwrite("")
    if as_json:
        typer.echo(json.dumps(report.as_json()))
    else:
        _print(as_text(report, min(shutil.get_terminal_size((100, 24)).columns, WIDEST)))


def as_text(report: "HealthReport", width: int = 100) -> str:
    """The report for people, in lines of at most `width` columns."""
    lines: list[str] = []
    for role, corpus in report.corpora.items():
        skipped = f" ({corpus.skipped:,} units in other languages skipped)" if corpus.skipped else ""
        lines.append(f"{ROLES[role]}: {corpus.name}, {_pairs(corpus.pairs)}{skipped}")
        if role == "train":
            lines += [*_wrap(_tokenizer(report.tokenizer, corpus.pairs), width), "", *_sides(corpus, width), ""]
            lines += [*_histogram(corpus, width), ""]
        else:
            lines += ["", *_sides(corpus, width), ""]
        shown = [each for each in corpus.findings if role == "train" or each.count or each.name.startswith("pairs_in")]
        lines += [line for finding in shown for line in _finding(finding, corpus.unit, width)]
        lines.append("")
    severities = report.severities
    return "\n".join([*lines, f"{severities['wrong']} wrong, {severities['look']} to look at, the rest is fine"])


def _tokenizer(facts: "TokenizerFacts", pairs: int) -> str:
    sizes = " and ".join(f"{size:,}" for size in facts.sizes)
    learned = "all pairs" if facts.learned_from == pairs else f"the first {facts.learned_from:,} pairs"
    more = f" For all pairs, the default would be {facts.size_for_all:,}." if facts.size_for_all else ""
    return (
        f"Tokens of a tokenizer learned from {learned}: {facts.kind}, {sizes} tokens"
        f"{'' if len(facts.sizes) == 1 else ' (source and target)'}, {facts.normalisation}."
        f"{more if facts.learned_from < pairs else ''}"
    )


def _sides(corpus: "CorpusHealth", width: int) -> Iterator[str]:
    """The numbers of both sides, in columns."""
    rows = {
        "tokens": lambda side: f"{side.tokens:,}",
        "a sentence, median": lambda side: f"{side.median_length:,}",
        "99% have at most": lambda side: f"{side.p99_length:,}",
        "longest": lambda side: f"{side.longest:,}",
        "tokens a word": lambda side: _number(side.tokens_per_word),
        "characters a token": lambda side: _number(side.characters_per_token),
        "tokens that are bytes": lambda side: _percent(side.byte_token_share),
        "script": lambda side: side.script or "-",
    }
    yield f"{'':<{SPREAD}}{'source':>14}{'target':>14}"
    for name, show in rows.items():
        yield f"{name:<{SPREAD}}{show(corpus.source):>14}{show(corpus.target):>14}"
    for name, side in (("source", corpus.source), ("target", corpus.target)):
        yield from _characters(name, side, width)


def _characters(name: str, side: "SideHealth", width: int) -> Iterator[str]:
    """What is in a side beside its script and its pieces, if anything is."""
    others = {script: count for script, count in side.scripts.items() if script != side.script}
    spelled = {_visible(character): count for character, count in side.spelled.items()}
    for what, counts in (
        ("lines in", others),
        ("odd", side.odd_characters),
        ("in bytes", spelled),
    ):
        if counts:
            listed = ", ".join(f"{key} {count:,}" for key, count in counts.items())
            yield f"{f'{name}, {what}':<{SPREAD}}  {_shorten((listed,), width - SPREAD - 2)}"


def _histogram(corpus: "CorpusHealth", width: int) -> Iterator[str]:
    """Bars for both sides, to one scale."""
    most = max(max(each.source, each.target) for each in corpus.lengths) or 1
    room = max((width - 14 - 2 * 12) // 2, 5)
    yield f"{'tokens':>11}  {'source':<{room + 12}}target"
    for each in corpus.lengths:
        span = f"{each.first:,}+" if each.last is None else f"{each.first:,}-{each.last:,}"
        span = f"{each.first:,}" if each.first == each.last else span
        bars = [f"{count:>9,} {'█' * _bar(count, most, room)}" for count in (each.source, each.target)]
        yield f"{span:>11}  {bars[0]:<{room + 12}}{bars[1]}".rstrip()


def _bar(count: int, most: int, room: int) -> int:
    """Columns of a bar; what is there can be seen."""
    return max(round(count / most * room), min(count, 1))


def _finding(finding: "Finding", unit: str, width: int) -> Iterator[str]:
    """A line, and advice and examples if it is not fine."""
    share = f"{_percent(finding.share):>9}" if finding.count else ""
    row = f"{finding.severity:<6} {NAMES[finding.name]:<30}{finding.count:>10,}{share}"
    if finding.severity == "fine":
        places = ", ".join(f"{each.line:,}" for each in finding.examples)
        yield f"{row}   {unit if len(finding.examples) == 1 else unit + 's'} {places}" if places else row
    else:
        yield row
        yield from (f"       {line}" for line in _wrap(finding.advice, width - 7))
        yield from (_example(each, unit, width) for each in finding.examples)


def _example(example: "Example", unit: str, width: int) -> str:
    note = f"({example.note}) " if example.note else ""
    start = f"         {f'{unit} {example.line:,}':<14} {note}"
    return start + _shorten(example.texts, width - len(start))


def _shorten(texts: tuple[str, ...], width: int) -> str:
    """Texts side by side in `width` columns, each shortened to its part; Chinese takes two columns a character."""
    from rich.cells import cell_len, set_cell_size

    shown = [_visible(text) or "(empty)" for text in texts]
    separator = " | "
    room = max((width - len(separator) * (len(shown) - 1)) // max(len(shown), 1), 4)
    fitting = [text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…" for text in shown]
    return separator.join(fitting)


def _visible(text: str) -> str:
    """The text with what cannot be seen, or would control the terminal, written as <U+0007>."""
    if text.isprintable() and text.strip():
        return text
    return "".join(c if c.isprintable() and (c != " " or text.strip()) else f"<U+{ord(c):04X}>" for c in text)


def _wrap(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(width, 20))


def _pairs(count: int) -> str:
    return f"{count:,} pair" + ("" if count == 1 else "s")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _percent(share: float | None) -> str:
    """A share; what is little is not shown as nothing."""
    if share is None:
        return "-"
    return "<0.01%" if 0 < share < 0.0001 else f"{share:.2%}"


def _show_progress(role: str, pairs: int) -> None:
    """A line that is written over, for those who watch."""
    doing = "learning a tokenizer from" if role == "learn" else f"{ROLES[role]}: read"
    _overwrite(f"{doing} {_pairs(pairs)}")


def _overwrite(text: str) -> None:
    if sys.stderr.isatty():
        typer.echo(f"\r{'':<60}\r{text}", err=True, nl=False)


def _print(text: str) -> None:
    """Print what the terminal's encoding has, plain signs for our own, and ? for the rest."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        "█…".encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("█", "#").replace("…", "~")
    typer.echo(text.encode(encoding, "replace").decode(encoding))
