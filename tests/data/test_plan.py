"""Batches as a pure function of lengths, seed and epoch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.data.plan import Cells, cell_numbers, plan_epoch
from headway.data.shuffle import Shuffle


@given(st.integers(1, 3000), st.integers(0, 2**31))
def test_a_shuffle_is_a_permutation(count: int, key: int) -> None:
    assert sorted(Shuffle(count, (key,))[np.arange(count)].tolist()) == list(range(count))


def test_a_shuffle_needs_no_other_positions() -> None:
    shuffle = Shuffle(10_000_000_000, (1, 2))
    at = np.array([5, 9_999_999_999])
    assert shuffle[at].tolist() == [int(shuffle[at[:1]][0]), int(shuffle[at[1:]][0])]
    assert (shuffle[np.arange(1000)] < 10_000_000_000).all()


def test_shuffles_look_random() -> None:
    count = 1000
    positions = np.stack([Shuffle(count, (key,))[np.arange(count)] for key in range(400)])
    assert abs(positions[:, 0].mean() - count / 2) < 5 * (count / 12**0.5) / 20  # five standard errors
    neighbours = np.abs(np.diff(positions, axis=1)) == 1
    assert neighbours.mean() == pytest.approx(2 / count, abs=0.0005)
    assert (positions == np.arange(count)).mean() == pytest.approx(1 / count, abs=0.0005)


lengths = st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=300)


def cells_of(pairs: list[tuple[int, int]], longest: int = 60) -> tuple[Cells, np.ndarray, np.ndarray, np.ndarray]:
    source, target = np.array(pairs).T
    numbers = cell_numbers(source, target, longest)
    present, counts = np.unique(numbers, return_counts=True)
    return Cells.of(present, counts, longest), np.argsort(numbers, kind="stable"), source, target


@settings(max_examples=150)
@given(lengths, st.integers(1, 500), st.integers(0, 9), st.integers(0, 9))
def test_every_pair_is_in_exactly_one_batch_and_batches_fit(pairs, tokens: int, seed: int, epoch: int) -> None:
    cells, by_cell, source, target = cells_of(pairs)
    plan = plan_epoch(cells, tokens, seed, epoch)
    batches = [by_cell[plan.places(number)] for number in range(len(plan))]
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(pairs)))
    for batch in batches:
        width = max(source[batch].max(), target[batch].max()) + 1
        assert len(batch) * width <= tokens or len(batch) == 1


@settings(max_examples=150)
@given(lengths, st.integers(1, 500), st.integers(2, 9))
def test_mixed_batches_have_the_same_pairs_as_those_that_were_mixed(pairs, tokens: int, mix: int) -> None:
    cells, *_ = cells_of(pairs)
    mixed, unmixed = (plan_epoch(cells, tokens, 1, 0, count) for count in (mix, 1))
    assert len(mixed) == len(unmixed)
    for first in range(0, len(mixed), mix):
        group = range(first, min(first + mix, len(mixed)))
        sizes = [len(mixed.places(number)) for number in group]
        assert max(sizes) - min(sizes) <= 1
        found, expected = (np.concatenate([plan.places(number) for number in group]) for plan in (mixed, unmixed))
        assert sorted(found.tolist()) == sorted(expected.tolist())


def some_corpus() -> list[tuple[int, int]]:
    random = np.random.default_rng(1)
    target = random.poisson(12, 20_000) + 1
    return list(zip((target + random.integers(-3, 4, 20_000)).clip(1), target, strict=True))


def test_the_same_seed_and_epoch_give_the_same_batches_and_others_do_not() -> None:
    cells, *_ = cells_of(some_corpus())

    def first(seed: int, epoch: int) -> list[int]:
        return plan_epoch(cells, 2000, seed, epoch).places(0).tolist()

    assert first(1, 0) == first(1, 0)
    assert first(1, 0) != first(1, 1)
    assert first(1, 0) != first(2, 0)


def test_little_padding() -> None:
    cells, by_cell, source, target = cells_of(some_corpus())
    for epoch in range(3):
        plan = plan_epoch(cells, 4096, 1, epoch)
        batches = [by_cell[plan.places(number)] for number in range(len(plan))]
        real = (source + 1).sum() + (target + 1).sum()
        full = sum(len(b) * (source[b].max() + target[b].max() + 2) for b in batches)
        assert 1 - real / full < 0.05


def test_batches_are_full() -> None:
    cells, *_ = cells_of(some_corpus())
    plan = plan_epoch(cells, 4096, 1, 0)
    sizes = [len(plan.places(number)) * 14 for number in range(len(plan))]
    assert np.median(sizes) > 3000


def test_a_pair_meets_others_from_all_over_the_corpus_and_not_the_same_again() -> None:
    cells, by_cell, *_ = cells_of(some_corpus())

    def companions(epoch: int) -> set[int]:
        plan = plan_epoch(cells, 4096, 1, epoch)
        return next(b for k in range(len(plan)) if 7 in (b := set(by_cell[plan.places(k)].tolist()))) - {7}

    one, other = companions(0), companions(1)
    assert len(one & other) < 0.8 * len(one)
    assert np.std(sorted(one)) > 20_000 / 12**0.5 * 0.7  # spread over the corpus like random numbers


def test_lengths_of_consecutive_batches_are_unrelated() -> None:
    cells, by_cell, _, target = cells_of(some_corpus())
    plan = plan_epoch(cells, 1000, 1, 0)
    means = np.array([target[by_cell[plan.places(number)]].mean() for number in range(len(plan))])
    assert abs(np.corrcoef(means[1:], means[:-1])[0, 1]) < 0.2


def test_a_mixed_batch_has_many_lengths_and_about_as_many_tokens_as_wanted() -> None:
    cells, by_cell, _, target = cells_of(some_corpus())
    spreads, sizes = {}, {}
    for mix in (1, 8):
        plan = plan_epoch(cells, 1000, 1, 0, mix)
        batches = [target[by_cell[plan.places(number)]] for number in range(len(plan) - mix)]
        spreads[mix] = np.mean([batch.std() for batch in batches])
        sizes[mix] = [(batch + 1).sum() for batch in batches]
    assert spreads[1] < 0.5
    assert spreads[8] > 0.8 * target.std()
    assert np.mean(sizes[8]) == pytest.approx(np.mean(sizes[1]), rel=0.01)
    assert max(sizes[8]) < 1200
