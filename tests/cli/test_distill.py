"""`headway distill` as a user runs it: a student learns, and no interruption makes the teacher begin again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toy_translation import called, headway, sources, write_lines

from headway.errors import UserError
from headway.store.run import Run
from headway.tasks.setting_up import read_samples


@pytest.fixture(scope="module")
def distilled(
    taught: Path, held_out_files: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("distilled")
    texts = write_lines(folder / "texts.en", sources(1500, seed=9))
    valid = ("--valid-source", held_out_files[0], "--valid-target", held_out_files[1])
    settings = ("--set", "train.valid_sentences=100", "--set", "train.steps=200")
    out = folder / "student"
    return out, headway("distill", taught, "--source", texts, *valid, "--out", out, *settings, "--json")


def test_a_student_learns_without_translations_by_people(taught: Path, distilled: tuple) -> None:
    out, done = distilled
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["student"]["bleu"] > 60, "it has learned"
    assert result["student"]["parameters"] < result["teacher"]["parameters"]
    assert (result["teacher"]["beam"], result["student"]["beam"]) == (4, 1)
    assert "1,500/1,500  lines translated by the teacher" in done.stderr
    assert f"validation BLEU{result['teacher']['bleu']:>15.2f}{result['student']['bleu']:>12.2f}" in done.stderr
    assert f"headway export {out} --to ctranslate2" in done.stderr
    assert Run.open(out).card["command"][1:3] == ["distill", str(taught)]


@pytest.mark.parametrize("who", ["teacher", "student"])
def test_the_scores_are_those_that_evaluate_gives(who: str, taught: Path, distilled: tuple, tmp_path: Path) -> None:
    out, done = distilled
    pairs = read_samples(Run.open(out))
    files = [write_lines(tmp_path / side, [getattr(pair, side) for pair in pairs]) for side in ("source", "target")]
    run = {"teacher": taught, "student": out}[who]
    evaluated = called("evaluate", run, "--source", files[0], "--target", files[1], "--engine", "torch", "--json")
    assert json.loads(evaluated.stdout)["bleu"]["value"] == pytest.approx(json.loads(done.stdout)[who]["bleu"])


def test_however_it_is_interrupted_the_same_command_goes_on(taught: Path, tmp_path: Path) -> None:
    lines = sources(3000, seed=11)
    texts, out = write_lines(tmp_path / "texts.en", lines), tmp_path / "student"
    command = [sys.executable, "-m", "headway", "distill", str(taught), "--source", str(texts), "--out", str(out)]
    command += ["--beam", "2", "--set", "search.window=40", "--set", "train.steps=2", "--set", "train.warmup=1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    written = out / "distilled.jsonl"
    for number, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
        before = written.stat().st_size if written.exists() else 0
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        while not written.exists() or written.stat().st_size <= before:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == code, errors
        assert ("the same command goes on" in errors) == (number == signal.SIGINT)
        assert not (out / "card.json").exists()
    kept = written.read_bytes().count(b"\n")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(f"{kept:,}/3,000  lines translated by the teacher\n")
    assert [json.loads(line)["source"] for line in written.read_bytes().splitlines()] == lines


def test_a_teacher_of_the_other_direction_adds_sources(
    taught: Path, beginner: Path, held_out_files: tuple[Path, Path], tmp_path: Path
) -> None:
    texts = ("--source", held_out_files[0], "--target", held_out_files[1])
    settings = ("--set", "train.steps=2", "--set", "train.warmup=1")
    done = headway("distill", taught, *texts, "--reverse", beginner, "--out", tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    for teacher in ("the teacher", "the reverse run"):
        assert f"200/200  lines translated by {teacher}" in done.stderr
    made = (tmp_path / "out" / "reverse" / "distilled.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["source"] for line in made] == held_out_files[1].read_text().splitlines()


def test_several_runs_teach_and_are_judged_together(
    taught: Path, beginner: Path, held_out_files: tuple[Path, Path], tmp_path: Path
) -> None:
    texts, out = ("--source", held_out_files[0]), tmp_path / "out"
    settings = ("--set", "train.steps=2", "--set", "train.warmup=1", "--set", "search.beam=1")
    done = headway("distill", beginner, "--ensemble", taught, *texts, "--out", out, *settings, "--json")
    assert done.returncode == 0, done.stderr
    teacher = json.loads(done.stdout)["teacher"]
    assert teacher["run"] == f"{beginner} + {taught}"
    pairs = read_samples(Run.open(out))
    files = [write_lines(tmp_path / side, [getattr(pair, side) for pair in pairs]) for side in ("source", "target")]
    both = ("--source", files[0], "--target", files[1], "--engine", "torch", "--set", "search.beam=1", "--json")
    alone, together = (
        json.loads(called("evaluate", beginner, *others, *both).stdout)["bleu"]["value"]
        for others in ((), ("--ensemble", taught))
    )
    assert teacher["bleu"] == pytest.approx(together) != pytest.approx(alone)


def test_wrong_input_is_told(taught: Path, distilled: tuple, tmp_path: Path) -> None:
    texts = write_lines(tmp_path / "texts", ["one"])
    for arguments, message in (
        (["--source", texts, "--out", distilled[0]], "has a run already; go on with it by --resume"),
        (["--target", texts, "--out", tmp_path / "out"], "--target was given without --source"),
        (["--source", texts, "--out", tmp_path / "out", "--n-best", 9], "search.n_best = 9 is more than search.beam"),
        (["--source", texts, "--out", tmp_path / "out", "--reverse", taught], "give the targets by --target"),
        (["--out", tmp_path / "out"], "no texts were given for the teacher to translate; give them by --source"),
    ):
        found = called("distill", taught, *arguments)
        assert isinstance(found.exception, UserError)
        assert message in str(found.exception)
    assert not (tmp_path / "out").exists()
