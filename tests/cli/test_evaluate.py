"""`headway evaluate` as a user runs it; its BLEU is that of sacreBLEU's own command line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from toy_translation import called, headway, write_lines

from headway.errors import UserError

Files = tuple[Path, Path]


def report(*arguments: object) -> dict:
    done = called("evaluate", *arguments, "--json")
    assert done.exit_code == 0, done.exception
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def written(taught: Path, held_out_files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the run makes of the test set."""
    done = called("translate", taught, held_out_files[0])
    path = tmp_path_factory.mktemp("written") / "output.fr"
    path.write_text(done.stdout, encoding="utf-8")
    return path


def test_people_read_every_score_with_its_interval_and_signature(taught: Path, held_out_files: Files) -> None:
    done = headway("evaluate", taught, "--source", held_out_files[0], "--target", held_out_files[1], "--worst", 1)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == f"{taught} on {held_out_files[0]} | {held_out_files[1]}: 200 lines, 1 reference"
    assert lines[1] == "language of the target: fr, from the name test.fr; BLEU splits words by 13a"
    for start in ("BLEU  ", "chrF2  ", "the paper's BLEU  ", "lower-cased tokenised BLEU  "):
        (row,) = [line for line in lines if line.startswith(start)]
        assert " to " in row
    assert any(line.startswith("  nrefs:1|bs:1000|seed:12345|case:mixed|eff:no|tok:13a") for line in lines)
    assert "  as the paper counts: Moses tokens" in done.stdout
    for name in ("perplexity ", "length ratio ", "exact matches ", "speed "):
        assert sum(line.startswith(name) for line in lines) == 1
    assert "worst: line " in done.stdout


def test_bleu_is_that_of_sacrebleu(taught: Path, held_out_files: Files, written: Path) -> None:
    ours = report(taught, "--source", held_out_files[0], "--target", held_out_files[1])
    command = [sys.executable, "-m", "sacrebleu", str(held_out_files[1]), "-i", str(written), "-m", "bleu", "chrf"]
    theirs = subprocess.run([*command, "-w", "6"], capture_output=True, text=True, check=True)
    for name, found in zip(("bleu", "chrf"), json.loads(theirs.stdout), strict=True):
        assert ours[name]["value"] == pytest.approx(found["score"], abs=1e-5)
    assert ours["bleu"]["value"] > 80
    assert ours["speed"]["sentences_per_second"] > 0
    assert 1 < ours["perplexity"] < 1.5


def test_a_file_is_scored_without_a_model_as_the_model_that_wrote_it(
    taught: Path, held_out_files: Files, written: Path
) -> None:
    of_run = report(taught, "--source", held_out_files[0], "--target", held_out_files[1])
    of_file = report("--hypotheses", written, "--target", held_out_files[1])
    both = report(taught, "--hypotheses", written, "--source", held_out_files[0], "--target", held_out_files[1])
    for name in ("bleu", "chrf", "paper_bleu", "lowercased_bleu", "length_ratio", "exact_matches", "language"):
        assert of_run[name] == of_file[name] == both[name]
    assert of_file["perplexity"] is None
    assert of_file["speed"] is None
    assert both["perplexity"] == pytest.approx(of_run["perplexity"])


def test_an_ensemble_is_judged_as_one_system(taught: Path, beginner: Path, held_out_files: Files) -> None:
    files = ("--source", held_out_files[0], "--target", held_out_files[1])
    alone, together = report(taught, *files), report(taught, *files, "--ensemble", beginner, "--compare", taught)
    assert together["system"] == f"{taught} + {beginner}"
    assert together["engine"] == "torch"
    assert together["perplexity"] > alone["perplexity"] + 0.01, "who has not learned much spoils it"
    assert together["comparison"]["baseline"] == str(taught), "compared with that run alone"


def test_every_engine_is_measured(taught: Path, held_out_files: Files) -> None:
    files = ("--source", held_out_files[0], "--target", held_out_files[1])
    auto, ours, int8 = (
        report(taught, *files, *flags)
        for flags in ((), ("--engine", "torch", "--workers", 2), ("--quantization", "int8", "--workers", 1))
    )
    assert [each["engine"] for each in (auto, ours, int8)] == ["ctranslate2", "torch", "ctranslate2"]
    assert auto["bleu"]["value"] == pytest.approx(ours["bleu"]["value"], abs=1)
    assert auto["perplexity"] == pytest.approx(ours["perplexity"], abs=1e-4)
    assert int8["perplexity"] != pytest.approx(ours["perplexity"], abs=1e-6)
    done = called("evaluate", taught, *files, "--verbose")
    assert done.stderr.startswith("engine ctranslate2: float32 on cpu")


def test_more_references_can_only_help(held_out_files: Files, written: Path) -> None:
    one = report("--hypotheses", written, "--target", held_out_files[1], "--metrics", "bleu,ter")
    two = report(
        "--hypotheses", written, "--target", held_out_files[1], "--reference", written, "--metrics", "bleu,ter"
    )
    assert two["references"] == 2
    assert one["bleu"]["value"] < two["bleu"]["value"] == pytest.approx(100)
    assert one["ter"]["value"] > two["ter"]["value"] == 0
    assert "chrf" not in one


def test_two_runs_are_compared(taught: Path, beginner: Path, held_out_files: Files, written: Path) -> None:
    files = ("--source", held_out_files[0], "--target", held_out_files[1])
    against_run = report(taught, *files, "--compare", beginner)["comparison"]
    assert against_run["bleu"]["is_real"]
    assert against_run["bleu"]["difference"] > 20
    against_file = report(beginner, *files, "--compare", written)["comparison"]
    assert against_file["bleu"]["difference"] == pytest.approx(-against_run["bleu"]["difference"])
    done = called("evaluate", taught, *files, "--compare", beginner)
    assert f"is better than {beginner}: BLEU" in " ".join(done.stdout.split())


def test_a_named_corpus_brings_its_test_set_and_its_language(taught: Path) -> None:
    found = report(taught, "--corpus", "builtin:en-zh", "--beam", 1, "--set", "search.extra_length=0")
    assert found["test_set"] == "builtin:en-zh test"
    assert (found["language"], found["language_origin"]) == ("zh", "of builtin:en-zh")
    assert found["tokenizer"] == "zh"
    assert "paper_bleu" not in found


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to evaluate; give the directory of a run, or a file by --hypotheses"),
        (["--hypotheses", "{fr}", "--target", "{fr}", "--ensemble", "{run}"], "--ensemble was given without a run"),
        (["{run}"], "no corpus was given; give --source and --target"),
        (["{run}", "--target", "{fr}"], "{run} has nothing to translate; give --source, too"),
        (["{run}", "--source", "{en}"], "--source was given without --target"),
        (["--hypotheses", "{short}", "--target", "{fr}"], "line counts differ: 1 in the hypotheses, 200 in"),
        (["--hypotheses", "{fr}", "--target", "{fr}", "--metrics", "blue"], "unknown metric blue; did you mean bleu?"),
        (["--hypotheses", "{fr}", "--target", "{fr}", "--metrics", ","], "no metric was asked for"),
    ],
)
def test_wrong_input_is_told(
    arguments: list[str], message: str, taught: Path, held_out_files: Files, tmp_path: Path
) -> None:
    names = {
        "run": taught,
        "en": held_out_files[0],
        "fr": held_out_files[1],
        "short": write_lines(tmp_path / "short", ["un"]),
    }
    done = called("evaluate", *(each.format(**names) for each in arguments))
    assert isinstance(done.exception, UserError)
    assert str(done.exception).startswith(message.format(**names))
