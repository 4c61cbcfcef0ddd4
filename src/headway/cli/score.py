"""`headway score`: how probable a model finds translations that are given to it."""

import json
from typing import Annotated

import typer

from headway.cli.trained import (
    CheckpointName,
    EngineChoice,
    EngineName,
    PairCorpus,
    PairSource,
    PairTarget,
    Quantization,
    SearchAssignments,
    TrainedRun,
    Verbose,
    noticing,
    open_pairs,
)


def score(
    run: TrainedRun,
    source: PairSource = None,
    target: PairTarget = None,
    corpus: PairCorpus = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a pair, with each token, and one for all at the end.")
    ] = False,
    engine: EngineChoice = EngineName.AUTO,
    quantization: Quantization = None,
    checkpoint: CheckpointName = None,
    assignments: SearchAssignments = None,
    verbose: Verbose = False,
) -> None:
    """Print for each pair the score and the log-probability of its target, separated by a tab; and their perplexity.

    The score is the log-probability (natural logarithm, end of sentence included) divided by the length penalty: what
    headway translate would report, had it found this translation. Sum and perplexity of all go to stderr.

    \b
    Examples:
      headway score runs/en-fr --source test.en --target test.fr
      headway score runs/en-fr --corpus pairs.tsv --json
      headway score runs/en-fr --source test.en --target test.fr | sort -n | head
    """  # noqa: D301
    from headway.cli.line_progress import LineProgress
    from headway.cli.whole_lines import whole_lines
    from headway.store.run import Run
    from headway.tasks.loading import changed_config, load
    from headway.tasks.scoring import Likelihood, score_pairs

    pairs = open_pairs(source, target, corpus, changed_config(Run.open(run), assignments or ()).data)
    translator = load(
        run,
        checkpoint=checkpoint,
        settings=assignments or (),
        engine=engine,
        quantization=quantization,
        on_notice=noticing(verbose),
    )
    total = Likelihood()
    with LineProgress(lambda: None, lambda number: f"{pairs}, pair {number:,}") as progress, whole_lines() as write:
        for pair in score_pairs(translator, pairs, progress.warn):
            write(
                json.dumps(pair.as_json(), ensure_ascii=False)
                if as_json
                else f"{pair.score:.4f}\t{pair.log_probability:.4f}"
            )
            total.add(pair)
            progress.step(failed=pair.error is not None)
        if as_json:
            write(json.dumps({"total": total.as_json()}))
    typer.echo(
        f"{total.pairs:,} pairs, {total.tokens:,} target tokens, log-probability {total.log_probability:.2f}, "
        f"perplexity {total.perplexity or float('nan'):.4f}",
        err=True,
    )
    progress.exit_if_failed("scored")
