"""Lengths, exact matches, and the lines that are worth reading."""

import json

import pytest
from sacrebleu import sentence_chrf
from systems import damaged, references

from headway.errors import UserError
from headway.evaluate.report import report_texts

HYPOTHESES = ["a cat", "", "the house is big", "", "a dog barks "]
REFERENCES = ["a cat", "a bird sings", "the house is large", "", "a dog barks"]


def test_shares_and_lengths() -> None:
    report = report_texts(HYPOTHESES, REFERENCES)
    assert (report.lines, report.empty) == (5, 2)
    assert report.exact_matches == 3 / 5
    assert report.length_ratio == (5 + 0 + 16 + 0 + 11) / (5 + 12 + 18 + 0 + 11)
    assert (report.worst, report.longest) == ((), ())


def test_any_reference_is_right_and_the_nearest_length_counts() -> None:
    report = report_texts(["a cat", "abc"], [["the cat", "abcd"], ["a cat", "a"]])
    assert report.exact_matches == 1 / 2
    assert report.length_ratio == (5 + 3) / (5 + 4)
    assert report_texts(["a"], [""]).length_ratio is None


def test_the_worst_come_first_and_empty_lines_that_should_be_empty_are_not_among_them() -> None:
    report = report_texts(HYPOTHESES, REFERENCES, worst=2)
    assert [example.line for example in report.worst] == [2, 3]
    assert report.worst[1].chrf == pytest.approx(sentence_chrf("the house is big", ["the house is large"]).score)
    assert report.worst[1].references == ("the house is large",)
    assert report_texts(HYPOTHESES[3:4], REFERENCES[3:4], worst=1).worst[0].chrf == 100


def test_the_longest_are_those_of_the_source_or_else_of_the_references() -> None:
    sources = ["x", "xxx", "xx", "xxxxx", "xxxx"]
    report = report_texts(HYPOTHESES, REFERENCES, sources=sources, longest=3)
    assert [(example.line, example.source) for example in report.longest] == [(4, "xxxxx"), (5, "xxxx"), (2, "xxx")]
    report = report_texts(HYPOTHESES, REFERENCES, longest=2)
    assert [(example.line, example.source) for example in report.longest] == [(3, None), (2, None)]


def test_examples_are_at_most_the_lines_and_in_order() -> None:
    lines = references("fr")
    report = report_texts(damaged(lines, 0.3), lines, worst=1000, longest=5)
    scores = [example.chrf for example in report.worst]
    assert len(scores) == len(lines)
    assert scores == sorted(scores)
    assert json.loads(json.dumps(report.as_json()))["longest"][0]["references"] == list(report.longest[0].references)


def test_lines_must_align() -> None:
    with pytest.raises(UserError, match="line counts differ: 1 in the hypotheses, 2 in the source"):
        report_texts(["a"], ["a"], sources=["a", "b"])
