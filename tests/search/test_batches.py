"""Everything comes back, once and in order, from batches of the size asked for."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from headway.search.batches import cut_by_length, in_batches


@given(st.lists(st.integers(0, 30)), st.integers(1, 100), st.integers(1, 12))
def test_results_come_in_the_order_of_the_items(sizes: list[int], tokens: int, window: int) -> None:
    batches: list[list[tuple[int, int]]] = []

    def run(batch: list[tuple[int, int]]) -> list[tuple[int, int]]:
        batches.append(batch)
        return batch

    items = list(enumerate(sizes))
    assert list(in_batches(items, run, length=lambda item: item[1], tokens=tokens, window=window)) == items
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
