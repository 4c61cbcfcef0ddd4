"""`headway evaluate`: a model, or texts that somebody wrote, against references: every score, with what it means."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.errors import UserError
from headway.evaluate.compare import Comparison, compare_systems
from headway.evaluate.report import TextReport, report_texts
from headway.evaluate.scores import Scores, score_texts
from headway.evaluate.tokenized import TokenizedScore, lowercased_bleu, paper_bleu
from headway.search.translations import Translation
from headway.search.translator import Translator
from headway.tasks.scoring import Likelihood, score_pairs
from headway.tasks.target_language import TargetLanguage
from headway.text.corpus import Corpus
from headway.text.files import read_lines


@dataclass(frozen=True)
class EvaluationSet:
    """Texts to translate, and what people made of them."""

    name: str
    sources: list[str] | None
    """None if only texts that are there already are scored."""
    references: list[list[str]]
    """One list or several; the first is what perplexity is of."""
    language: TargetLanguage

    @classmethod
    def of(cls, pairs: Corpus, references: Sequence[Path], language: TargetLanguage) -> "EvaluationSet":
        """The pairs of a corpus; files of more references stand beside its targets."""
        read = list(pairs)
        targets = [[pair.target for pair in read], *(list(read_lines(path)) for path in references)]
        return cls(str(pairs), [pair.source for pair in read], targets, language)

    @classmethod
    def of_targets(
        cls, targets: Sequence[Path], references: Sequence[Path], language: TargetLanguage
    ) -> "EvaluationSet":
        """Targets without their sources."""
        lines = [line for path in targets for line in read_lines(path)]
        return cls(
            ", ".join(map(str, targets)), None, [lines, *(list(read_lines(path)) for path in references)], language
        )


@dataclass(frozen=True)
class Speed:
    """How long translating took, without loading the model."""

    seconds: float
    sentences_per_second: float
    tokens_per_second: float
    """Target tokens."""


@dataclass(frozen=True)
class System:
    """Who is judged, by what it wrote."""

    name: str
    texts: list[str]
    perplexity: float | None = None
    """Of the first references, a token; None if there is no model."""
    speed: Speed | None = None
    engine: str | None = None
    """What translated; None if that is not known."""


@dataclass(frozen=True)
class Evaluation:
    """All scores of a system."""

    system: System
    test_set: EvaluationSet
    scores: Scores
    tokenized: dict[str, TokenizedScore]
    """BLEU as older papers count it, if BLEU was asked for and the language has spaces."""
    report: TextReport
    comparison: Comparison | None = None

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        system, language = self.system, self.test_set.language
        return {
            "system": system.name,
            "test_set": self.test_set.name,
            **self.scores.as_json(),
            "language_origin": language.origin,
            **{name: score.as_json() for name, score in self.tokenized.items()},
            "perplexity": system.perplexity,
            **self.report.as_json(),
            "speed": asdict(system.speed) if system.speed else None,
            "engine": system.engine,
            "comparison": self.comparison.as_json() if self.comparison else None,
        }


@dataclass(frozen=True)
class Observer:
    """Those who watch lines being translated."""

    on_line: Callable[[], None] = lambda: None
    on_warning: Callable[[int, str], None] = lambda *_: None


NOBODY = Observer()


def run_system(
    name: str,
    translator: Translator,
    tests: EvaluationSet,
    observer: Observer = NOBODY,
    translations: Iterable[Translation] | None = None,
) -> System:
    """Let a model translate a test set, and say how probable it finds the references.

    `translations` come from elsewhere, if not from the translator itself: from several processes, whose start counts.
    """
    if tests.sources is None:
        raise UserError(f"{name} has nothing to translate; give --source, too")
    texts, tokens = [], 0
    begun = time.perf_counter()
    for translation in translations or translator.translate_stream(tests.sources, on_warning=observer.on_warning):
        texts.append(translation.text)
        tokens += len(translation.tokens)
        observer.on_line()
    seconds = time.perf_counter() - begun
    speed = Speed(seconds, len(texts) / seconds, tokens / seconds)
    return System(name, texts, measure_perplexity(translator, tests), speed, translator.engine.name)


def read_system(path: Path) -> System:
    """The system that wrote a file."""
    return System(str(path), list(read_lines(path)))


def measure_perplexity(translator: Translator, tests: EvaluationSet) -> float | None:
    """The perplexity of a token of the first references."""
    total = Likelihood()
    for pair in score_pairs(translator, zip(tests.sources or (), tests.references[0], strict=True)):
        total.add(pair)
    return total.perplexity


def evaluate_system(
    system: System,
    tests: EvaluationSet,
    *,
    baseline: System | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    worst: int = 0,
    longest: int = 0,
) -> Evaluation:
    """Score what a system wrote by all measures; given a baseline, test whether they differ."""
    texts, references, language = system.texts, tests.references, tests.language.code
    scores = score_texts(texts, references, language=language, metrics=metrics)
    measures = {"paper_bleu": paper_bleu, "lowercased_bleu": lowercased_bleu} if "bleu" in metrics else {}
    tokenized = {name: measure(texts, references, language=language) for name, measure in measures.items()}
    comparison = None
    if baseline is not None:
        names = (baseline.name, system.name)
        comparison = compare_systems(baseline.texts, texts, references, names=names, language=language, metrics=metrics)
    return Evaluation(
        system,
        tests,
        scores,
        {name: score for name, score in tokenized.items() if score is not None},
        report_texts(texts, references, sources=tests.sources, worst=worst, longest=longest),
        comparison,
    )
