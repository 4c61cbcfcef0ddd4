"""The tokenizers of both sides: learned together or apart, written and read, known by their hash."""

from pathlib import Path

import pytest

from headway.config import TokenizerConfig
from headway.errors import UserError
from headway.text.corpus import Pair
from headway.text.vocabulary import Vocabulary, learn_vocabulary

PAIRS = [Pair(f"the house number {n}", f"das Haus Nummer {n}") for n in range(40)]


def learned(pairs: list[Pair] = PAIRS, *, shared: bool = True, **options) -> Vocabulary:
    return learn_vocabulary(lambda: pairs, len(pairs), TokenizerConfig(size=300, shared=shared), **options)


@pytest.mark.parametrize("shared", [True, False])
def test_a_vocabulary_comes_back_from_its_file(tmp_path: Path, shared: bool) -> None:
    vocabulary = learned(shared=shared)
    (tmp_path / "tokenizer.json").write_text(vocabulary.to_json(), encoding="utf-8")
    again = Vocabulary.load(tmp_path / "tokenizer.json")
    assert again.is_shared is vocabulary.is_shared is shared
    assert again.fingerprint == vocabulary.fingerprint
    text = "the house, das Haus"
    for ours, theirs in ((vocabulary.source, again.source), (vocabulary.target, again.target)):
        assert ours.encode(text) == theirs.encode(text)
        assert theirs.decode(theirs.encode(text)) == text


def test_sides_that_are_apart_know_their_own_words_best() -> None:
    vocabulary = learned(shared=False)
    assert len(vocabulary.source.encode("the house")) < len(vocabulary.target.encode("the house"))
    assert len(vocabulary.target.encode("das Haus")) < len(vocabulary.source.encode("das Haus"))


def test_the_fingerprint_is_that_of_the_content() -> None:
    assert learned().fingerprint == learned().fingerprint
    other = [Pair(pair.source.upper(), pair.target) for pair in PAIRS]
    fingerprints = {learned().fingerprint, learned(other).fingerprint, learned(shared=False).fingerprint}
    assert len(fingerprints) == 3


@pytest.mark.parametrize("text", ["", "{", "[]", '{"source": {}, "target": {}}', '{"target": {}}', '"text"'])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"tokenizer\.json is not a vocabulary"):
        Vocabulary.load(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read the vocabulary .*tokenizer\.json: No such file"):
        Vocabulary.load(tmp_path / "tokenizer.json")


@pytest.mark.parametrize(("at_most", "every"), [(40, 1), (20, 2), (19, 3), (1, 40)])
def test_a_large_corpus_is_read_in_part_but_from_all_over(at_most: int, every: int) -> None:
    assert learned(at_most=at_most).fingerprint == learned(PAIRS[::every]).fingerprint


def test_an_empty_corpus_gives_what_every_text_can_be_spelled_with() -> None:
    vocabulary = learned([])
    assert vocabulary.source.decode(vocabulary.source.encode("anything")) == "anything"
