from hashlib import sha256
from itertools import pairwise

import pytest

from headway.errors import UserError
from headway.text.builtin import builtin_corpus
from headway.text.corpus import Corpus
from headway.text.named import NAMES, SPLITS, NamedSplit, is_name, languages_of, named_corpus


def test_a_split_is_a_corpus_that_can_be_read_again() -> None:
    split: Corpus = NamedSplit("builtin:en-fr", "pronouns")
    assert str(split) == "builtin:en-fr pronouns"
    assert (split.paths, split.skipped) == ((), 0)
    first, second = list(split), list(split)
    assert first == second
    assert first[0].source == "The animal didn't cross the street because it was too tired."
    assert first[0].target == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."


def test_the_splits_are_those_of_the_built_in_corpus() -> None:
    whole = builtin_corpus(sizes={"train": 0})
    splits = named_corpus("builtin:fr-zh")
    assert tuple(splits) == SPLITS
    for name in ("valid", "test", "pronouns"):  # training is in the test of `headway data`
        assert list(splits[name]) == [(sentence.fr, sentence.zh) for sentence in whole[name]]


def test_directions_are_the_same_sentences() -> None:
    assert len(NAMES) == 6
    there, back = named_corpus("builtin:en-fr")["test"], named_corpus("builtin:fr-en")["test"]
    assert [(pair.target, pair.source) for pair in back] == list(there)


def test_a_fingerprint_is_the_hash_of_the_text() -> None:
    split = NamedSplit("builtin:en-fr", "valid")
    lines = "".join(f"{pair.source}\t{pair.target}\n" for pair in split)
    assert split.fingerprint() == {"builtin:en-fr valid": sha256(lines.encode()).hexdigest()}


def test_other_splits_seeds_and_directions_have_other_fingerprints() -> None:
    others = [
        NamedSplit("builtin:en-fr", "valid"),
        NamedSplit("builtin:en-fr", "valid", seed=2),
        NamedSplit("builtin:en-fr", "test"),
        NamedSplit("builtin:fr-en", "valid"),
    ]
    hashes = sorted(value for split in others for value in split.fingerprint().values())
    assert all(one != other for one, other in pairwise(hashes))


def test_unknown_names_and_splits_are_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown corpus builtin:en-fx; did you mean builtin:en-fr\?"):
        NamedSplit("builtin:en-fx", "train")
    with pytest.raises(UserError, match="unknown corpus builtin:en-en"):
        named_corpus("builtin:en-en")
    with pytest.raises(UserError, match=r"builtin:en-fr has no split tset; did you mean test\?"):
        NamedSplit("builtin:en-fr", "tset")
    assert SPLITS == ("train", "valid", "test", "pronouns")


@pytest.mark.parametrize("text", [*NAMES, "builtin:", "wmt:en_de", "bultin:en-fr"])
def test_what_is_meant_as_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize("text", ["a.tsv", "builtin", "en-fr", "-", "C:data", "builtin:en-fr.tsv", "dir:x/a.tmx", ""])
def test_what_is_not(text: str) -> None:
    assert not is_name(text)


def test_the_languages_are_in_the_name() -> None:
    assert languages_of("builtin:zh-en") == ("zh", "en")
