"""A difference is claimed where there is one, and only there."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from systems import damaged, references, write

from headway.errors import UserError
from headway.evaluate.compare import compare_systems

TESTS = ("bootstrap", "randomisation")
METRICS = ("bleu", "chrf", "ter")


@pytest.mark.parametrize("test", TESTS)
def test_a_system_does_not_differ_from_itself(test: str) -> None:
    lines = references("fr")
    system = damaged(lines, 0.3)
    result = compare_systems(system, system, lines, metrics=METRICS, test=test, samples=200)
    assert result.differing_lines == 0
    for each in result.by_metric.values():
        assert (each.difference, each.p_value, each.is_real) == (0, 1, False)
        assert each.verdict == f"system and baseline have the same {each.name}, {each.baseline:.2f}."


@pytest.mark.parametrize("test", TESTS)
def test_a_much_worse_system_is_found_worse_in_every_metric(test: str) -> None:
    lines = references("fr")
    good, bad = damaged(lines, 0.1), damaged(lines, 0.4)
    worse = compare_systems(good, bad, lines, names=("big", "small"), metrics=METRICS, test=test, samples=200)
    assert worse["bleu"].difference < 0 < worse["ter"].difference
    better = compare_systems(bad, good, lines, names=("small", "big"), metrics=METRICS, test=test, samples=200)
    for name in METRICS:
        assert worse[name].is_real
        assert worse[name].verdict.startswith(f"small is worse than big: {worse[name].name} {worse[name].system:.2f} ")
        assert better[name].verdict.startswith("big is better than small: ")
        assert better[name].difference == -worse[name].difference


@pytest.mark.parametrize("test", TESTS)
def test_systems_of_the_same_quality_are_not_told_apart(test: str) -> None:
    lines = references("fr")
    result = compare_systems(damaged(lines, 0.3, seed=1), damaged(lines, 0.3, seed=2), lines, test=test, samples=400)
    assert result["bleu"].difference != 0
    for each in result.by_metric.values():
        assert each.p_value > 0.05
        assert not each.is_real
        assert each.verdict.startswith("No difference between system and baseline is shown: ")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(("changed", "is_real"), [(1, False), (3, False), (12, True)])
def test_a_few_lines_are_no_proof(test: str, changed: int, is_real: bool) -> None:
    lines = references("fr")
    system = ["Non."] * changed + lines[changed:]
    result = compare_systems(lines, system, lines, test=test, samples=1000)
    assert result.differing_lines == changed
    assert result["bleu"].p_value >= 2.0 ** (1 - changed)
    assert result["bleu"].is_real is is_real


@pytest.mark.parametrize(
    ("test", "flag", "metrics"), [("bootstrap", "bs", ["bleu"]), ("randomisation", "ar", ["bleu", "chrf"])]
)
def test_numbers_are_those_of_sacrebleus_command(test: str, flag: str, metrics: list[str], tmp_path: Path) -> None:
    lines = references("zh")
    systems = [damaged(lines, 0.3, seed=1), damaged(lines, 0.26, seed=2)]
    files = [str(write(tmp_path / f"system{number}", system)) for number, system in enumerate(systems)]
    command = [sys.executable, "-m", "sacrebleu", str(write(tmp_path / "reference", lines)), "-i", *files]
    command += ["-m", *metrics, "--tokenize", "zh", "--width", "8"]
    command += [f"--paired-{flag}", f"--paired-{flag}-n", "300", "--format", "json"]
    output = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    before, after = json.loads(output.stdout)
    result = compare_systems(*systems, lines, language="zh", metrics=metrics, test=test, samples=300)
    assert (result.samples, result.lines) == (300, len(lines))
    for each in result.by_metric.values():
        assert each.baseline == pytest.approx(before[each.name]["score"], abs=1e-7)
        assert each.system == pytest.approx(after[each.name]["score"], abs=1e-7)
        assert each.p_value == pytest.approx(after[each.name]["p_value"], abs=1e-7)
        assert 0.01 < each.p_value < 0.9
        assert f"|{flag}:300|seed:12345|" in each.signature


def test_the_seed_decides_and_the_result_is_json() -> None:
    lines = references("en")
    systems = damaged(lines, 0.3, seed=1), damaged(lines, 0.28, seed=2)
    result = compare_systems(*systems, lines, seed=5, samples=300)
    assert compare_systems(*systems, lines, seed=5, samples=300) == result
    assert compare_systems(*systems, lines, seed=6, samples=300)["bleu"].p_value != result["bleu"].p_value
    facts = json.loads(json.dumps(result.as_json()))
    assert facts["bleu"]["p_value"] == result["bleu"].p_value
    assert (facts["baseline"], facts["system"], facts["test"]) == ("baseline", "system", "bootstrap")


@pytest.mark.parametrize(
    ("system", "settings", "message"),
    [
        (["a"], {}, "line counts differ: 2 in baseline, 1 in system; they must align line by line"),
        (["a", "b"], {"test": "boostrap"}, "unknown test boostrap; did you mean bootstrap?"),
        (["a", "b"], {"metrics": ["rouge"]}, "unknown metric rouge; known are bleu, chrf, ter"),
        (["a", "b"], {"samples": 0}, "cannot be done with 2 lines and 0 samples; expected 40 samples or more"),
    ],
)
def test_wrong_input_is_refused(system: list[str], settings: dict, message: str) -> None:
    with pytest.raises(UserError) as caught:
        compare_systems(["a", "b"], system, ["a", "b"], **settings)
    assert message in str(caught.value)
