"""Every kind of tokenizer, on any text: nothing is lost, nothing is unknown."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.errors import UserError
from headway.text.learn import default_vocabulary, learn_tokenizer
from headway.text.specials import BOS, EOS, MASK, PAD, SPECIAL_TOKENS, UNK
from headway.text.tokenizer import Tokenizer

KINDS = ["bpe", "unigram", "wordpiece", "byte-level", "character", "word"]
LINES = [
    "The animal didn't cross the street because it was too tired.",
    "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
    "动物没有过马路,因为它太累了。",
    "Prices rose by 12.5% in 2023 & fell again; see <pad>, </s> and <0x41>.",
] * 50
ODD_TEXTS = [
    "",
    " ",
    "  two  spaces  ",
    "a\tb\nc\r\nd",
    "<pad></s><unk><mask> <0x41><0xFF>",
    "e\N{COMBINING ACUTE ACCENT}",
    "👩‍👩‍👧 🇫🇷",
    "שלום עולם مرحبا",
    "▁▁ ## → Ġ",
    "\x00\x7f\ufeff\u2028\ufffd",
    "日本語123ａｂｃ",
]


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return learn_tokenizer(LINES, request.param, size=700)


@settings(max_examples=200)
@given(text=st.text())
def test_nothing_is_lost(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == tokenizer.normalise(text)
    assert not {PAD, BOS, EOS, UNK, MASK} & set(ids)
    assert all(i < len(tokenizer) for i in ids)


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_nothing_odd_is_lost(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == unicodedata.normalize("NFC", text)
    assert UNK not in ids


@given(st.lists(st.text(), max_size=6))
def test_a_batch_is_encoded_as_its_texts(tokenizer: Tokenizer, texts: list[str]) -> None:
    alone = [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_batch(texts) == alone
    joined = tokenizer.encode_joined(texts)
    assert joined.ids.tolist() == [i for ids in alone for i in ids]
    assert joined.lengths.tolist() == [len(ids) for ids in alone]


def test_a_large_vocabulary_takes_wider_numbers() -> None:
    tokenizer = learn_tokenizer(map(chr, range(0x20000, 0x31000)), "character", 70_000)
    text = "\N{CJK UNIFIED IDEOGRAPH-30FFF}"
    assert tokenizer.encode_joined([text]).ids.dtype.itemsize == 4
    assert tokenizer.encode_batch([text]) == [tokenizer.encode(text)] != [[]]


@given(text=st.text())
def test_a_saved_tokenizer_is_the_same(tokenizer: Tokenizer, text: str) -> None:
    again = Tokenizer.from_json(tokenizer.to_json())
    assert again.encode(text) == tokenizer.encode(text)
    assert again.decode(tokenizer.encode(text)) == tokenizer.normalise(text)
    assert again.to_json() == tokenizer.to_json()


def test_special_tokens_have_their_ids(tokenizer: Tokenizer) -> None:
    assert tokenizer.pieces(range(5)) == list(SPECIAL_TOKENS)
    assert list(range(5)) == [PAD, BOS, EOS, UNK, MASK]


def test_decoding_leaves_special_tokens_out(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("the street")
    assert tokenizer.decode([BOS, *ids, EOS, PAD, PAD]) == "the street"


def test_the_size_is_kept(tokenizer: Tokenizer) -> None:
    assert 261 < len(tokenizer) <= 700


def test_any_ids_decode(tokenizer: Tokenizer) -> None:
    assert isinstance(tokenizer.decode(range(len(tokenizer))), str)


def test_learning_twice_gives_the_same() -> None:
    for kind in sorted(set(KINDS) - {"unigram"}):  # whose trainer is not repeatable, as its docstring says
        assert learn_tokenizer(LINES, kind, 700).to_json() == learn_tokenizer(iter(LINES), kind, 700).to_json()


def test_frequent_words_become_pieces() -> None:
    for kind in ("bpe", "wordpiece", "byte-level", "word"):
        tokenizer = learn_tokenizer(LINES, kind, 900)
        assert tokenizer.pieces(tokenizer.encode(" because the street")) == [" because", " the", " street"], kind


def test_characters() -> None:
    tokenizer = learn_tokenizer(LINES, "character", 700)
    assert tokenizer.pieces(tokenizer.encode("the 动物")) == ["t", "h", "e", " ", "动", "物"]


def test_what_has_no_piece_is_spelled_in_bytes() -> None:
    tokenizer = learn_tokenizer(LINES, "bpe", 700)
    assert tokenizer.pieces(tokenizer.encode("ж")) == ["<0xD0>", "<0xB6>"]
    assert tokenizer.decode(tokenizer.encode("ж")[:1]) == "\N{REPLACEMENT CHARACTER}"


def test_digits_are_never_joined() -> None:
    tokenizer = learn_tokenizer(["2023 2023 2023"] * 99, "bpe", 700)
    assert tokenizer.pieces(tokenizer.encode("2023")) == ["2", "0", "2", "3"]


def test_normalisation_is_a_choice() -> None:
    assert learn_tokenizer(LINES, size=700, normalisation="nfkc").normalise("ｅ\u0301") == "é"
    assert learn_tokenizer(LINES, size=700, normalisation="none").normalise("e\u0301") == "e\u0301"


def test_a_size_without_room_for_pieces_is_refused() -> None:
    with pytest.raises(UserError, match=r"tokenizer.size = 100 leaves no room for pieces: .* choose at least 262"):
        learn_tokenizer(LINES, "bpe", 100)
    with pytest.raises(UserError, match="choose at least 518"):
        learn_tokenizer(LINES, "wordpiece", 400)


def test_no_text_at_all_still_gives_a_tokenizer() -> None:
    for kind in ("bpe", "byte-level", "character", "word", "wordpiece"):
        tokenizer = learn_tokenizer([], kind, 700)
        assert tokenizer.decode(tokenizer.encode("anything")) == "anything", kind


def test_the_json_is_that_of_the_library() -> None:
    assert json.loads(learn_tokenizer(LINES, size=700).to_json())["model"]["type"] == "BPE"


@pytest.mark.parametrize(("pairs", "size"), [(10, 1000), (29_000, 8000), (160_000, 13_000), (4_500_000, 36_000)])
def test_the_default_size_grows_with_the_corpus(pairs: int, size: int) -> None:
    assert default_vocabulary(pairs) == size
