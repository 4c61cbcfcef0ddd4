"""The health of corpora with known faults, and of random ones against plain counts."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.config import Config
from headway.errors import UserError
from headway.settings import parse_config
from headway.text import health, survey
from headway.text.corpus import AlignedFiles, Pair, TmxFile
from headway.text.findings import RULES, CorpusHealth, Finding, judge
from headway.text.health import check_corpus
from headway.text.lengths import histogram, quantile, typical_ratio
from headway.text.named import NamedSplit
from headway.text.overlap import fold
from headway.text.scripts import fits_script, odd_characters, script_of
from headway.text.specials import SPECIAL_TOKENS
from headway.text.vocabulary import learn_vocabulary

CHARACTERS = parse_config({"tokenizer": {"kind": "character", "size": 2000}})
"""Settings under which a token is a character, so that lengths can be counted by hand."""


@dataclass
class Listed:
    """A corpus in memory."""

    pairs: list[tuple[str, str]]
    paths: tuple[Path, ...] = ()
    skipped = 0

    def __str__(self) -> str:
        return "a list"

    def fingerprint(self) -> dict[str, str]:
        return {}

    def __iter__(self) -> Iterator[Pair]:
        return (Pair(*pair) for pair in self.pairs)


def check(pairs: list[tuple[str, str]], config: Config = CHARACTERS, **held_out: list[tuple[str, str]]):
    return check_corpus(Listed(pairs), config, **{role: Listed(others) for role, others in held_out.items()})


def found(corpus: CorpusHealth, name: str) -> Finding:
    (finding,) = [finding for finding in corpus.findings if finding.name == name]
    return finding


def lines(finding: Finding) -> list[int]:
    return [example.line for example in finding.examples]


FAULTY = [
    ("ein Haus", "a house"),  # 1
    ("ein Haus", "a house"),  # repeats 1
    ("ein Haus", "a home"),  # another target
    ("", "nothing there"),  # empty source
    ("etwas", " \t"),  # a target of white space, with a control character
    ("Berlin", " Berlin"),  # identical but for the space
    ("ein Baum", "дерево"),  # target in another script
    ("kurz", "a translation that is far too long for a word of four letters"),  # 8, ratio
    ("vier\ufeff", "fo\u200bur"),
    ("f\ufffdnf", "five"),
    ("ein Haus", "a house"),  # repeats 1
    ("x" * 300, "y" * 299),  # too long
    ("1 + 1", "2"),
]


@pytest.mark.parametrize("chunk", [2, 10_000])
def test_every_fault_is_found_where_it_is(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "CHUNK_PAIRS", chunk)
    train = check(FAULTY).train
    assert train.pairs == 13
    counts = {finding.name: (finding.count, lines(finding)) for finding in train.findings}
    assert counts == {
        "empty": (2, [4, 5]),
        "too_long": (1, [12]),
        "ratio_outliers": (1, [8]),
        "duplicates": (2, [1]),
        "several_targets": (1, [1]),
        "identical": (1, [6]),
        "wrong_script": (1, [7]),
        "odd_characters": (4, [9, 5, 10]),  # the sides in turns
        "spelled_in_bytes": (0, []),
    }
    assert [example.note for example in found(train, "empty").examples] == ["source", "target, white space only"]
    assert found(train, "duplicates").examples[0].note == "3 times"
    assert found(train, "several_targets").examples[0].texts == ("ein Haus",)
    assert found(train, "several_targets").examples[0].note == "2 targets"
    assert found(train, "wrong_script").examples[0].texts == ("дерево",)
    assert train.source.odd_characters == {"byte order mark": 1, "replacement character": 1}
    assert train.target.odd_characters == {"control character": 1, "zero-width space": 1}
    assert train.source.script == train.target.script == "Latin"
    assert train.target.scripts == {"Latin": 10, "Cyrillic": 1}


def test_the_numbers_of_a_side() -> None:
    side = check([("ab cd", "x"), ("abc", "x y z")]).train.source
    assert (side.tokens, side.characters, side.words) == (8, 8, 3)
    assert (side.median_length, side.p99_length, side.longest) == (3, 5, 5)
    assert side.tokens_per_word == pytest.approx(8 / 3)
    assert side.characters_per_token == 1.0
    assert side.byte_token_share == side.byte_character_share == 0.0


def test_what_the_vocabulary_lacks_is_counted_in_bytes_and_in_characters() -> None:
    size = len(SPECIAL_TOKENS) + 256 + 1  # room for the one most frequent character
    report = check([("aaaaa", "aaé"), ("aa", "a你")], parse_config({"tokenizer": {"kind": "character", "size": size}}))
    target = report.train.target
    assert target.tokens == 3 + 2 + 3
    assert target.byte_token_share == 5 / 8
    assert target.byte_character_share == 2 / 5
    assert target.spelled == {"é": 1, "你": 1}
    assert found(report.train, "spelled_in_bytes").count == 2
    assert found(report.train, "spelled_in_bytes").share == 2 / 12


@pytest.mark.parametrize("kind", ["byte-level", "wordpiece"])
def test_kinds_made_of_bytes_have_no_rate_of_bytes(kind: str) -> None:
    train = check([("a b", "c")], parse_config({"tokenizer": {"kind": kind}})).train
    assert train.source.byte_token_share is None
    assert "spelled_in_bytes" not in {finding.name for finding in train.findings}


def test_a_tokenizer_for_each_side() -> None:
    pairs = [("aaaa", "bbbb")] * 4
    assert len(check(pairs).tokenizer.sizes) == 1
    apart = check(pairs, parse_config({"tokenizer": {"kind": "character", "size": 262, "shared": False}}))
    assert apart.tokenizer.sizes == (262, 262)
    assert apart.train.source.byte_token_share == apart.train.target.byte_token_share == 0.0


def test_the_tokenizer_is_learned_from_the_first_pairs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "SAMPLE_PAIRS", 2)
    report = check([("a", "a"), ("a", "a"), ("z", "a")])
    assert report.tokenizer.learned_from == 2
    assert report.tokenizer.sizes == (262,)
    assert report.train.source.spelled == {"z": 1}


def test_overlap_is_found_whatever_case_and_white_space() -> None:
    train = [("Ein  Haus", "A house"), ("ein Baum", "a tree"), ("Cafe\u0301", "coffee"), ("", "")] * 2
    test = [("ein haus ", "a HOUSE"), ("EIN BAUM", "the tree"), ("Café", "x"), ("neu", "a tree"), ("", "")]
    valid = [("anders", "different")]
    report = check(train, test=test, valid=valid)
    assert report.test
    assert report.valid
    overlap = {kind: found(report.test, f"{kind}_in_training") for kind in ("pairs", "sources", "targets")}
    assert {kind: finding.count for kind, finding in overlap.items()} == {"pairs": 1, "sources": 3, "targets": 2}
    assert lines(overlap["sources"]) == [1, 2, 3]
    assert lines(overlap["targets"]) == [1, 4], "what training has twice is shown once"
    assert overlap["sources"].examples[2].note == "line 3 of training"
    assert overlap["pairs"].severity == "wrong"
    assert found(report.valid, "sources_in_training").count == 0
    assert not any("training" in finding.name for finding in report.train.findings)


def test_overlap_of_validation_with_the_test_is_found_too() -> None:
    test = [("eins", "one"), ("Zwei", "two"), ("drei", "three"), ("eins", "one")]
    valid = [("neu", "three"), ("zwei", "deux"), ("EINS", "one")]
    report = check([("vier", "four")], test=test, valid=valid)
    assert report.test
    assert report.valid
    names = [finding.name for finding in report.test.findings if "_in_" in finding.name]
    assert names[:4] == ["spelled_in_bytes", "pairs_in_training", "sources_in_training", "targets_in_training"]
    assert names[4:] == ["pairs_in_validation", "sources_in_validation", "targets_in_validation"]
    assert [found(report.test, name).count for name in names[4:]] == [2, 3, 3]  # both of the pair that comes twice
    assert lines(found(report.test, "sources_in_validation")) == [2, 1]
    assert found(report.test, "pairs_in_validation").examples[0].note == "line 3 of validation"
    assert found(report.test, "pairs_in_validation").severity == "wrong"
    assert not any("validation" in finding.name for finding in (*report.valid.findings, *report.train.findings))


def test_a_named_corpus_is_counted_in_pairs() -> None:
    valid = NamedSplit("builtin:en-zh", "valid")
    report = check_corpus(valid, parse_config({"tokenizer": {"kind": "character"}}), test=valid)
    assert (report.train.name, report.train.unit, report.train.pairs) == ("builtin:en-zh valid", "pair", 1000)
    assert report.test
    assert found(report.test, "pairs_in_training").examples[0].note == "pair 1 of training"


def test_standard_input_cannot_be_two_corpora(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\n")
    piped = AlignedFiles((Path("-"),), (tmp_path / "a",))
    with pytest.raises(UserError, match="standard input was given more than once"):
        check_corpus(piped, CHARACTERS, valid=piped)


def test_the_rules_of_the_settings_are_applied() -> None:
    config = parse_config({"tokenizer": {"kind": "character", "size": 2000}, "data": {"max_ratio": 2, "max_length": 8}})
    train = check([("abc", "abcdef"), ("abc", "abcdefg"), ("abcdefghi", "a"), ("", "abc")], config).train
    assert lines(found(train, "over_max_ratio")) == [2]  # as when a corpus is prepared, the first rule counts
    assert lines(found(train, "too_long")) == [3]
    assert lines(found(train, "empty")) == [4]


def test_outliers_are_far_from_what_is_usual_for_the_corpus() -> None:
    usual = [("a" * n, "b" * (4 * n)) for n in range(5, 45)]
    train = check([*usual, ("a" * 20, "b" * 20), ("a" * 10, "b" * 130)]).train
    assert train.typical_ratio == 4.0
    assert found(train, "ratio_outliers").count == 2
    assert lines(found(train, "ratio_outliers")) == [41, 42]  # 4 times too short, 3.25 times too long


def test_severity_follows_the_share() -> None:
    for name, (look, wrong, _) in RULES.items():
        assert judge(name, 0, 1000).severity == "fine"
        assert judge(name, 1, 10**9).severity == ("fine" if look else "look")
        assert judge(name, 10**9, 10**9).severity == ("look" if wrong > 1 else "wrong")


def test_long_texts_are_not_kept_whole() -> None:
    train = check([("x" * 5000, "x" * 5000)]).train
    assert all(len(text) <= 300 for finding in train.findings for each in finding.examples for text in each.texts)


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "CHUNK_PAIRS", 2)
    told: list[tuple[str, int]] = []
    pairs = Listed([("a", "b")] * 3)
    check_corpus(pairs, CHARACTERS, test=pairs, on_progress=lambda *step: told.append(step))
    assert told == [("learn", 3), ("test", 2), ("test", 3), ("train", 2), ("train", 3)]


def test_a_missing_file_is_noticed_before_anything_is_read(tmp_path: Path) -> None:
    absent = AlignedFiles((tmp_path / "absent.de",), (tmp_path / "absent.en",))

    class Unreadable(Listed):
        def __iter__(self) -> Iterator[Pair]:
            raise AssertionError

    with pytest.raises(UserError, match=r"no such file: .*absent\.de"):
        check_corpus(Unreadable([]), CHARACTERS, test=absent)


def test_units_without_both_languages_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "memory.tmx"
    segment = '<tuv xml:lang="{}"><seg>{}</seg></tuv>'
    both = "".join([segment.format("de", "Haus"), segment.format("en", "house")])
    units = f"<tu>{both}</tu><tu>{segment.format('fr', 'maison')}</tu>"
    file.write_text(f'<tmx version="1.4"><header/><body>{units}</body></tmx>', encoding="utf-8")
    train = check_corpus(TmxFile(file, "de", "en"), CHARACTERS).train
    assert (train.pairs, train.skipped, train.unit) == (1, 1, "pair")


TEXTS = st.one_of(
    st.text(st.sampled_from("ab A\t\ufeffé你の"), max_size=8),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=30)


@settings(max_examples=60)
@given(PAIRS, PAIRS, st.integers(1, 7))
def test_counts_equal_plain_counts(pairs: list[tuple[str, str]], held: list[tuple[str, str]], chunk: int) -> None:
    config = parse_config({"tokenizer": {"kind": "character", "size": 300}, "data": {"max_length": 10}})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "CHUNK_PAIRS", chunk)
        report = check(pairs, config, test=held)
    train, test = report.train, report.test
    assert test
    targets: dict[str, set[str]] = {}
    for source, target in pairs:
        targets.setdefault(source, set()).add(target)
    assert found(train, "duplicates").count == len(pairs) - len(set(pairs))
    assert found(train, "several_targets").count == sum(len(several) > 1 for several in targets.values())
    assert found(train, "empty").count == sum(not (s.strip() and t.strip()) for s, t in pairs)
    assert found(train, "identical").count == sum(s.strip() == t.strip() != "" for s, t in pairs)
    assert found(train, "odd_characters").count == sum(bool(odd_characters(text)) for pair in pairs for text in pair)
    for n, kind in enumerate(("sources", "targets")):
        known = {fold(pair[n]) for pair in pairs} - {""}
        assert found(test, f"{kind}_in_training").count == sum(fold(pair[n]) in known for pair in held)
    known_pairs = {(fold(s), fold(t)) for s, t in pairs if fold(s) and fold(t)}
    assert found(test, "pairs_in_training").count == sum((fold(s), fold(t)) in known_pairs for s, t in held)
    assert sum(each.source for each in train.lengths) == sum(each.target for each in train.lengths) == len(pairs)
    json.dumps(report.as_json(), allow_nan=False)


@settings(max_examples=40)
@given(PAIRS, st.integers(262, 280))
def test_tokens_equal_plain_counts(pairs: list[tuple[str, str]], size: int) -> None:
    config = parse_config({"tokenizer": {"kind": "character", "size": size}, "data": {"max_length": 10}})
    train = check(pairs, config).train
    texts = [Pair(*pair) for pair in pairs]
    tokenizer = learn_vocabulary(lambda: texts, len(texts), config.tokenizer).source
    for n, side in enumerate((train.source, train.target)):
        encoded = [tokenizer.encode(pair[n]) for pair in pairs]
        in_bytes = sum(5 <= i <= 260 for ids in encoded for i in ids)
        whole = sum(i > 260 for ids in encoded for i in ids)
        assert side.tokens == sum(map(len, encoded))
        assert side.longest == max(map(len, encoded))
        assert side.median_length == median_low(map(len, encoded))
        assert side.characters == sum(len(tokenizer.normalise(pair[n])) for pair in pairs)
        assert side.byte_token_share == (in_bytes / side.tokens if side.tokens else None)
        spelled = side.characters - whole
        assert side.byte_character_share == (spelled / side.characters if side.characters else None)
    lengths = [[len(tokenizer.encode(text)) for text in pair] for pair in pairs]
    assert found(train, "too_long").count == sum(min(both) > 0 and max(both) > 10 for both in lengths)
    ratios = [target / source for source, target in lengths if source and target]
    assert train.typical_ratio == (median_low(ratios) if ratios else None)


@given(st.lists(st.integers(0, 4095), min_size=1), st.lists(st.integers(0, 60), min_size=1))
def test_bins_have_every_sentence_once(source: list[int], target: list[int]) -> None:
    bins = histogram(Counter(source), Counter(target))
    assert bins[0].first == 0
    assert all(one.last is not None and one.last + 1 == other.first for one, other in pairwise(bins))
    assert len(bins) <= 13
    for each in bins:
        end = float("inf") if each.last is None else each.last
        assert each.source == sum(each.first <= length <= end for length in source)
        assert each.target == sum(each.first <= length <= end for length in target)
    assert bins[-1].last is None


@given(st.lists(st.integers(0, 50), min_size=1), st.floats(0.01, 1.0))
def test_a_quantile_is_not_exceeded_by_its_share(lengths: list[int], share: float) -> None:
    value = quantile(Counter(lengths), share)
    assert sum(length <= value for length in lengths) >= share * len(lengths)
    assert sum(length < value for length in lengths) < share * len(lengths)


def test_a_corpus_without_whole_pairs_has_no_typical_ratio() -> None:
    assert typical_ratio(np.array([0, 3]), np.array([2, 0]), np.array([1, 5])) is None
    train = check([("", "a"), ("b", "")]).train
    assert train.typical_ratio is None
    assert found(train, "ratio_outliers").count == 0
    assert found(train, "empty").severity == "wrong"


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Äpfel, Überraschung!", "Latin"),
        ("12 + 30 × 4 ÷ 2", None),
        ("", None),
        ("😀 µ ²", None),
        ("Привет, world", "Cyrillic"),
        ("我是学生", "Han"),
        ("使用 Python 和 NumPy 的文档", "Han"),
        ("これは本です", "Japanese"),
        ("ラーメン", "Japanese"),
        ("東京大学", "Han"),
        ("안녕하세요", "Hangul"),
        ("ＡＢＣ", "Latin"),
        ("שלום", "Hebrew"),
        ("สวัสดี", "Thai"),
    ],
)
def test_the_script_of_a_text(text: str, script: str | None) -> None:
    assert script_of(text) == script


def test_han_is_at_home_in_japanese_but_not_the_other_way() -> None:
    assert fits_script("Han", "Japanese")
    assert not fits_script("Japanese", "Han")
    assert fits_script(None, "Latin")
    assert not fits_script("Greek", "Latin")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_short_way_for_latin_gives_what_the_long_way_gives(text: str) -> None:
    latin = "".join(character for character in text if character < "\u0250")
    assert script_of(latin) in (None, "Latin")
    assert script_of(latin) == script_of(latin + "\u2014")  # a dash forces the long way


def test_languages_that_are_written_without_spaces_have_no_tokens_a_word() -> None:
    train = check([("a b", "我是学生")]).train
    assert train.source.tokens_per_word == 1.5
    assert train.target.tokens_per_word is None


def test_odd_characters_have_names() -> None:
    text = "a\x07\x07\u2028\ufffd\u2060\ufeffb\tc"
    assert odd_characters(text) == {
        "control character": 3,
        "line break": 1,
        "replacement character": 1,
        "zero-width space": 1,
        "byte order mark": 1,
    }
    assert not odd_characters("می‌خواهم 👩‍👩‍👧 naïve — “x”")  # joiners are part of the spelling
