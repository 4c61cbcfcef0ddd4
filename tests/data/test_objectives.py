"""What models are asked: shifted targets, packed rows, hidden tokens, hidden spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data.objectives import (
    continuation,
    infilling,
    language_model,
    masked_tokens,
    padded,
    span_corruption,
    tagging,
    translation,
)
from headway.text.specials import BOS, EOS, MASK, PAD

ids = st.lists(st.integers(MASK + 1, 99), min_size=1, max_size=40).map(np.array)
sentences = st.lists(ids, min_size=1, max_size=8)


def test_padding() -> None:
    assert padded([np.array([7]), np.array([8, 9])]).tolist() == [[7, PAD], [8, 9]]
    assert padded([]).shape == (0, 0)


def test_translation_shifts_the_target() -> None:
    batch = translation([(np.array([7, 8]), np.array([9])), (np.array([7]), np.array([8, 9]))])
    assert batch.source.tolist() == [[7, 8, EOS], [7, EOS, PAD]]
    assert batch.target.tolist() == [[BOS, 9, PAD], [BOS, 8, 9]]
    assert batch.answer.tolist() == [[9, EOS, PAD], [8, 9, EOS]]


def test_continuation_asks_for_the_target_only() -> None:
    batch = continuation([(np.array([7, 8]), np.array([9])), (np.array([7]), np.array([8, 9]))])
    assert batch.tokens.tolist() == [[7, 8, EOS, BOS, 9], [7, EOS, BOS, 8, 9]]
    assert batch.answer.tolist() == [[PAD, PAD, PAD, 9, EOS], [PAD, PAD, 8, 9, EOS]]


def test_tagging_asks_for_a_token_a_token() -> None:
    batch = tagging([(np.array([7, 8]), np.array([17, 18])), (np.array([9]), np.array([19]))])
    assert batch.tokens.tolist() == [[7, 8], [9, PAD]]
    assert batch.answer.tolist() == [[17, 18], [19, PAD]]


@given(sentences, st.integers(1, 12))
def test_packing_loses_nothing(texts, length: int) -> None:
    batch = language_model(texts, length)
    stream = [EOS, *(token for text in texts for token in [*text.tolist(), EOS])]
    real = batch.answer != PAD
    assert batch.tokens[real].tolist() == stream[:-1]
    assert batch.answer[real].tolist() == stream[1:]
    assert real[:-1].all()
    assert batch.tokens.size(1) <= length


def test_masked_tokens_have_the_rates_of_bert() -> None:
    text = np.full(200_000, 50)
    batch = masked_tokens([text], [(1, 2, 3)], vocabulary=1000)
    tokens, answer = batch.tokens[0, :-1], batch.answer[0, :-1]
    asked = answer != PAD
    assert asked.float().mean().item() == pytest.approx(0.15, abs=0.005)
    assert (answer[asked] == 50).all()
    assert (tokens[~asked] == 50).all()
    assert (tokens[asked] == MASK).float().mean().item() == pytest.approx(0.8, abs=0.01)
    assert (tokens[asked] == 50).float().mean().item() == pytest.approx(0.1, abs=0.01)
    assert tokens.min() >= MASK


@given(sentences)
def test_what_is_hidden_does_not_depend_on_the_batch(texts) -> None:
    keys = [(1, 0, n) for n in range(len(texts))]
    together = masked_tokens(texts, keys, 100, rate=0.5)
    for row, (text, key) in enumerate(zip(texts, keys, strict=True)):
        alone = masked_tokens([text], [key], 100, rate=0.5)
        assert together.tokens[row, : len(text) + 1].equal(alone.tokens[0])


@given(sentences, st.integers(0, 99))
def test_spans_fill_the_holes(texts, seed: int) -> None:
    keys = [(seed, n) for n in range(len(texts))]
    batch = span_corruption(texts, keys, rate=0.4)
    for row, text in enumerate(texts):
        source = [t for t in batch.source[row].tolist() if t not in (PAD, EOS)]
        spans, current = [], None
        for token in (t for t in batch.answer[row].tolist() if t not in (PAD, EOS)):
            if token == MASK:
                current = []
                spans.append(current)
            else:
                current.append(token)
        assert source.count(MASK) == len(spans)
        filled = []
        for token in source:
            filled += spans.pop(0) if token == MASK else [token]
        assert filled == text.tolist()


def test_about_the_rate_is_hidden() -> None:
    texts = [np.arange(MASK + 1, 1000)] * 20
    batch = span_corruption(texts, [(n,) for n in range(20)], rate=0.15)
    hidden = ((batch.answer != PAD) & (batch.answer != EOS) & (batch.answer != MASK)).sum().item()
    assert 0.1 < hidden / (20 * len(texts[0])) <= 0.151


@given(sentences)
def test_infilling_asks_for_the_whole_sentence(texts) -> None:
    batch = infilling(texts, [(n,) for n in range(len(texts))])
    plain = translation([(text, text) for text in texts])
    assert batch.answer.equal(plain.answer)
    assert batch.source.shape[1] <= plain.source.shape[1]
