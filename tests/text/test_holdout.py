"""A part is held out: evenly spread, small, and what is left is all the rest."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.holdout import hold_out


@dataclass(frozen=True)
class Numbers:
    """A corpus of so many pairs."""

    count: int
    paths: tuple[Path, ...] = ()
    skipped = 0

    def __iter__(self):
        return (Pair(str(n), str(n)) for n in range(self.count))

    def __str__(self) -> str:
        return "the numbers"

    def fingerprint(self) -> dict[str, str]:
        return {}


@given(st.integers(2, 3000), st.integers(1, 500))
def test_both_parts_are_the_corpus_and_the_held_out_one_is_small(pairs: int, wanted: int) -> None:
    train, valid = hold_out(Numbers(pairs), pairs, wanted)
    learned, held = list(train), list(valid)
    assert sorted([*learned, *held], key=lambda pair: int(pair.source)) == list(Numbers(pairs))
    assert list(train) == learned  # a part can be read again
    assert 1 <= len(held) <= max(pairs // 10, 1)
    assert len(held) <= wanted
    assert learned


def test_what_is_asked_for_is_held_out_if_the_corpus_is_large() -> None:
    _, valid = hold_out(Numbers(3000), 3000, 100)
    assert [int(pair.source) for pair in valid] == list(range(29, 3000, 30))
    assert str(valid) == "one pair in 30 of the numbers"


@pytest.mark.parametrize(("pairs", "text"), [(0, "has no pair"), (1, "has one pair")])
def test_too_little_to_part_is_refused(pairs: int, text: str) -> None:
    with pytest.raises(UserError, match=f"the numbers {text}, and training needs two"):
        hold_out(Numbers(pairs), pairs, 10)
