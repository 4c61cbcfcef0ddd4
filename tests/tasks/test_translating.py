"""Several processes translate as one does, and none is left behind."""

import os
import signal
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from random_runs import make_run

from headway.errors import UserError
from headway.search.translations import Line, Translation
from headway.tasks.translating import Order

SHORT = ("search.extra_length=0", "search.method=sampling")
LINES: list[str | Line] = ["one two", "", Line("three", prefix="two"), "two one one"] * 768


def ignore(number: int, text: str) -> None:
    """Nobody wants to know."""


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(make_run(tmp_path / "run", data={"max_length": 8}).path)


def test_two_workers_give_what_one_gives_in_the_same_order(run: str, workers: Callable[[], list[int]]) -> None:
    order = Order(run, settings=(*SHORT, "search.n_best=2"), alignments=True)
    told: dict[int, list[tuple[int, str]]] = {1: [], 2: []}
    lines = [*LINES, "one two three " * 9]
    alone, together = (
        list(order.translate(lines, lambda *warning, to=told[number]: to.append(warning), number)) for number in (1, 2)
    )
    assert len(alone) == len(lines)
    for one, other in zip(alone, together, strict=True):
        assert (one.text, one.tokens, one.alignment) == (other.text, other.tokens, other.alignment)
        assert [output.text for output in one.n_best] == [output.text for output in other.n_best]
        assert other.score == pytest.approx(one.score, abs=1e-5)
    assert alone[1] == together[1] == Translation(alignment=[])
    assert told[1] == told[2]
    assert told[2][0][0] == len(lines)
    assert not workers()


def test_the_processes_end_when_nobody_wants_more(run: str, workers: Callable[[], list[int]]) -> None:
    endless = (f"one two {['one', 'two'][number % 2]}" for number in count())
    results = Order(run, settings=SHORT).translate(endless, ignore, 2)
    next(results)
    assert len(workers()) == 2
    results.close()
    assert not workers()


def test_a_wrong_order_is_told(run: str, workers: Callable[[], list[int]]) -> None:
    with pytest.raises(UserError, match="has no checkpoint step-7"):
        list(Order(run, checkpoint="step-7").translate(LINES, ignore, 2))
    assert not workers()


def test_a_process_that_dies_is_told(run: str, workers: Callable[[], list[int]]) -> None:
    results = Order(run, settings=SHORT).translate((line for line in LINES * 9), ignore, 2)
    next(results)
    for pid in workers():
        os.kill(int(pid), signal.SIGKILL)
    with pytest.raises(UserError, match="a process that translates has ended with code -9"):
        list(results)
