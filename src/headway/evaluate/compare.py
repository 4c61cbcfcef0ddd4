"""Two systems, the same references -> whether their difference is more than chance.

sacreBLEU's paired tests do the work. What they say about systems that hardly differ is corrected, see `_p_value`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sacrebleu.significance import PairedTest

from headway.errors import UserError, did_you_mean
from headway.evaluate.resampling import (
    BYTES_TO_DRAW,
    BYTES_TO_SWAP,
    FEWEST_SAMPLES,
    SEED,
    affordable_samples,
    seeded,
)
from headway.evaluate.scores import build_metrics
from headway.evaluate.texts import References, align, require_same_count

Test = Literal["bootstrap", "randomisation"]

TESTS = {"bootstrap": ("bs", 1000, BYTES_TO_DRAW), "randomisation": ("ar", 10_000, BYTES_TO_SWAP)}
"""sacreBLEU's name for a test, how many samples it draws by default, and the memory that a line takes in each."""

LEVEL = 0.05
"""A difference is called real if chance would make one as large less often than this."""


@dataclass(frozen=True)
class Difference:
    """Two systems in one metric."""

    name: str
    baseline: float
    system: float
    difference: float
    """The system's score less the baseline's. A lower TER is better."""
    p_value: float
    is_real: bool
    verdict: str
    """The result in one sentence."""
    signature: str


@dataclass(frozen=True)
class Comparison:
    """Two systems in all metrics that were asked for."""

    baseline: str
    system: str
    test: Test
    samples: int
    lines: int
    differing_lines: int
    """Lines on which the systems wrote different texts."""
    by_metric: dict[str, Difference]

    def __getitem__(self, metric: str) -> Difference:
        return self.by_metric[metric]

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`; each metric under its name."""
        facts = asdict(self)
        return {**facts.pop("by_metric"), **facts}


def compare_systems(
    baseline: Sequence[str],
    system: Sequence[str],
    references: References,
    *,
    names: tuple[str, str] = ("baseline", "system"),
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    lowercase: bool = False,
    test: Test = "bootstrap",
    samples: int | None = None,
    seed: int = SEED,
) -> Comparison:
    """Test whether `system` differs from `baseline`, by paired bootstrap or by approximate randomisation."""
    lists = align(baseline, references)
    require_same_count(names[0], baseline, names[1], system)
    chosen = build_metrics(metrics, language, lowercase)
    kind, drawn = _plan(test, samples, len(baseline))
    with seeded(seed):
        signatures, results = PairedTest(
            [("baseline", baseline), ("system", system)], chosen, lists, test_type=kind, n_samples=drawn
        )()
    differing = sum(one.strip() != other.strip() for one, other in zip(baseline, system, strict=True))
    # The test names metrics as they name themselves, in the order in which they were given.
    found = {
        metric: _difference(names, label, results[label], differing, str(signatures[label]))
        for metric, label in zip(chosen, signatures, strict=True)
    }
    return Comparison(*names, test, drawn, len(baseline), differing, found)


def _plan(test: str, samples: int | None, lines: int) -> tuple[str, int]:
    """The name that sacreBLEU has for a test, and how many samples to draw."""
    if test not in TESTS:
        raise UserError(f"unknown test {test}{did_you_mean(test, TESTS)}")
    kind, default, bytes_each = TESTS[test]
    wanted = default if samples is None else samples
    drawn = affordable_samples(wanted, lines, bytes_each)
    if not drawn:
        raise UserError(
            f"a paired test cannot be done with {lines:,} lines and {wanted:,} samples; "
            f"expected {FEWEST_SAMPLES} samples or more, and for very many lines, compare a part of them"
        )
    return kind, drawn


def _difference(
    names: tuple[str, str], metric: str, results: Sequence[Any], differing: int, signature: str
) -> Difference:
    before, after = (result.score for result in results)
    difference = after - before
    p_value = _p_value(results[1].p_value, difference, differing)
    is_real = p_value < LEVEL
    verdict = _verdict(names, metric, (before, after), p_value)
    return Difference(metric, before, after, difference, p_value, is_real, verdict, signature)


def _p_value(found: float, difference: float, differing: int) -> float:
    """The p-value that was found, made honest for systems that differ on few lines or not at all.

    sacreBLEU counts samples with a strictly larger difference. If the systems differ on k lines only, many samples have
    exactly the same one: it finds p = 0.0001 for a single line. But the 2^k ways to swap these lines are all that
    chance could have done, and at least two of them are as extreme as what was seen.
    """
    if difference == 0:
        return 1.0
    return max(found, 2.0 ** (1 - differing))


def _verdict(names: tuple[str, str], metric: str, values: tuple[float, float], p_value: float) -> str:
    baseline, system = names
    before, after = values
    if before == after:
        return f"{system} and {baseline} have the same {metric}, {before:.2f}."
    p = f"p = {p_value:.3f}" if p_value >= 0.001 else "p < 0.001"
    numbers = f"{metric} {after:.2f} against {before:.2f}, {p}"
    if p_value >= LEVEL:
        return f"No difference between {system} and {baseline} is shown: {numbers}."
    is_better = after < before if metric == "TER" else after > before
    return f"{system} is {'better' if is_better else 'worse'} than {baseline}: {numbers}."
