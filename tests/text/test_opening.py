from pathlib import Path

import pytest

from headway.config import DataConfig
from headway.errors import UserError
from headway.settings import parse_config
from headway.text.corpus import AlignedFiles, JsonLinesFile, TmxFile, TsvFile
from headway.text.named import NAMES, NamedSplit
from headway.text.opening import open_corpus

LANGUAGES = DataConfig(source_language="en", target_language="fr")


def refusal(data: DataConfig | None = None, **arguments: object) -> str:
    with pytest.raises(UserError) as raised:
        open_corpus(data or DataConfig(), **arguments)  # type: ignore[arg-type]
    return str(raised.value)


def test_aligned_files() -> None:
    opened = open_corpus(DataConfig(), sources=["a.en", Path("b.en")], targets=["a.fr", "b.fr"])
    assert opened == AlignedFiles((Path("a.en"), Path("b.en")), (Path("a.fr"), Path("b.fr")))


def test_the_suffix_chooses_the_format() -> None:
    kinds = {"a.tsv": TsvFile, "a.TSV.zst": TsvFile, "a.jsonl.gz": JsonLinesFile, "a.ndjson": JsonLinesFile}
    for name, kind in {**kinds, "a.tmx.gz": TmxFile}.items():
        assert type(open_corpus(LANGUAGES, corpus=name)) is kind
    known = "a file with both sides is .tsv, .jsonl, .ndjson or .tmx, plain or compressed (.gz, .zst); corpora with a "
    assert refusal(corpus="a.csv.gz").startswith(f"a.csv.gz: unknown suffix .csv; {known}name are builtin:en-fr, ")
    assert refusal(corpus="en-fr").startswith(f"en-fr: no suffix; {known}")
    assert refusal(corpus="-").startswith(f"standard input: no suffix; {known}")


def test_settings_say_how_a_file_is_read() -> None:
    file = Path("a.tsv")
    assert open_corpus(DataConfig(), corpus=file) == TsvFile(file)
    assert open_corpus(DataConfig(source_column=3, target_column=1), corpus=file) == TsvFile(file, (2, 0))
    fields = DataConfig(source_field="en", target_field="fr")
    assert open_corpus(fields, corpus="a.jsonl") == JsonLinesFile(Path("a.jsonl"), "en", "fr")
    assert open_corpus(LANGUAGES, corpus="a.tmx") == TmxFile(Path("a.tmx"), "en", "fr")
    assert refusal(DataConfig(source_language="en"), corpus="a.tmx") == (
        "a.tmx may hold many languages; set data.source_language and data.target_language to the codes of two of "
        "them, as in en or en-GB"
    )


def test_columns_are_counted_from_1_as_by_cut(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("one\ttwo\tthree\n")
    assert list(open_corpus(DataConfig(source_column=2, target_column=3), corpus=file)) == [("two", "three")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source_column": 2}, "data.source_column is 2 and data.target_column is unset; set both or neither"),
        ({"target_column": 1}, "data.source_column is unset and data.target_column is 1; set both or neither"),
        ({"source_column": 0, "target_column": 1}, "data.source_column must be greater than or equal to 1; got 0"),
    ],
)
def test_columns_that_make_no_sense(columns: dict[str, int], message: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_config({"data": columns})
    assert str(raised.value) == message


def test_a_name_is_a_split_of_that_corpus() -> None:
    assert open_corpus(DataConfig(), corpus="builtin:en-zh") == NamedSplit("builtin:en-zh", "train")
    assert open_corpus(DataConfig(), corpus="builtin:en-zh", split="test") == NamedSplit("builtin:en-zh", "test")
    assert refusal(corpus="bultin:en-fr") == "unknown corpus bultin:en-fr; did you mean builtin:en-fr?"
    assert refusal(corpus="wmt:") == f"unknown corpus wmt:; known are {', '.join(NAMES)}"


def test_what_looks_like_a_name_but_has_a_suffix_is_a_file() -> None:
    assert open_corpus(DataConfig(), corpus="builtin:en-fr.tsv") == TsvFile(Path("builtin:en-fr.tsv"))
    assert open_corpus(DataConfig(), corpus="C:corpus.tsv") == TsvFile(Path("C:corpus.tsv"))


def test_nothing_or_too_much_was_given() -> None:
    assert refusal() == "no corpus was given; give source and target files, one file with both, or a name"
    assert refusal(corpus="a.tsv", sources=["b"]) == (
        "both a.tsv and source or target files were given; give one or the other"
    )


def test_a_missing_file_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    absent = open_corpus(DataConfig(), corpus=tmp_path / "no.tsv")
    with pytest.raises(UserError, match="no such file"):
        next(iter(absent))
