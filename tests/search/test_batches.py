"""Everything comes back, once and in order, from batches of the size asked for."""

import itertools
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.search.batches import cut_by_length, cut_evenly, in_batches


@given(st.lists(st.integers(0, 30)), st.integers(1, 100), st.integers(1, 12), st.integers(0, 3))
def test_results_come_in_the_order_of_the_items(sizes: list[int], tokens: int, window: int, workers: int) -> None:
    batches: list[list[tuple[int, int]]] = []

    def run(batch: list[tuple[int, int]]) -> list[tuple[int, int]]:
        batches.append(batch)
        return batch

    items = list(enumerate(sizes))
    results = in_batches(items, run, length=lambda item: item[1], tokens=tokens, window=window, workers=workers)
    assert list(results) == items
    for batch in batches:
        longest = max(size for _, size in batch)
        assert len(batch) == 1 or len(batch) * max(longest, 1) <= tokens
        numbers = [number for number, _ in batch]
        assert max(numbers) // window == min(numbers) // window


@given(st.lists(st.integers(0, 30)), st.integers(1, 100))
def test_every_place_is_in_one_batch_with_its_like(lengths: list[int], tokens: int) -> None:
    batches = list(cut_by_length(lengths, tokens))
    assert sorted(itertools.chain.from_iterable(batches)) == list(range(len(lengths)))
    sizes = [lengths[place] for batch in batches for place in batch]
    assert sizes == sorted(sizes, reverse=True)
    for batch, following in itertools.pairwise(batches):
        assert (len(batch) + 1) * max(lengths[batch[0]], 1) > tokens, "one more would have fitted"
        assert following


@given(st.lists(st.integers(0, 30)), st.integers(1, 100), st.integers(1, 4))
def test_batches_are_as_small_as_whole_shares_of_them_allow(lengths: list[int], tokens: int, shares: int) -> None:
    batches, large = list(cut_evenly(lengths, tokens, shares)), list(cut_by_length(lengths, tokens))
    assert sorted(itertools.chain.from_iterable(batches)) == list(range(len(lengths)))
    most = -(-len(large) // shares) * shares
    assert len(batches) <= most
    held = max((len(batch) * max(lengths[batch[0]], 1) for batch in batches if len(batch) > 1), default=0)
    assert held <= tokens
    if held:
        assert len(list(cut_by_length(lengths, held - 1))) > most, "smaller ones would have done"


def test_no_worker_is_left_alone_with_a_last_batch() -> None:
    sizes = [len(batch) for batch in cut_evenly([1] * 1700, 100, 2)]
    assert len(list(cut_by_length([1] * 1700, 100))) == 17
    assert sizes == [95] * 17 + [85]


def test_no_more_is_read_than_a_window_holds() -> None:
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield read

    results = in_batches(endless(), lambda batch: batch, length=lambda _: 1, tokens=10, window=7)
    assert list(itertools.islice(results, 20)) == list(range(1, 21))
    assert read == 21


def test_the_first_window_is_small_and_the_others_grow() -> None:
    sizes: list[int] = []

    def run(batch: list[int]) -> list[int]:
        sizes.append(len(batch))
        return batch

    found = list(in_batches(range(3000), run, length=lambda _: 1, tokens=10**6, window=1000))
    assert found == list(range(3000))
    assert sizes == [256, 512, 1000, 1000, 232]


def test_workers_have_what_they_need_and_little_more() -> None:
    """One batch more than there are workers, whichever is done first: Ctrl-C may have to wait for no more than that."""
    lock, now, most = threading.Lock(), 0, 0
    three, late = threading.Barrier(3), threading.Event()

    def run(batch: list[int]) -> list[int]:
        nonlocal now, most
        with lock:
            now, most = now + 1, max(most, now + 1)
        if batch[0] < 15:
            three.wait(60)  # the first three batches are there at once
        if batch[0] == 0:
            assert late.wait(60)  # and the others go on while the first takes long
        if batch[0] == 25:
            late.set()
        with lock:
            now -= 1
        return batch

    found = in_batches(range(40), run, length=lambda _: 1, tokens=5, window=40, workers=2)
    assert list(found) == list(range(40))
    assert most == 3


def test_what_waits_for_a_slow_batch_does_not_pile_up() -> None:
    late, read, read_meanwhile = threading.Event(), 0, 0

    def lines():
        nonlocal read
        while read < 100_000:
            read += 1
            yield read

    def run(batch: list[int]) -> list[int]:
        nonlocal read_meanwhile
        if 1 in batch:
            threading.Timer(0.3, late.set).start()
            assert late.wait(60)
            read_meanwhile = read
        return batch

    found = in_batches(lines(), run, length=lambda _: 1, tokens=10, window=50, workers=2)
    assert sum(found) == sum(range(1, 100_001))
    assert read_meanwhile <= 4 * 50


def test_a_window_that_one_worker_could_do_is_shared_out() -> None:
    sizes: list[int] = []
    found = in_batches(range(30), lambda batch: sizes.append(len(batch)) or batch, length=lambda _: 1, tokens=100,
                       window=30, workers=3)  # fmt: skip
    assert list(found) == list(range(30))
    assert sizes == [10, 10, 10]


def test_who_wants_each_line_answered_is_not_asked_for_the_next_one_before() -> None:
    asked: list[int] = []

    def typed():
        for number in range(3):
            asked.append(number)
            yield number

    for number in in_batches(typed(), lambda batch: batch, length=lambda _: 1, tokens=5, window=1, workers=2):
        assert asked == list(range(number + 1))


def test_what_fails_in_a_thread_fails_here() -> None:
    def run(batch: list[int]) -> list[int]:
        if 7 in batch:
            raise ValueError("seven")
        return batch

    with pytest.raises(ValueError, match="seven"):
        list(in_batches(range(40), run, length=lambda _: 1, tokens=5, window=40, workers=2))


def test_nobody_waits_for_batches_that_are_no_longer_wanted() -> None:
    begun, end = threading.Event(), threading.Event()

    def run(batch: list[int]) -> list[int]:
        if 0 not in batch:
            begun.set()
            assert end.wait(60)
        return batch

    results = in_batches(range(40), run, length=lambda _: 1, tokens=5, window=40, workers=2)
    assert next(results) == 0
    assert begun.wait(60)
    results.close()  # returns though a batch is still running
    assert not end.is_set()
    end.set()


def test_who_waits_for_all_results_has_whole_windows_from_the_start() -> None:
    sizes: list[int] = []
    run = lambda batch: sizes.append(len(batch)) or batch  # noqa: E731
    found = in_batches(range(2500), run, length=lambda _: 1, tokens=10**6, window=1000, first_window=1000)
    assert list(found) == list(range(2500))
    assert sizes == [1000, 1000, 500]
