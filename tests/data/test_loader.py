"""Batches from any position, for any rank: the same, and nothing twice."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_prepared import prepare_some

from headway.data.loader import START, Loader, Position
from headway.data.plan import plan_epoch
from headway.data.prepared import Prepared

PAIRS = 300


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 20, (PAIRS, 2)).tolist()
    return prepare_some(tmp_path_factory.mktemp("data") / "train", [("a" * s, "b" * t) for s, t in sizes])


def loader_of(prepared: Prepared, **settings) -> Loader[list[int]]:
    return Loader(prepared, lambda rows: rows.numbers, **{"tokens": 200, "seed": 3, **settings})


def take(loader: Loader, start: Position, count: int) -> list:
    batches = loader.batches(start)
    taken = list(itertools.islice(batches, count))
    batches.close()
    return taken


def test_an_epoch_has_every_pair_once_and_the_next_another_order(prepared: Prepared) -> None:
    count = len(plan_epoch(prepared.cells, 200, 3, 0))
    first = take(loader_of(prepared), START, count)
    assert sorted(itertools.chain.from_iterable(numbers for numbers, _ in first)) == list(range(PAIRS))
    assert first[-1][1] == Position(1, 0)
    second = take(loader_of(prepared), Position(1, 0), 5)
    assert [numbers for numbers, _ in second] != [numbers for numbers, _ in first[:5]]


@settings(max_examples=20)
@given(st.integers(0, 60), st.integers(1, 5))
def test_going_on_from_any_position_gives_what_would_have_come(prepared: Prepared, done: int, mix: int) -> None:
    whole = take(loader_of(prepared, mix=mix), START, done + 5)
    start = whole[done - 1][1] if done else START
    assert take(loader_of(prepared, mix=mix), start, 5) == whole[done:]


@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_ranks_partition_every_batch(prepared: Prepared, ranks: int) -> None:
    alone = take(loader_of(prepared), START, 40)
    shared = [take(loader_of(prepared, rank=rank, ranks=ranks), START, 40) for rank in range(ranks)]
    for step, (numbers, following) in enumerate(alone):
        parts = [share[step][0] for share in shared]
        assert sorted(itertools.chain.from_iterable(parts)) == sorted(numbers)
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        assert {share[step][1] for share in shared} == {following}


def test_chance_belongs_to_the_pair_and_the_epoch_not_to_the_rank(prepared: Prepared) -> None:
    def keys(**settings) -> dict[int, tuple[int, ...]]:
        rows = next(Loader(prepared, None, tokens=200, seed=3, **settings).rows())
        return dict(zip(rows.numbers, rows.keys, strict=True))

    assert keys() == keys(rank=0, ranks=2) | keys(rank=1, ranks=2)


def test_an_error_of_the_thread_reaches_the_reader(prepared: Prepared) -> None:
    def fails(_):
        raise RuntimeError("cannot make a batch")

    with pytest.raises(RuntimeError, match="cannot make a batch"):
        next(Loader(prepared, fails, tokens=200, seed=3).batches())


def test_closing_ends_the_thread(prepared: Prepared) -> None:
    take(loader_of(prepared), START, 3)
    assert not [thread for thread in threading.enumerate() if thread.name == "headway-loader"]
