"""Every score function against a loop that follows its definition."""

import math

import numpy as np
import pytest
import torch

from headway.nn.scores import Additive, Dot, Gaussian, General, ScaledDot, Score

BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 5, 6


def dot(q, k, _):
    return sum(q[i] * k[i] for i in range(WIDTH))


def scaled_dot(q, k, weight):
    return dot(q, k, weight) / math.sqrt(WIDTH)


def general(q, k, weight):
    return sum(q[i] * weight[i, j] * k[j] for i in range(WIDTH) for j in range(WIDTH))


def additive(q, k, weight):
    return sum(weight[i] * math.tanh(q[i] + k[i]) for i in range(WIDTH))


def gaussian(q, k, _):
    kernel = math.exp(-sum((q[i] - k[i]) ** 2 for i in range(WIDTH)) / (2 * math.sqrt(WIDTH)))
    return math.log(kernel)


SCORES = [
    (ScaledDot(), scaled_dot),
    (Dot(), dot),
    (General(HEADS, WIDTH), general),
    (Additive(HEADS, WIDTH), additive),
    (Gaussian(), gaussian),
]


def queries_and_keys():
    return torch.randn(BATCH, HEADS, QUERIES, WIDTH), torch.randn(BATCH, HEADS, KEYS, WIDTH)


@pytest.mark.parametrize(("score", "definition"), SCORES, ids=lambda x: getattr(x, "__name__", ""))
def test_a_score_is_its_definition(score: Score, definition) -> None:
    q, k = queries_and_keys()
    weights = [p.detach().numpy() for p in score.parameters()]
    expected = np.empty((BATCH, HEADS, QUERIES, KEYS))
    for b, h, i, j in np.ndindex(expected.shape):
        expected[b, h, i, j] = definition(q[b, h, i].numpy(), k[b, h, j].numpy(), weights[0][h] if weights else None)
    np.testing.assert_allclose(score(q, k).detach().numpy(), expected, atol=1e-5)


@pytest.mark.parametrize(("score", "definition"), SCORES, ids=lambda x: getattr(x, "__name__", ""))
def test_folding_changes_a_score_by_a_constant_a_query(score: Score, definition) -> None:
    q, k = queries_and_keys()
    folded = score.fold(q, k)
    if definition is additive:
        assert folded is None
        return
    folded_q, folded_k, scale = folded
    difference = scale * folded_q @ folded_k.mT - score(q, k)
    torch.testing.assert_close(difference, difference[..., :1].expand_as(difference), atol=1e-5, rtol=0)
