"""Preparing loses nothing, drops by stated rules only, is not repeated, and leaves nothing half-done."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.data import encoding
from headway.data import prepared as prepared_module
from headway.data.prepared import Prepared, Rules, prepare
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.learn import learn_tokenizer

LETTERS = learn_tokenizer(map(chr, range(128)), "character", 512)
"""A token a character."""


def prepare_some(directory: Path, pairs, *, max_length: int = 50, max_ratio: float | None = None, **settings):
    options = {"origin": {"name": "test"}, **settings}
    return prepare((Pair(*p) for p in pairs), (LETTERS, LETTERS), directory, Rules(max_length, max_ratio), **options)


words = st.text(st.characters(codec="ascii"), min_size=1, max_size=20)


@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(words, words), min_size=1, max_size=60), chunk=st.sampled_from([1, 7, 20_000]))
def test_every_pair_comes_back(tmp_path_factory: pytest.TempPathFactory, pairs, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "CHUNK", chunk)
        patch.setattr(prepared_module, "SORTED_AT_ONCE", chunk)
        prepared = prepare_some(tmp_path_factory.mktemp("data") / "train", pairs, processes=1)
    read = [tuple(map(LETTERS.decode, prepared[n])) for n in range(len(prepared))]
    assert read == pairs
    by_place = prepared.numbers(np.arange(len(pairs)))
    assert sorted(by_place) == list(range(len(pairs)))
    lengths = [(len(pairs[n][1]), len(pairs[n][0])) for n in by_place]
    assert lengths == sorted(lengths)
    assert prepared.cells.counts.sum() == len(pairs)
    prepared.close()


def test_what_is_dropped_is_counted_by_its_reason(tmp_path: Path) -> None:
    pairs = [("ab", "cd"), ("", "cd"), ("ab", ""), ("a" * 51, "b"), ("a" * 9, "b"), ("a" * 50, "b" * 50)]
    report = prepare_some(tmp_path / "train", pairs, max_ratio=8.0).report
    assert (report.read, report.kept) == (6, 2)
    assert report.dropped == {
        "an empty side": 2,
        "over data.max_length = 50 tokens": 1,
        "over data.max_ratio = 8": 1,
    }
    assert report.tokens == {"source": 52, "target": 52}


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no pair is left to train on: 2 read, dropped 2 with an empty side"):
        prepare_some(tmp_path / "train", [("", "a"), ("", "")])
    assert not (tmp_path / "train").exists()


def test_what_is_prepared_is_used_again_until_something_changes(tmp_path: Path) -> None:
    def unread():
        pytest.fail("read again")
        yield

    prepare_some(tmp_path / "train", [("a", "b")])
    assert len(prepare_some(tmp_path / "train", unread())) == 1
    assert len(prepare_some(tmp_path / "train", [("a", "b")] * 2, origin={"name": "other"})) == 2
    assert len(prepare_some(tmp_path / "train", [("a", "b")] * 3, max_length=9, origin={"name": "other"})) == 3


def test_an_interrupted_preparation_leaves_nothing_usable(tmp_path: Path) -> None:
    def breaks_off():
        yield ("a", "b")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare_some(tmp_path / "train", breaks_off())
    assert not (tmp_path / "train").exists()
    assert len(prepare_some(tmp_path / "train", [("a", "b")] * 2)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


def test_an_interrupted_preparation_keeps_what_was_there(tmp_path: Path) -> None:
    def breaks_off():
        yield ("a", "b")
        raise KeyboardInterrupt

    prepare_some(tmp_path / "train", [("a", "b")])
    with pytest.raises(KeyboardInterrupt):
        prepare_some(tmp_path / "train", breaks_off(), origin={"name": "other"})
    assert len(Prepared(tmp_path / "train")) == 1


def test_a_large_vocabulary_takes_wider_numbers(tmp_path: Path) -> None:
    large = learn_tokenizer(map(chr, range(0x20000, 0x31000)), "character", 70_000)
    text = "\N{CJK UNIFIED IDEOGRAPH-20000}\N{CJK UNIFIED IDEOGRAPH-30FFF}"
    for tokenizers in ((large, LETTERS), (LETTERS, large)):
        pair = [text if tokenizer is large else "b" for tokenizer in tokenizers]
        origin = {"large": tokenizers.index(large)}
        prepared = prepare([Pair(*pair)], tokenizers, tmp_path / "train", Rules(50), origin=origin)
        assert [tokenizer.decode(ids) for tokenizer, ids in zip(tokenizers, prepared[0], strict=True)] == pair
        assert max(max(ids) for ids in prepared[0]) > 1 << 16


@pytest.mark.parametrize("shard_bytes", [1, 3, 10, 64])
def test_no_file_of_ids_is_larger_than_asked_for(tmp_path: Path, shard_bytes: int) -> None:
    pairs = [("a" * n, "b" * (20 - n)) for n in range(1, 20)]
    prepared = prepare_some(tmp_path / "train", pairs, shard_bytes=shard_bytes)
    assert [tuple(map(LETTERS.decode, prepared[n])) for n in range(len(pairs))] == pairs
    for side in ("source", "target"):
        sizes = [path.stat().st_size for path in sorted((tmp_path / "train").glob(f"{side}.ids-*"))]
        assert sum(sizes) == 2 * prepared.report.tokens[side]
        assert all(size == shard_bytes for size in sizes[:-1])
        assert 0 < sizes[-1] <= shard_bytes
    prepared.close()


def test_a_directory_without_a_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no prepared corpus of format 2; prepare it again"):
        Prepared(tmp_path)


def test_progress_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "CHUNK", 2)
    seen: list[int] = []
    prepare_some(tmp_path / "train", [("a", "b")] * 5, on_progress=lambda report: seen.append(report.read))
    assert seen == [2, 4, 5]
