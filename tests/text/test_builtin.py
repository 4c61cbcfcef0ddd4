import json
import os
import random
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import permutations

import pytest

from headway.errors import UserError
from headway.text.builtin import CONSTRUCTIONS, LANGUAGES, SIZES, Sentence, builtin_corpus, possible_sentences
from headway.text.builtin.conjugation import conjugate
from headway.text.builtin.corpus import drawings, is_held_out, render
from headway.text.builtin.draw import Draw, T
from headway.text.builtin.french_phrases import spell
from headway.text.builtin.lexicon import ADJECTIVE_LIST, NAME_LIST, NOUN_LIST, PLACE_LIST, TIME_LIST, VERB_LIST


@cache
def corpus() -> dict[str, list[Sentence]]:
    return builtin_corpus()


@cache
def raw(count: int = 20_000) -> list[Sentence]:
    drawn = drawings(random.Random(5))
    return [render(meaning, name) for name, meaning in (next(drawn) for _ in range(count))]


class Narrow(Draw):
    """Draws from a few words only, so that the same sentence comes from many meanings."""

    def __init__(self, random: random.Random, salt: int) -> None:
        super().__init__(random)
        self.salt = salt

    def pick(self, items: "list[T]") -> T:  # type: ignore[override]
        if len(items) > 8:
            items = random.Random(f"{self.salt} {len(items)}").sample(list(items), 4)
        return super().pick(items)


def test_the_splits_have_their_standard_sizes_and_the_same_sentence_is_never_in_two_places() -> None:
    assert SIZES == {"train": 40_000, "valid": 1_000, "test": 1_000, "pronouns": 400}
    splits = corpus()
    assert {name: len(split) for name, split in splits.items()} == SIZES
    for language in LANGUAGES:
        texts = Counter(s.text(language) for split in splits.values() for s in split)
        assert texts.total() == len(texts)


def test_a_smaller_train_split_leaves_the_test_split_as_it_is() -> None:
    assert builtin_corpus(sizes={"train": 10})["test"] == corpus()["test"]


@pytest.mark.parametrize(("source", "target"), list(permutations(LANGUAGES, 2)))
def test_no_source_sentence_has_two_translations(source: str, target: str) -> None:
    translations: dict[str, str] = {}
    for sentence in raw():
        assert translations.setdefault(sentence.text(source), sentence.text(target)) == sentence.text(target)


@pytest.mark.parametrize("salt", [1, 2])
def test_no_source_sentence_has_two_translations_even_where_sentences_are_dense(salt: int) -> None:
    source = random.Random(salt)
    kinds = CONSTRUCTIONS.items()
    sentences = [render(kind.draw(Narrow(source, salt)), name) for name, kind in kinds for _ in range(200)]
    assert len({sentence.en for sentence in sentences}) < 0.9 * len(sentences)  # the test means something
    for a, b in permutations(LANGUAGES, 2):
        translations: dict[str, str] = {}
        for sentence in sentences:
            assert translations.setdefault(sentence.text(a), sentence.text(b)) == sentence.text(b)


def test_test_combinations_are_never_trained_on() -> None:
    splits = corpus()
    trained = {combination for name in ("train", "valid") for s in splits[name] for combination in s.combinations}
    for sentence in splits["test"] + splits["pronouns"]:
        held_out = [combination for combination in sentence.combinations if is_held_out(combination)]
        assert held_out
        assert trained.isdisjoint(held_out)


def test_all_words_of_test_and_pronouns_are_trained_on() -> None:
    splits = corpus()
    asked = splits["test"] + splits["pronouns"]
    entries = {entry for s in splits["train"] for combination in s.combinations for entry in combination.split(" + ")}
    assert {entry for s in asked for combination in s.combinations for entry in combination.split(" + ")} <= entries
    for language in ("en", "fr"):  # a rare form of a word (durs, prettier) may be new
        known = {word for s in splits["train"] for word in words(s.text(language))}
        assert len({word for s in asked for word in words(s.text(language))} - known) <= 3
    known = {character for s in splits["train"] for character in s.zh}
    assert {character for s in asked for character in s.zh} <= known


def words(text: str) -> list[str]:
    return text.lower().replace("'", " ").translate(str.maketrans("", "", ",.?!")).split()


def test_every_language_has_at_least_300_words_and_every_construction_its_share() -> None:
    entries = [*NOUN_LIST, *ADJECTIVE_LIST, *VERB_LIST, *NAME_LIST, *PLACE_LIST, *TIME_LIST]
    assert len({entry.zh for entry in entries}) >= 300
    for language in ("en", "fr"):
        assert len({word for s in raw() for word in words(s.text(language))}) >= 300
    assert len(CONSTRUCTIONS) >= 25
    shares = Counter(s.construction for s in corpus()["train"])
    assert set(shares) == set(CONSTRUCTIONS)
    assert min(shares.values()) >= 0.008 * shares.total()


def test_there_are_more_than_a_billion_sentences() -> None:
    ways = possible_sentences(draws=300)
    assert set(ways) == set(CONSTRUCTIONS)
    assert sum(ways.values()) > 10**9
    assert min(ways.values()) >= 1000


def test_nouns_and_names_have_one_form_in_each_language() -> None:
    for language in LANGUAGES:
        forms = Counter(getattr(word, language if language == "zh" else "en") for word in NAME_LIST)
        forms += Counter(getattr(noun, language) for noun in NOUN_LIST)
        assert [form for form, times in forms.items() if times > 1] == []


def test_pronouns_come_in_minimal_pairs_that_french_tells_apart() -> None:
    split = corpus()["pronouns"]
    for one, other in zip(split[::2], split[1::2], strict=True):
        assert one.contrast("fr") == other.contrast("fr")[::-1]
        assert set(one.contrast("fr")) == {"il", "elle"}
        assert one.en.split(" too ")[0] == other.en.split(" too ")[0]
        assert one.zh.split("太")[0] == other.zh.split("太")[0]
        for language in LANGUAGES:
            assert one.is_understood(language, one.text(language))
            assert not one.is_understood(language, other.text(language))


def test_the_sentence_that_everybody_knows_comes_first() -> None:
    tired, wide = corpus()["pronouns"][:2]
    assert tired.en == "The animal didn't cross the street because it was too tired."
    assert tired.fr == "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    assert tired.zh == "那只动物没有穿过那条街，因为它太累了。"
    assert wide.en == "The animal didn't cross the street because it was too wide."
    assert wide.fr == "L'animal n'a pas traversé la rue parce qu'elle était trop large."
    assert wide.zh == "那只动物没有穿过那条街，因为它太宽了。"


def test_the_same_seed_gives_the_same_corpus_in_any_process() -> None:
    program = (
        "import json, zlib; from headway.text.builtin import builtin_corpus;"
        "c = builtin_corpus(seed=3, sizes={'train': 500, 'valid': 50, 'test': 50, 'pronouns': 20});"
        "print(zlib.crc32(json.dumps([[s.en, s.fr, s.zh] for n in c for s in c[n]]).encode()))"
    )
    prints = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "77")
    ]
    assert prints[0] == prints[1]
    assert json.loads(prints[0]) != 0
    assert builtin_corpus(1, {"train": 50, "test": 0}) != builtin_corpus(2, {"train": 50, "test": 0})


def test_sentences_look_like_sentences() -> None:
    for s in raw():
        assert s.en[0].isupper()
        assert s.fr[0].isupper()
        assert s.en[-1] in ".?!"
        assert s.fr[-1] in ".?!"
        assert s.zh[-1] in "。？！"
        assert "  " not in s.en + s.fr
        assert " " not in s.zh
        assert not any(mark in s.en + s.fr + s.zh for mark in "_~{}"), s
        assert (s.fr[-1] in "?!") == s.fr.endswith((" ?", " !"))
        assert 2 <= len(s.en.split()) <= 24


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (["de", "le", "pain"], "du pain"),
        (["de", "le", "animal"], "de l'animal"),
        (["à", "les", "enfants"], "aux enfants"),
        (["de", "le_", "laver"], "de le laver"),
        (["parce", "que", "elle", "ne", "y", "a"], "parce qu'elle n'y a"),
        (["si", "il", "neige"], "s'il neige"),
        (["la", "haie"], "la haie"),
    ],
)
def test_french_elides_and_contracts(wanted: list[str], said: str) -> None:
    assert spell(wanted) == said


@pytest.mark.parametrize(
    ("infinitive", "form"),
    [
        ("manger", "mangeons"),
        ("acheter", "achetons"),
        ("choisir", "choisissons"),
        ("vendre", "vendons"),
        ("préférer", "préférons"),
        ("commencer", "commençons"),
    ],
)
def test_french_conjugation(infinitive: str, form: str) -> None:
    assert conjugate(infinitive).present[3] == form


def test_wrong_names_get_a_clear_message() -> None:
    with pytest.raises(UserError, match="did you mean train"):
        builtin_corpus(sizes={"trian": 5})
    with pytest.raises(UserError, match="even number"):
        builtin_corpus(sizes={"pronouns": 5})
    with pytest.raises(UserError, match="it has about"):
        builtin_corpus(sizes={"pronouns": 1_000_000})
    with pytest.raises(UserError, match="no language 'de'"):
        corpus()["train"][0].text("de")
