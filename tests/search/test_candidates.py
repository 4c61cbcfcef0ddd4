"""The two-stage choice of the best continuations against sorting them all."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.search.candidates import best_candidates, best_tokens


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 300), st.integers(1, 20), st.booleans())
def test_two_stages_find_what_one_sort_finds(rows: int, beams: int, vocabulary: int, count: int, sparse: bool) -> None:
    log_probabilities = torch.randn(rows, beams, vocabulary)
    if sparse:
        log_probabilities[torch.rand(log_probabilities.shape) < 0.9] = -torch.inf
    scores = torch.randn(rows, beams, dtype=torch.float64)
    scores[0, 0] = -torch.inf
    found = best_candidates(log_probabilities, scores, count)
    totals = (log_probabilities + scores[..., None]).flatten(1)
    expected, places = totals.topk(min(count, beams * vocabulary), dim=1)
    assert found.scores.equal(expected)
    is_possible = expected.isfinite()
    assert found.parents[is_possible].equal((places // vocabulary)[is_possible])
    assert found.tokens[is_possible].equal((places % vocabulary)[is_possible])
    assert bool((found.tokens < vocabulary).all())


@pytest.mark.parametrize("vocabulary", [64, 65, 128])
def test_scores_are_summed_in_double_precision(vocabulary: int) -> None:
    log_probabilities = torch.full((1, 2, vocabulary), -1.0)
    scores = torch.tensor([[-100.0, -100.0 + 1e-9]], dtype=torch.float64)
    assert int(best_candidates(log_probabilities, scores, 1).parents) == 1


@settings(max_examples=60)
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 300))
def test_the_best_token_is_that_of_argmax(rows: int, beams: int, vocabulary: int) -> None:
    values = torch.randint(-9, 0, (rows, beams, vocabulary)).float()  # many are equal: the first is taken
    assert best_tokens(values).equal(values.argmax(-1))
