"""`headway evaluate`: scores of a model, or of a file that somebody wrote, for people or as JSON."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.corpora import Files, Names
from headway.cli.trained import (
    Beam,
    CheckpointName,
    EngineChoice,
    EngineName,
    EnsembleRuns,
    PairCorpus,
    PairSource,
    PairTarget,
    Quantization,
    SearchAssignments,
    Verbose,
    Workers,
    noticing,
    open_pairs,
    with_flags,
)
from headway.errors import UserError

if TYPE_CHECKING:
    from headway.config import DataConfig
    from headway.tasks.evaluating import EvaluationSet, System
    from headway.tasks.translating import Order

WIDEST = 160
"""Lines that are longer are hard to read on any terminal."""


def evaluate(
    run: Annotated[Path | None, typer.Argument(help="Directory of a run.", metavar="RUN", show_default=False)] = None,
    source: PairSource = None,
    target: PairTarget = None,
    corpus: PairCorpus = None,
    reference: Annotated[
        Files, typer.Option(help="More references, beside the target. May be repeated.", metavar="FILE")
    ] = None,
    hypotheses: Annotated[
        Path | None, typer.Option(help="Score this file, line by line; no RUN is needed.", metavar="FILE")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Test whether it differs from this run or file.", metavar="RUN|FILE")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language of the target, as in de or zh-CN.", metavar="CODE")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Of bleu, chrf, ter.", metavar="NAMES")] = "bleu,chrf",
    worst: Annotated[int, typer.Option(min=0, help="Show this many of the worst lines.", metavar="N")] = 0,
    longest: Annotated[int, typer.Option(min=0, help="Show this many of the longest lines.", metavar="N")] = 0,
    beam: Beam = None,
    ensemble: EnsembleRuns = None,
    engine: EngineChoice = EngineName.AUTO,
    quantization: Quantization = None,
    workers: Workers = None,
    checkpoint: CheckpointName = None,
    assignments: SearchAssignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
    verbose: Verbose = False,
) -> None:
    """Score translations by sacreBLEU and chrF, with intervals and signatures; beside them, BLEU as papers count it.

    The language decides how BLEU splits words. It is that of --language, data.target_language, the named corpus or the
    suffix of the target file (test.zh). Intervals are of 95%, by bootstrap; --compare is a paired bootstrap test.

    \b
    Examples:
      headway evaluate runs/en-fr --source test.en --target test.fr
      headway evaluate runs/en-fr --corpus builtin:en-fr --worst 5
      headway evaluate runs/en-fr --corpus builtin:en-fr --engine ctranslate2 --quantization int8
      headway evaluate runs/en-fr --source test.en --target test.fr --compare runs/baseline --json
      headway evaluate runs/en-fr --ensemble runs/en-fr-2 --source test.en --target test.fr --workers 8
      headway evaluate --hypotheses output.fr --target test.fr --reference test-2.fr --metrics bleu,chrf,ter
    """  # noqa: D301
    if run is None and hypotheses is None:
        raise UserError("nothing to evaluate; give the directory of a run, or a file by --hypotheses")
    if run is None and ensemble:
        raise UserError("--ensemble was given without a run; give the directory of the first as RUN")
    from headway.cli.evaluation_text import as_text
    from headway.tasks.evaluating import evaluate_system
    from headway.tasks.translating import Order

    settings = with_flags(assignments, beam=beam)
    tests = read_tests(source, target, corpus, reference, language, data_settings(run, settings))
    order = Order(
        str(run),
        checkpoint,
        tuple(settings),
        tuple(map(str, ensemble or ())),
        engine=engine,
        quantization=quantization,
        probabilities=False,
    )
    system = judged(order if run else None, hypotheses, tests, workers, verbose)
    baseline = None
    if compare is not None and compare.is_dir():
        other = replace(order, run=str(compare), checkpoint=None, ensemble=())
        baseline = judged(other, None, tests, workers, verbose)
    elif compare is not None:
        baseline = judged(None, compare, tests, workers, verbose)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    evaluation = evaluate_system(system, tests, baseline=baseline, metrics=names, worst=worst, longest=longest)
    if as_json:
        typer.echo(json.dumps(evaluation.as_json()))
    else:
        typer.echo(as_text(evaluation, min(shutil.get_terminal_size((100, 24)).columns, WIDEST)))


def data_settings(run: Path | None, settings: list[str]) -> "DataConfig":
    """How corpora are read: as the run has it, if there is one, changed by the settings."""
    from headway.settings import load_config
    from headway.store.run import Run
    from headway.tasks.loading import changed_config

    config = load_config(assignments=settings) if run is None else changed_config(Run.open(run), settings)
    return config.data


def read_tests(
    source: Files, target: Files, corpus: Names, references: Files, language: str | None, data: "DataConfig"
) -> "EvaluationSet":
    """The test set that the flags name; without source, only what is written already can be scored."""
    from headway.tasks.evaluating import EvaluationSet
    from headway.tasks.target_language import find_language

    if target and not source and not corpus:
        found = find_language(language, data.target_language, None, target)
        return EvaluationSet.of_targets(target, references or (), found)
    pairs = open_pairs(source, target, corpus, data)
    found = find_language(language, data.target_language, pairs, target or ())
    return EvaluationSet.of(pairs, references or (), found)


def judged(
    order: "Order | None", written: Path | None, tests: "EvaluationSet", workers: int | None, verbose: bool
) -> "System":
    """What a run writes for a test set, or what was written already."""
    from headway.cli.line_progress import LineProgress
    from headway.tasks.evaluating import Observer, measure_perplexity, read_system, run_system

    if order is None:
        assert written is not None
        return read_system(written)
    translator = order.load(workers, noticing(verbose))
    if written is not None:
        return replace(read_system(written), perplexity=measure_perplexity(translator, tests))
    total = len(tests.references[0])
    with LineProgress(lambda: total, lambda number: f"{tests.name}, line {number:,}", prints_lines=False) as progress:
        translations = None
        if tests.sources is not None and translator.engine.name == "torch" and workers is not None and workers > 1:
            translations = replace(order, engine="torch").translate(tests.sources, progress.warn, workers)
        name = " + ".join((order.run, *order.ensemble))
        return run_system(name, translator, tests, Observer(progress.step, progress.warn), translations)
