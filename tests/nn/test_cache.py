"""The beams of a sentence see their own ancestors in the cache that they share, and nothing else."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headway.nn.cache import BeamCache, FixedCache, GrowingCache, Lineage
from headway.nn.masks import Band, Full, Pattern, TopK

CPU = torch.device("cpu")


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8), st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_beam_sees_all_its_ancestors_and_no_others(sizes: list[int], read: int, random) -> None:
    """Tokens are named by the order in which they were remembered; every beam carries the names of its own."""
    rows = 3
    lineage = Lineage.of_one_beam(rows, read, CPU)
    names = [[list(range(read))] for _ in range(rows)]
    count = read
    for step, beams in enumerate(sizes):
        parents = [[random.randrange(len(row)) for _ in range(beams)] for row in names]
        lineage = lineage.branch(torch.tensor(parents)).extend(read + step)
        names = [
            [[*row[parent], count + beam] for beam, parent in enumerate(chosen)]
            for row, chosen in zip(names, parents, strict=True)
        ]
        count += beams
        for row in range(rows):
            for beam in range(beams):
                assert lineage.is_ancestor[row, beam].nonzero()[:, 0].tolist() == names[row][beam]
                seen = lineage.positions[row, lineage.is_ancestor[row, beam]]
                assert seen.tolist() == list(range(read + step + 1)), "one token at every position"
    chosen = lineage.select(torch.tensor([2, 0]))
    assert chosen.is_ancestor.equal(lineage.is_ancestor[[2, 0]])


@pytest.mark.parametrize("in_columns", [False, True])
def test_tokens_of_beams_that_ended_are_forgotten_and_no_others(in_columns: bool) -> None:
    lineage, cache, count = Lineage.of_one_beam(2, 0, CPU), GrowingCache(in_columns=in_columns), 0
    forgotten, history = 0, [[[]], [[]]]
    for step in range(30):
        parents = torch.randint(0, 1 if step == 0 else 4, (2, 4))
        before = lineage.branch(parents)
        lineage = before
        places = before.places_in_use()
        if places is not None:
            lineage, cache = before.keep(places), cache.keep(places)
            forgotten += 1
            assert (~before.is_ancestor.any(1)).sum(1).min() * 2 > before.positions.size(1)
        lineage = lineage.extend(step)
        names = torch.arange(count, count + 8.0).view(2, 1, 4, 1)  # every token remembered has its own name
        count += 8
        keys, _ = cache.recall(torch.empty(2, 4, 1), lambda _, names=names: (names, names))
        written = [[keys[row, 0, lineage.is_ancestor[row, beam], 0].tolist() for beam in range(4)] for row in range(2)]
        expected = [
            [[*history[row][parents[row, beam]], names[row, 0, beam, 0]] for beam in range(4)] for row in range(2)
        ]
        assert written == expected
        history = written
    assert forgotten > 2
    assert lineage.positions.size(1) < 4 * 30 / 1.5


@pytest.mark.parametrize(
    "pattern", [Full(causal=True), Band(2, causal=True), Band(3, 2, 1, causal=True), TopK(3, causal=True)]
)
def test_a_pattern_shows_beams_what_it_shows_a_single_row(pattern: Pattern) -> None:
    lineage = Lineage.of_one_beam(1, 4, CPU)
    for step, parents in enumerate([[0, 0, 0], [2, 0, 0], [1, 1, 2]]):
        lineage = lineage.branch(torch.tensor([parents])).extend(4 + step)
    mask, rest = BeamCache(GrowingCache(), lineage).restrict(None, pattern)
    assert mask is not None
    alone = pattern.mask(1, 7, CPU)
    expected = [True] * 7 if alone is None else alone[0].tolist()
    for beam in range(3):
        assert mask[0, 0, beam, lineage.is_ancestor[0, beam]].tolist() == expected
        assert not mask[0, 0, beam, ~lineage.is_ancestor[0, beam]].any()
    assert rest == (TopK(3) if isinstance(pattern, TopK) else Full())


def test_beams_append_to_the_cache_that_they_share() -> None:
    cache = GrowingCache()
    view = BeamCache(cache, Lineage.of_one_beam(2, 0, CPU).branch(torch.zeros(2, 3, dtype=torch.long)).extend(0))
    new = torch.randn(2, 1, 3, 4)
    keys, values = view.recall(torch.empty(2, 3, 1), lambda _: (new, -new))
    assert keys.equal(new)
    assert values.equal(-new)
    assert cache.length == 3


def test_a_cache_in_columns_has_the_same_contents() -> None:
    rows, keys, values = GrowingCache(), torch.randn(2, 3, 20, 4), torch.randn(2, 3, 20, 5)
    rows.append(keys[:, :, :17], values[:, :, :17])
    columns = rows.in_columns().select(torch.tensor([1, 0]))
    assert columns.in_columns() is columns
    all_keys, all_values = columns.append(keys[[1, 0], :, 17:], values[[1, 0], :, 17:])
    assert all_keys.equal(keys[[1, 0]])
    assert all_values.equal(values[[1, 0]])
    assert all_keys.stride(2) == 1


def test_a_memory_stays_in_columns() -> None:
    keys, values = torch.randn(2, 3, 20, 4), torch.randn(2, 3, 20, 5)
    chosen_keys, chosen_values = FixedCache(keys, values).in_columns().select(torch.tensor([1, 1])).contents
    assert chosen_keys.equal(keys[[1, 1]])
    assert chosen_values.equal(values[[1, 1]])
    assert chosen_keys.stride(2) == 1
