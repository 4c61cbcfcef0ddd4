"""Hypotheses and references -> BLEU, chrF and TER, each with its signature and a 95% interval.

sacreBLEU computes them: value, interval and signature are those that its command line gives for the same files.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sacrebleu import BLEU, CHRF, TER
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.base import Score as SacreScore
from sacrebleu.metrics.bleu import BLEUScore
from sacrebleu.significance import PairedTest, Result

from headway.errors import UserError, did_you_mean
from headway.evaluate.languages import base_language, bleu_tokenizer, tokenizer_note
from headway.evaluate.resampling import SEED, affordable_samples, seeded
from headway.evaluate.texts import References, align

METRICS = ("bleu", "chrf", "ter")
SAMPLES = 1000


@dataclass(frozen=True)
class BleuParts:
    """What a BLEU is made of. Lengths are in the tokens that it counts."""

    precisions: tuple[float, ...]
    """Of n-grams of 1, 2, 3 and 4 tokens, in percent."""
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int


@dataclass(frozen=True)
class Score:
    """A number, where it would lie with other sentences of the kind, and how to compute it again."""

    name: str
    """As sacreBLEU spells it, as in chrF2."""
    value: float
    low: float | None
    """Where the 95% interval begins, by bootstrap; None if it was not asked for or the lines are too many."""
    high: float | None
    signature: str
    parts: BleuParts | None = None
    """Only of BLEU."""

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        return asdict(self)


@dataclass(frozen=True)
class Scores:
    """The scores of a system by the names in `METRICS`, and what they are of."""

    by_metric: dict[str, Score]
    lines: int
    references: int
    language: str | None
    source_language: str | None
    tokenizer: str | None
    """The tokenizer that was chosen for BLEU; None if BLEU was not asked for."""
    notes: tuple[str, ...]
    """What to know before these numbers are believed."""

    def __getitem__(self, metric: str) -> Score:
        return self.by_metric[metric]

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`; each metric under its name."""
        facts = asdict(self)
        return {**facts.pop("by_metric"), **facts}


def score_texts(
    hypotheses: Sequence[str],
    references: References,
    *,
    language: str | None = None,
    source_language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    lowercase: bool = False,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Scores:
    """Score a system against one list of references or several; `samples=0` leaves out the intervals.

    For very many lines fewer samples are drawn than asked for, or none, to bound memory; the signature says how many.
    """
    lists = align(hypotheses, references)
    chosen = build_metrics(metrics, language, lowercase)
    by_metric = {name: measure(metric, hypotheses, lists, samples, seed) for name, metric in chosen.items()}
    return Scores(
        by_metric,
        len(hypotheses),
        len(lists),
        language,
        source_language,
        bleu_tokenizer(language) if "bleu" in by_metric else None,
        _notes(hypotheses, language, by_metric),
    )


def build_metrics(names: Sequence[str], language: str | None, lowercase: bool) -> dict[str, Metric]:
    """Metrics of sacreBLEU by their names here, made for a language."""
    if not names:
        raise UserError(f"no metric was asked for; choose from {', '.join(METRICS)}")
    return {name: _build_metric(name, language, lowercase) for name in names}


def _build_metric(name: str, language: str | None, lowercase: bool) -> Metric:
    match name:
        case "bleu":
            return BLEU(tokenize=bleu_tokenizer(language), lowercase=lowercase, force=True)
        case "chrf":
            return CHRF(lowercase=lowercase)
        case "ter":
            # TER ignores case by convention, asked or not. Words of Chinese and Japanese are its characters.
            by_character = base_language(language) in ("zh", "ja")
            return TER(normalized=by_character, asian_support=by_character)
        case _:
            raise UserError(f"unknown metric {name}{did_you_mean(name, METRICS)}")


def measure(
    metric: Metric, hypotheses: Sequence[str], references: list[list[str]], samples: int = SAMPLES, seed: int = SEED
) -> Score:
    """What a metric of sacreBLEU says about texts that are aligned."""
    affordable = affordable_samples(samples, len(hypotheses))
    result = metric.corpus_score(hypotheses, references)
    value, parts = _within_range(metric, result.score), _parts(result)
    if not affordable:
        return Score(result.name, value, None, None, metric.get_signature().format(), parts)
    mean, margin, signature = _bootstrap(metric, hypotheses, references, affordable, seed)
    low, high = (_within_range(metric, end) for end in (mean - margin, mean + margin))
    return Score(result.name, value, low, high, signature, parts)


def _within_range(metric: Metric, value: float) -> float:
    """The nearest number that a metric can be: a margin may reach too far, and rounding gives 100.00000000000004."""
    return max(0.0, value if isinstance(metric, TER) else min(value, 100.0))


def _bootstrap(
    metric: Metric, hypotheses: Sequence[str], references: list[list[str]], samples: int, seed: int
) -> tuple[float, float, str]:
    """The mean over samples, half the width of the middle 95% of them, and the signature that says so.

    This is a test of a system against nothing. `corpus_score` can sample, too, but fails with a TypeError as soon as
    a sample scores 0 and another does not, since it takes their mean over numbers of different types.
    """
    with seeded(seed):
        test = PairedTest([("system", hypotheses)], {"metric": metric}, references, test_type="bs", n_samples=samples)
        signatures, results = test()
    ((name, signature),) = signatures.items()
    (found,) = results[name]
    assert isinstance(found, Result)
    assert found.mean is not None
    assert found.ci is not None
    return float(found.mean), float(found.ci), signature.format()


def _parts(result: SacreScore) -> BleuParts | None:
    if not isinstance(result, BLEUScore):
        return None
    return BleuParts(tuple(result.precisions), result.bp, result.sys_len, result.ref_len)


def _notes(hypotheses: Sequence[str], language: str | None, by_metric: dict[str, Score]) -> tuple[str, ...]:
    if "bleu" not in by_metric:
        return ()
    notes = []
    about_tokenizer = tokenizer_note(language)
    if about_tokenizer:
        notes.append(about_tokenizer)
    apart = sum(line.rstrip().endswith(" .") for line in hypotheses)
    if 2 * apart > len(hypotheses):
        notes.append(
            "most lines end in a full stop that stands apart: the texts look tokenised, but BLEU is comparable "
            "only on plain text"
        )
    return tuple(notes)
