import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_tokenizer import LINES

from headway.text import bpe_dropout
from headway.text.bpe_dropout import BpeDropout
from headway.text.learn import learn_tokenizer
from headway.text.tokenizer import Tokenizer


@pytest.fixture(scope="module", params=["bpe", "byte-level"])
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return learn_tokenizer(LINES, request.param, 700)


texts = st.text() | st.sampled_from(LINES)


@given(text=texts)
def test_without_dropout_it_is_the_tokenizer(tokenizer: Tokenizer, text: str) -> None:
    assert BpeDropout(tokenizer, 0.0).encode(text, (1,)) == tokenizer.encode(text)


@given(text=texts, rate=st.floats(0, 1), key=st.integers(0, 99))
def test_nothing_is_lost_and_the_key_decides(tokenizer: Tokenizer, text: str, rate: float, key: int) -> None:
    dropout = BpeDropout(tokenizer, rate)
    ids = dropout.encode(text, (key,))
    assert tokenizer.decode(ids) == tokenizer.normalise(text)
    assert ids == dropout.encode(text, (key,))
    assert ids == dropout.encode_again(tokenizer.encode(text), (key,))


def test_more_dropout_gives_smaller_pieces(tokenizer: Tokenizer) -> None:
    counts = [len(BpeDropout(tokenizer, rate).encode(LINES[0], (1,))) for rate in (0.0, 0.2, 0.6, 1.0)]
    assert counts == sorted(set(counts))
    assert counts[-1] == len(LINES[0])  # nothing was merged


def test_another_key_cuts_otherwise(tokenizer: Tokenizer) -> None:
    dropout = BpeDropout(tokenizer, 0.3)
    assert len({tuple(dropout.encode(LINES[0], (key,))) for key in range(10)}) == 10


def test_each_merge_is_left_out_as_often_as_asked_for() -> None:
    words = [f"{first}{second}" for first in "abcdef" for second in "uvwxyz"]  # each is a merge
    tokenizer = learn_tokenizer(words * 9, "bpe", 400)
    assert all(len(tokenizer.encode(word)) == 1 for word in words)
    dropout = BpeDropout(tokenizer, 0.25)
    cut = [len(dropout.encode(word, (key,))) == 2 for word in words for key in range(100)]
    assert 0.22 < sum(cut) / len(cut) < 0.28


def test_what_was_forgotten_is_drawn_again_the_same(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [BpeDropout(tokenizer, 0.3).encode(line, (7,)) for line in LINES]
    monkeypatch.setattr(bpe_dropout, "LIMIT", 2)
    forgetful = BpeDropout(tokenizer, 0.3)
    assert [forgetful.encode(line, (7,)) for line in LINES] == wanted
