"""Which sentences stay in a batch as others end."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from headway.search.steps import EVEN, rows_to_keep


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_no_sentence_is_lost_and_their_order_stays(over: list[bool]) -> None:
    is_over = torch.tensor(over)
    kept = rows_to_keep(is_over)
    if kept is None:
        return
    rows = kept.tolist()
    assert rows == sorted(set(rows))
    assert {row for row, is_done in enumerate(over) if not is_done} <= set(rows)
    assert len(rows) < len(over)  # copying has gained something
    assert len(rows) == over.count(False) if len(rows) < EVEN else len(rows) % EVEN == 0


def test_few_that_are_over_wait_and_many_leave() -> None:
    assert rows_to_keep(torch.arange(64) < 7) is None
    assert rows_to_keep(torch.arange(64) < 8).tolist() == list(range(8, 64))  # type: ignore[union-attr]
    assert len(rows_to_keep(torch.arange(64) < 10)) == 56  # type: ignore[arg-type]
    assert rows_to_keep(torch.ones(3, dtype=torch.bool)).tolist() == []  # type: ignore[union-attr]
