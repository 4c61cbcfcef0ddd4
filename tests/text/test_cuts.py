"""Texts cut at spaces: the parts, tokenized alone, are the whole."""

import re
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_tokenizer import KINDS, LINES

from headway.text import word_cache
from headway.text.cuts import BECOME_SPACE, FIRST, cut, cut_one_by_one
from headway.text.learn import learn_tokenizer
from headway.text.tokenizer import Tokenizer

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
SPACE_LIKE = [c for c in CHARACTERS if unicodedata.normalize("NFKC", c)[:1].isspace()]
ODD = [*SPACE_LIKE, *" " * 30, *"ab1!é", "\N{COMBINING ACUTE ACCENT}", "\N{ZERO WIDTH JOINER}", "\N{NULL}", "가", "ᆨ"]
texts = st.text(st.sampled_from(ODD), max_size=12) | st.text(max_size=12)


@pytest.fixture(scope="module", params=[(kind, form) for kind in KINDS for form in ("nfc", "nfkc", "none")], ids=str)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    kind, form = request.param
    return learn_tokenizer(LINES, kind, 700, form)


@settings(max_examples=100)
@given(text=texts)
def test_words_and_ids_of_the_parts_are_those_of_the_whole(tokenizer: Tokenizer, text: str) -> None:
    first, *later = cut([text]).parts
    parts = [first.removeprefix(FIRST), *(" " + part for part in later)]
    assert "".join(parts) == text
    assert [word for part in parts for word in tokenizer.words(part)] == tokenizer.words(text)
    assert [i for part in parts for i in tokenizer.encode(part)] == tokenizer.encode(text)


@settings(max_examples=60)
@given(st.lists(texts, max_size=8))
def test_a_batch_is_encoded_as_its_texts(tokenizer: Tokenizer, batch: list[str]) -> None:
    assert tokenizer.encode_batch(batch) == [tokenizer.encode(text) for text in batch]


def test_no_character_breaks_a_cut() -> None:
    """Each character of Unicode that could be taken for space by one library and not by another, between spaces."""
    odd = [c for c in CHARACTERS if unicodedata.category(c)[0] in "ZC" and unicodedata.category(c) not in ("Co", "Cn")]
    for form in ("nfc", "nfkc"):
        tokenizer = learn_tokenizer(LINES, "bpe", 700, form)
        texts = [f"a\t {character}b {character} {character}" for character in {*odd, *SPACE_LIKE}]
        assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]


def test_what_begins_with_a_space_in_nfkc_is_known() -> None:
    known = re.compile(f"[{BECOME_SPACE}]")
    assert [c for c in CHARACTERS if known.match(c)] == [c for c in SPACE_LIKE if not c.isspace()]


def test_cuts_are_before_spaces_that_begin_a_word() -> None:
    assert cut(["a bc  d "]) == (["\0a", "bc ", "d "], [3])
    assert cut([" a", ""]) == (["\0", "a", "\0"], [2, 1])
    assert cut([]) == ([], [])


@given(st.lists(texts | st.text("a \0", max_size=9), max_size=8))
def test_texts_are_cut_together_as_alone(batch: list[str]) -> None:
    together, alone = cut(batch), [cut_one_by_one([text]) for text in batch]
    rows = np.split(np.array(together.parts, dtype=object), np.cumsum(together.counts[:-1])) if batch else []
    for row, text in zip(rows, batch, strict=True):
        assert " ".join(row) == FIRST + text
        assert [part.startswith(FIRST) for part in row] == [True] + [False] * (len(row) - 1)
    if "\0" not in "".join(batch):
        assert together.parts == [part for parts, _ in alone for part in parts]


def test_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_cache, "LIMIT", 20)
    monkeypatch.setattr(word_cache, "BLOCK", 2)
    tokenizer = learn_tokenizer(LINES, "bpe", 700)
    texts = [f"{line} {n}" for n, line in enumerate(LINES)]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]
    assert tokenizer._cache._size < 200


def test_a_word_is_encoded_once() -> None:
    asked: list[str] = []

    def encode(texts: list[str]) -> list[list[int]]:
        asked.extend(word for text in texts for word in re.findall(" ?[^ ]+", text))
        return [[len(word) for word in re.findall(" ?[^ ]+", text)] for text in texts]

    cache = word_cache.WordCache(encode, "B", np.array([False, False, True, True]))
    ids, sizes = cache.encode(["a bc a", "a a"])
    assert (ids, sizes.tolist()) == (bytes([1, 3, 2, 1, 2]), [3, 2])
    ids, sizes = cache.encode(["bc bc"])
    assert (ids, sizes.tolist()) == (bytes([2, 3]), [2])
    assert sorted(asked) == [" a", " bc", "a", "bc"]


def test_parts_that_get_spaces_when_normalised_are_encoded_alone() -> None:
    """In NFKC the acute accent is a space and a combining sign, which one text of many parts would hide."""
    tokenizer = learn_tokenizer(LINES, "bpe", 700, "nfkc")
    texts = ["a b\N{ACUTE ACCENT}c d", "a b c"]
    assert tokenizer.encode_batch(texts) == [tokenizer.encode(text) for text in texts]
