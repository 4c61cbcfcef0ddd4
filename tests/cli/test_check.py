"""`headway check` as a user meets it: as a process."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HEADWAY = shutil.which("headway", path=str(Path(sys.executable).parent)) or "headway"

GERMAN = [
    "ein Haus",
    "ein Haus",
    "",
    "der Baum",
    "ein\x1b[31m Hund",
    "我是一个学生而且我很喜欢读书所以我每天都去图书馆" * 9,
]
ENGLISH = ["a house", "a house", "nothing", "the tree", "a dog", "a student"]


def run(
    *arguments: str, cwd: Path, columns: int = 100, encoding: str = "utf-8", **options
) -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": str(columns), "PYTHONIOENCODING": encoding}
    return subprocess.run(
        [HEADWAY, "check", *arguments], capture_output=True, encoding="utf-8", env=environment, cwd=cwd, **options
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for name, lines in (("train.de", GERMAN), ("train.en", ENGLISH), ("test.de", GERMAN[3:4]), ("test.en", ["a tree"])):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


TRAIN = ("--source", "train.de", "--target", "train.en")
TEST = ("--test-source", "test.de", "--test-target", "test.en")


def test_for_people(corpus: Path) -> None:
    result = run(*TRAIN, *TEST, cwd=corpus)
    assert result.returncode == 0
    assert result.stderr == ""
    text = result.stdout
    assert text.startswith("training: train.de | train.en, 6 pairs\n")
    assert "Tokens of a tokenizer learned from all pairs: bpe, " in text
    assert "wrong  pairs with an empty side               1   16.67%\n" in text
    assert "         line 3         (source) (empty) | nothing\n" in text
    assert "         line 1         (2 times) ein Haus | a house\n" in text
    assert "test: test.de | test.en, 1 pairs\n" not in text
    assert "test: test.de | test.en, 1 pair\n" in text
    assert "look   sources also in training               1  100.00%\n" in text
    assert "         line 1         (line 4 of training) der Baum\n" in text
    assert "fine   pairs also in training                 0\n" in text
    assert "█" in text
    assert text.splitlines()[-1].endswith("the rest is fine")


def test_nothing_in_a_text_can_control_the_terminal(corpus: Path) -> None:
    text = run(*TRAIN, cwd=corpus).stdout
    assert "\x1b" not in text
    assert "(source, control character) ein<U+001B>[31m Hund\n" in text


@pytest.mark.parametrize("columns", [60, 100, 140])
def test_lines_fit_the_terminal(corpus: Path, columns: int) -> None:
    from rich.cells import cell_len

    text = run(*TRAIN, *TEST, cwd=corpus, columns=columns).stdout
    assert "…" in text
    assert max(map(cell_len, text.splitlines())) <= columns


def test_a_terminal_that_has_only_ascii(corpus: Path) -> None:
    result = run(*TRAIN, cwd=corpus, encoding="ascii")
    assert result.returncode == 0
    assert result.stdout.isascii()
    assert "1 ####" in result.stdout


def test_standard_input_and_pipes_are_read_once(corpus: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a\nb\n")
    os.close(writing)
    flags = ("--source", "-", "--target", f"/dev/fd/{reading}", "--json")
    result = run(*flags, cwd=corpus, input="x\ny\n", pass_fds=[reading])
    os.close(reading)
    assert json.loads(result.stdout)["train"]["pairs"] == 2


def test_as_json(corpus: Path) -> None:
    result = run(*TRAIN, *TEST, "--json", "--set", "tokenizer.kind=character", cwd=corpus)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    report = json.loads(result.stdout)
    assert set(report) == {"tokenizer", "train", "valid", "test", "severities"}
    assert report["tokenizer"]["kind"] == "character"
    assert report["tokenizer"]["learned_from"] == 6
    assert report["train"]["pairs"] == 6
    assert report["train"]["target"]["tokens"] == sum(map(len, ENGLISH))
    assert report["valid"] is None
    findings = {finding["name"]: finding for finding in report["train"]["findings"]}
    assert findings["duplicates"]["count"] == 1
    assert findings["empty"]["examples"] == [{"line": 3, "texts": ["", "nothing"], "note": "source"}]
    overlap = {finding["name"]: finding["count"] for finding in report["test"]["findings"]}
    assert (overlap["sources_in_training"], overlap["pairs_in_training"]) == (1, 0)


def test_other_formats_and_several_files(corpus: Path) -> None:
    tsv = "".join(f"{source}\t{target}\n" for source, target in zip(GERMAN, ENGLISH, strict=True))
    (corpus / "train.tsv.gz").write_bytes(gzip.compress(tsv.encode()))
    (corpus / "train.jsonl").write_text('{"de": "Haus", "en": "house"}\n')
    one = json.loads(run("--corpus", "train.tsv.gz", "--json", cwd=corpus).stdout)
    assert one["train"]["pairs"] == 6
    fields = ("--set", "data.source_field=de", "--set", "data.target_field=en")
    assert json.loads(run("--corpus", "train.jsonl", *fields, "--json", cwd=corpus).stdout)["train"]["pairs"] == 1
    twice = run(*TRAIN, *TRAIN, cwd=corpus).stdout
    assert twice.startswith("training: train.de, train.de | train.en, train.en, 12 pairs\n")
    assert "         pair 3         (source) (empty) | nothing\n" in twice  # which line it is, depends on the file


def test_columns_of_a_table(corpus: Path) -> None:
    (corpus / "table.tsv").write_text("1\tHaus\thouse\n2\tBaum\ttree\n")
    columns = ("--set", "data.source_column=2", "--set", "data.target_column=3")
    report = json.loads(run("--corpus", "table.tsv", *columns, "--json", cwd=corpus).stdout)
    assert report["train"]["name"] == "table.tsv (columns 2, 3)"
    assert report["train"]["target"]["characters"] == len("housetree")


def test_a_named_corpus_brings_its_own_sets(tmp_path: Path) -> None:
    text = run("--corpus", "builtin:en-fr", cwd=tmp_path).stdout
    assert text.startswith("training: builtin:en-fr train, 40,000 pairs\n")
    assert "\nvalidation: builtin:en-fr valid, 1,000 pairs\n" in text
    assert "\ntest: builtin:en-fr test, 1,000 pairs\n" in text
    assert "fine   pairs also in validation               0\n" in text
    assert text.endswith("\n0 wrong, 0 to look at, the rest is fine\n")


def test_every_role_takes_a_file_with_both_sides(corpus: Path) -> None:
    (corpus / "valid.tsv").write_text("der Baum\ta tree\n")
    (corpus / "test.jsonl").write_text('{"source": "der Baum", "target": "a tree"}\n')
    result = run(*TRAIN, "--valid-corpus", "valid.tsv", "--test-corpus", "test.jsonl", cwd=corpus)
    assert "\nvalidation: valid.tsv, 1 pair\n" in result.stdout
    assert "\ntest: test.jsonl (source, target), 1 pair\n" in result.stdout
    assert "wrong  pairs also in validation               1  100.00%\n" in result.stdout
    assert "         line 1         (line 1 of validation) der Baum | a tree\n" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--source", "train.de", "--target", "test.en"],
            "headway: train.de has 6 lines but test.en has 1; they must align line by line.\n",
        ),
        (["--source", "tran.de", "--target", "train.en"], "headway: no such file: tran.de; did you mean train.de?\n"),
        ([*TRAIN, "--test-source", "test.de"], "headway: --test-source was given without --test-target; give both"),
        ([*TRAIN, *TRAIN[:2]], "headway: 2 source files but 1 target file; give each source file its target file"),
        ([*TRAIN, "--valid-source", "absent", "--valid-target", "test.en"], "headway: no such file: absent\n"),
        ([], "headway: no corpus was given; give --source and --target, or --corpus with a file of both sides"),
        ([*TRAIN, "--corpus", "train.tsv"], "headway: both --corpus and --source were given"),
        (
            ["--corpus", "a.tsv", "--corpus", "b.tsv"],
            "headway: --corpus was given 2 times (a.tsv, b.tsv); give it once",
        ),
        (["--corpus", "builtin:en-f"], "headway: unknown corpus builtin:en-f; did you mean builtin:en-fr?\n"),
        ([*TRAIN, "--set", "data.max_lenght=3"], "headway: unknown setting data.max_lenght"),
        ([*TRAIN, "--set", "tokenizer.size=100"], "headway: tokenizer.size = 100 leaves no room for pieces"),
    ],
)
def test_wrong_input_is_one_message_and_exit_code_2(arguments: list[str], message: str, corpus: Path) -> None:
    result = run(*arguments, cwd=corpus)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)


def test_the_help_has_examples_and_settings(tmp_path: Path) -> None:
    text = run("--help", cwd=tmp_path).stdout
    assert "headway check --source train.de --target train.en\n" in text
    assert "  data.max_length = 256\n" in text
