"""The tasks as Python calls them, `headway.train` and `headway.evaluate`: the flags of the commands as arguments."""

from collections.abc import Sequence
from pathlib import Path

from headway.store.run import Run
from headway.tasks.beginning import settings_file
from headway.tasks.evaluating import Evaluation, EvaluationSet, evaluate_system, run_system
from headway.tasks.loading import changed_config, load
from headway.tasks.setting_up import Wanted
from headway.tasks.target_language import find_language
from headway.tasks.training import NOBODY, Observer, Outcome, train_run
from headway.text.corpus import Corpus
from headway.text.named import NamedSplit
from headway.text.opening import open_corpus

Texts = str | Path | Sequence[str | Path]
"""A file, or several that are read one after the other."""


def train(
    out: str | Path,
    *,
    source: Texts = (),
    target: Texts = (),
    corpus: str | Path | None = None,
    valid_source: Texts = (),
    valid_target: Texts = (),
    valid_corpus: str | Path | None = None,
    preset: str | None = None,
    config: str | Path | None = None,
    settings: Sequence[str] = (),
    resume: bool = False,
    init: str | Path | None = None,
    observer: Observer = NOBODY,
) -> Outcome:
    """Train on pairs of text in the directory `out`; settings are assignments, as in model.heads=4.

    Without validation texts, those of a named corpus are taken, or a part of the corpus is held out. With `init`, a run
    to begin with, its settings are those that are changed if neither preset nor config is given.
    """
    start = Path(init) if init is not None else None
    wanted = Wanted(preset, settings_file(preset, Path(config) if config is not None else None, start), settings)
    data = wanted.config().data
    training: Corpus | None = None
    valid: Corpus | None = None
    if source or target or corpus or not resume:
        training = open_corpus(data, sources=paths(source), targets=paths(target), corpus=corpus)
    if valid_source or valid_target or valid_corpus:
        sides = paths(valid_source), paths(valid_target)
        valid = open_corpus(data, sources=sides[0], targets=sides[1], corpus=valid_corpus, split="valid")
    elif isinstance(training, NamedSplit):
        valid = NamedSplit(training.name, "valid", training.seed)
    return train_run(Path(out), wanted, training, valid, resume=resume, init=start, observer=observer)


def evaluate(
    run: str | Path,
    *,
    source: Texts = (),
    target: Texts = (),
    corpus: str | Path | None = None,
    references: Texts = (),
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    worst: int = 0,
    longest: int = 0,
    checkpoint: str | None = None,
    settings: Sequence[str] = (),
    engine: str = "auto",
    quantization: str | None = None,
) -> Evaluation:
    """Let a run translate a test set, and score what it writes; of a named corpus, its test set."""
    data = changed_config(Run.open(run), settings).data
    pairs = open_corpus(data, sources=paths(source), targets=paths(target), corpus=corpus, split="test")
    found = find_language(language, data.target_language, pairs, paths(target))
    tests = EvaluationSet.of(pairs, paths(references), found)
    translator = load(run, checkpoint=checkpoint, settings=settings, engine=engine, quantization=quantization)
    system = run_system(str(run), translator, tests)
    return evaluate_system(system, tests, metrics=metrics, worst=worst, longest=longest)


def paths(texts: Texts) -> tuple[Path, ...]:
    """The files that were named, one or several."""
    return (Path(texts),) if isinstance(texts, str | Path) else tuple(map(Path, texts))
