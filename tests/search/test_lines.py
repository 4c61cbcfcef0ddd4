"""Long lines are cut at sentence ends, and nothing of them is lost."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.search.lines import join_parts, sentences, split_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two? Three!  Four", ["One. ", "Two? ", "Three!  ", "Four"]),
        ('He said: "Go." (Then he left.) "Why?"', ['He said: "Go." ', "(Then he left.) ", '"Why?"']),
        ("Version 1.5 is out", ["Version 1.5 is out"]),
        ("你好。他说：“走！”再见。", ["你好。", "他说：“走！”", "再见。"]),
        ("", []),
        ("End. ", ["End. "]),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@given(st.text(alphabet="ab .!?。\n\"'", max_size=60), st.integers(1, 20))
def test_parts_are_the_text_and_fit_unless_a_sentence_does_not(text: str, longest: int) -> None:
    parts = split_line(text, len, longest)
    assert "".join(parts) == text
    assert all(len(part) <= longest or len(list(sentences(part))) == 1 for part in parts)
    assert all(len(one + next(sentences(other))) > longest for one, other in itertools.pairwise(parts))


def test_translations_are_joined_as_their_parts_were() -> None:
    assert join_parts(["One.  ", "Two."], ["Eins.", "Zwei."]) == "Eins.  Zwei."
    assert join_parts(["你好。", "再见。"], ["Hello.", "Bye."]) == "Hello. Bye."
    assert join_parts(["One. ", "Two."], ["一。", "二。"]) == "一。 二。"
    assert join_parts(["你好。", "再见。"], ["一。", "二。"]) == "一。二。"
    assert join_parts(["One"], ["Eins"]) == "Eins"
