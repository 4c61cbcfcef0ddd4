"""`headway translate`: lines of text in, their translations out, in order and in constant memory."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.input_lines import InputLines
from headway.cli.trained import (
    Beam,
    CheckpointName,
    EngineChoice,
    EngineName,
    EnsembleRuns,
    Quantization,
    SearchAssignments,
    TrainedRun,
    Verbose,
    Workers,
    noticing,
    with_flags,
)
from headway.errors import UserError

if TYPE_CHECKING:
    from headway.search.translations import Translation


def translate(
    run: TrainedRun,
    files: Annotated[list[Path] | None, typer.Argument(help="Texts, one a line; - is stdin.", metavar="FILE")] = None,
    beam: Beam = None,
    n_best: Annotated[
        int | None, typer.Option(min=1, help="Print this many translations of each line: its number, score, text.")
    ] = None,
    alignments: Annotated[
        bool, typer.Option("--alignments", help="After a tab, which words belong together, as in 0-0 1-2 2-1.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with all that is known.")] = False,
    json_input: Annotated[
        bool, typer.Option("--json-input", help="Lines are JSON objects with text, and perhaps prefix and phrases.")
    ] = False,
    ensemble: EnsembleRuns = None,
    engine: EngineChoice = EngineName.AUTO,
    quantization: Quantization = None,
    workers: Workers = None,
    checkpoint: CheckpointName = None,
    assignments: SearchAssignments = None,
    verbose: Verbose = False,
) -> None:
    """Translate lines: one comes out for each that goes in, in the same order, whatever their number.

    Files may be compressed (.gz, .zst). A line that cannot be translated is named on stderr and leaves an empty one;
    the exit code is then 1. Alignments are in Pharaoh format: source-target, words counted from 0. The columns of
    --n-best are separated by tabs. In --json-input, prefix is how the translation must begin, and phrases are what it
    must contain.

    The first time that CTranslate2 is used, the run is converted, compared with what torch writes, and kept as
    RUN/ctranslate2.

    \b
    Examples:
      headway translate runs/en-fr < test.en > test.fr
      headway translate runs/en-fr news.en.gz talks.en --beam 8 --set search.alpha=1
      headway translate runs/en-fr large.en --engine ctranslate2 --quantization int8 --verbose > large.fr
      headway translate runs/en-fr large.en --engine torch --workers 8 > large.fr
      headway translate runs/en-fr test.en --n-best 4
      headway translate runs/en-fr test.en --alignments | cut -f2
      headway translate runs/en-fr test.en --ensemble runs/en-fr-2 --json
      echo '{"text": "the cat", "phrases": ["minou"]}' | headway translate runs/en-fr --json-input
    """  # noqa: D301
    from headway.cli.line_progress import LineProgress
    from headway.cli.whole_lines import whole_lines
    from headway.store.run import Run
    from headway.tasks.loading import changed_config
    from headway.tasks.translating import Order

    lines = InputLines(files, json_input)
    settings = with_flags(assignments, beam=beam, n_best=n_best, window=1 if lines.are_typed else None)
    has_several = changed_config(Run.open(run), settings).search.n_best > 1
    if alignments and has_several and not as_json:
        raise UserError("of --n-best translations only the first has alignments; see them with --json")
    order = Order(
        str(run),
        checkpoint,
        tuple(settings),
        tuple(map(str, ensemble or ())),
        alignments,
        engine,
        quantization,
        probabilities=as_json or has_several,
        one_by_one=lines.are_typed,
    )
    with LineProgress(lines.count, lines.place) as progress, whole_lines() as write:
        results = order.translate(lines, progress.warn, 1 if lines.are_typed else workers, noticing(verbose))
        for number, translation in enumerate(results, start=1):
            for line in as_lines(number, translation, as_json=as_json, n_best=has_several):
                write(line)
            progress.step(failed=translation.error is not None)
    progress.exit_if_failed("translated")


def as_lines(number: int, translation: "Translation", *, as_json: bool, n_best: bool) -> Iterator[str]:
    """What is printed for a line of the input: a line, or one for each of its translations."""
    from headway.search.alignment import to_pharaoh

    if as_json:
        facts = {name: fact for name, fact in asdict(translation).items() if fact is not None}
        if not n_best:
            del facts["n_best"]
        yield json.dumps(facts, ensure_ascii=False)
    elif n_best:
        found = [(output.score, output.text) for output in translation.n_best]
        for score, text in found or [(translation.score, translation.text)]:
            yield f"{number}\t{score:.4f}\t{text}"
    elif translation.alignment is not None:
        yield f"{translation.text}\t{to_pharaoh(translation.alignment)}"
    else:
        yield translation.text
