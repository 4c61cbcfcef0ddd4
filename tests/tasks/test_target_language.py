from pathlib import Path

import pytest

from headway.tasks.target_language import KNOWN, find_language
from headway.text.named import NamedSplit

NAMED = NamedSplit("builtin:en-zh", "test")
TARGET = [Path("data/test.de")]


def test_what_is_said_goes_before_what_can_be_guessed() -> None:
    assert find_language("ja", "fr", NAMED, TARGET) == ("ja", "as given")
    assert find_language(None, "fr", NAMED, TARGET) == ("fr", "data.target_language")
    assert find_language(None, None, NAMED, TARGET) == ("zh", "of builtin:en-zh")
    assert find_language(None, None, None, TARGET) == ("de", "from the name test.de")


@pytest.mark.parametrize(
    ("name", "code"),
    [("test.zh.gz", "zh"), ("test.zh-CN", "zh-cn"), ("test.jpn", "jpn"), ("test.txt", None), ("target", None)],
)
def test_a_suffix_counts_if_it_is_a_language(name: str, code: str | None) -> None:
    assert find_language(None, None, None, [Path(name)]).code == code


def test_the_codes_are_those_of_two_letters_and_the_others_that_bleu_knows() -> None:
    assert len([code for code in KNOWN if len(code) == 2]) > 180
    assert {"zho", "jpn", "kor"} < KNOWN
