"""BLEU as older papers count it, against numbers that were counted by hand."""

import json
import math

import pytest
from systems import damaged, references

from headway.errors import UserError
from headway.evaluate.scores import score_texts
from headway.evaluate.tokenized import lowercase_tokenizer, lowercased_bleu, paper_bleu, paper_tokenizer


@pytest.mark.parametrize(
    ("language", "line", "tokens"),
    [
        (
            "de",
            "Das E-Mail-Programm kostet 3,50 Euro, sagte Dr. Müller.",
            "Das E ##AT##-##AT## Mail ##AT##-##AT## Programm kostet 3,50 Euro , sagte Dr. Müller .",
        ),
        ("de-AT", "Ja，“so” geht’s！", "Ja , &quot; so &quot; geht &apos; s !"),
        ("fr", "L'arc-en-ciel d’hier", "L&apos; arc ##AT##-##AT## en ##AT##-##AT## ciel d&apos; hier"),
        (None, "- a - b -", "- a - b -"),
        ("en", "", ""),
    ],
)
def test_tokens_of_the_paper(language: str | None, line: str, tokens: str) -> None:
    assert paper_tokenizer(language)(line) == tokens


@pytest.mark.parametrize(
    ("language", "line", "tokens"),
    [
        (
            "de",
            "Ein Mann trägt ein T-Shirt, auf dem „Nein“ steht.",
            "ein mann trägt ein t-shirt , auf dem &quot; nein &quot; steht .",
        ),
        ("fr", "L’homme vend des « Glaces » ÉTÉ.", "l&apos; homme vend des &quot; glaces &quot; été ."),
    ],
)
def test_tokens_of_the_multi30k_literature(language: str, line: str, tokens: str) -> None:
    assert lowercase_tokenizer(language)(line) == tokens


def test_a_split_compound_counts_as_three_matches() -> None:
    hypotheses, lines = ["A well-known man sees a blue car."], ["A well-known man sees a red car."]
    paper = paper_bleu(hypotheses, lines, language="en", samples=0).score
    # Ten tokens, one wrong: 9 of 10, 7 of 9, 5 of 8 and 4 of 7 n-grams are right.
    assert paper.parts.precisions == pytest.approx((900 / 10, 700 / 9, 500 / 8, 400 / 7))
    assert paper.value == pytest.approx(100 * (1 / 4) ** (1 / 4))
    # Eight tokens for sacreBLEU, one wrong: 7 of 8, 5 of 7, 3 of 6 and 2 of 5.
    assert score_texts(hypotheses, lines, samples=0)["bleu"].value == pytest.approx(100 * (1 / 8) ** (1 / 4))
    assert "|tok:none|smooth:none|" in paper.signature


def test_lower_case_forgives_capitals_and_curly_quotes() -> None:
    hypotheses, lines = ["The Man reads “Faust” in The Park."], ['The man reads "Faust" in the park.']
    score = lowercased_bleu(hypotheses, lines, language="en").score
    assert (score.value, score.low, score.high) == (100, 100, 100)
    assert score_texts(hypotheses, lines)["bleu"].value < 50
    assert paper_bleu(hypotheses, lines).score.value < 50


def test_without_a_matching_fourgram_the_score_is_zero_as_in_multi_bleu() -> None:
    hypotheses, lines = ["one two three x four five six"], ["one two three y four five six"]
    assert paper_bleu(hypotheses, lines, samples=0).score.value == 0
    assert score_texts(hypotheses, lines, samples=0)["bleu"].value > 0


@pytest.mark.parametrize("measure", [paper_bleu, lowercased_bleu])
def test_several_references_and_intervals(measure) -> None:
    lines = references("fr")
    hypotheses = damaged(lines, 0.2)
    one = measure(hypotheses, lines, language="fr", seed=3)
    two = measure(hypotheses, [lines, damaged(lines, 0.1, seed=2)], language="fr", seed=3)
    assert one.score.low < one.score.value < one.score.high
    assert two.score.value > one.score.value
    assert measure(hypotheses, lines, language="fr", seed=3) == one
    assert math.isclose(json.loads(json.dumps(one.as_json()))["score"]["value"], one.score.value)


@pytest.mark.parametrize("measure", [paper_bleu, lowercased_bleu])
def test_the_label_and_the_reason_are_one_line_each(measure) -> None:
    result = measure(["a b c d"], ["a b c d"])
    assert "BLEU" in result.label
    assert "Moses tokens" in result.note
    assert "\n" not in result.label + result.note


@pytest.mark.parametrize("measure", [paper_bleu, lowercased_bleu])
def test_languages_without_spaces_have_no_such_score(measure) -> None:
    assert measure(references("zh"), references("zh"), language="zh-CN") is None
    assert measure(["오늘 날씨가 참 좋다"], ["오늘 날씨가 참 좋다"], language="ko").score.value == 100


def test_lines_must_align() -> None:
    with pytest.raises(UserError, match="line counts differ: 2 in the hypotheses, 1 in the reference"):
        paper_bleu(["a", "b"], ["a"])
