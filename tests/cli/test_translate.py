"""`headway translate` and `headway score` as a user runs them."""

import gzip
import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from toy_translation import called, headway, sources, translated, write_lines
from typer.testing import CliRunner, Result

from headway.cli.trained import CommandWithSearchSettings
from headway.cli.translate import translate
from headway.errors import UserError

GREEDY = ("--beam", 1)


def lines_of(done: subprocess.CompletedProcess[str] | Result) -> list[str]:
    code = done.exit_code if isinstance(done, Result) else done.returncode
    assert code == 0, done.stderr
    return done.stdout.splitlines()


def test_two_thousand_lines_come_out_in_order_and_nearly_all_right(taught: Path) -> None:
    lines = sources(2000, seed=3)
    lines[10] = lines[1234] = lines[-1] = ""
    found = lines_of(headway("translate", taught, *GREEDY, "--set", "search.window=300", text="\n".join(lines) + "\n"))
    assert len(found) == 2000
    assert found[10] == found[1234] == found[-1] == ""
    right = sum(translated(line) == text for line, text in zip(lines, found, strict=True))
    assert right > 1800


def test_files_stdin_and_compressed_files_give_the_same(taught: Path, tmp_path: Path) -> None:
    lines = sources(20, seed=4)
    text = "".join(f"{line}\n" for line in lines)
    first = write_lines(tmp_path / "first", lines[:10])
    packed = tmp_path / "second.gz"
    packed.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines[10:]).encode()))
    from_stdin = headway("translate", taught, text=text)
    assert lines_of(headway("translate", taught, first, packed)) == lines_of(from_stdin)
    assert from_stdin.stderr == ""
    mixed = headway("translate", taught, first, "-", text="".join(f"{line}\n" for line in lines[10:]))
    assert mixed.stdout == from_stdin.stdout


def test_a_translation_has_the_score_that_score_gives_it(taught: Path, tmp_path: Path) -> None:
    lines = sources(30, seed=5)
    reports = [json.loads(line) for line in lines_of(called("translate", taught, "--json", text="\n".join(lines)))]
    source = write_lines(tmp_path / "source", lines)
    target = write_lines(tmp_path / "target", [report["text"] for report in reports])
    scored = called("score", taught, "--source", source, "--target", target, "--json")
    *pairs, last = [json.loads(line) for line in lines_of(scored)]
    for report, pair in zip(reports, pairs, strict=True):
        assert pair["tokens"] == report["tokens"]
        assert pair["score"] == pytest.approx(report["score"], abs=1e-5)
        assert pair["probabilities"] == pytest.approx(report["probabilities"], abs=1e-5)
    total = last["total"]
    assert total["pairs"] == 30
    assert total["tokens"] == sum(len(pair["probabilities"]) for pair in pairs)
    assert total["log_probability"] == pytest.approx(sum(pair["log_probability"] for pair in pairs))
    assert 1 < total["perplexity"] < 1.5
    ours = called("score", taught, "--source", source, "--target", target, "--json", "--engine", "torch")
    assert json.loads(lines_of(ours)[-1])["total"]["log_probability"] == pytest.approx(
        total["log_probability"], rel=1e-4
    )
    plain = called("score", taught, "--source", source, "--target", target)
    first = [f"{pairs[0][name]:.4f}" for name in ("score", "log_probability")]
    assert lines_of(plain)[0].split("\t") == first
    assert plain.stderr.startswith(f"30 pairs, {total['tokens']} target tokens, log-probability ")


def test_n_best_prints_number_score_and_text(taught: Path) -> None:
    rows = [line.split("\t") for line in lines_of(called("translate", taught, "--n-best", 3, text="one two\n\nsix\n"))]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    assert rows[0][2] == "deux un"
    assert rows[3] == ["2", "0.0000", ""]
    scores = [float(row[1]) for row in rows[:3]]
    assert scores == sorted(scores, reverse=True)
    assert len({row[2] for row in rows[:3]}) == 3


def test_alignments_follow_a_tab(taught: Path) -> None:
    text, alignment = lines_of(called("translate", taught, "--alignments", text="one two three\n"))[0].split("\t")
    assert text == "trois deux un"
    pairs = [tuple(map(int, pair.split("-"))) for pair in alignment.split()]
    assert pairs
    assert all(source in range(3) and target in range(3) for source, target in pairs)
    report = json.loads(lines_of(called("translate", taught, "--alignments", "--json", text="one two three\n"))[0])
    assert [tuple(pair) for pair in report["alignment"]] == pairs


def test_json_lines_say_how_a_translation_begins_and_what_it_contains(taught: Path) -> None:
    asked = [{"text": "one two"}, {"text": "one two", "prefix": "six"}, {"text": "one two", "phrases": ["cinq"]}]
    found = lines_of(called("translate", taught, "--json-input", text="\n".join(map(json.dumps, asked))))
    assert found[0] == "deux un"
    assert found[1].startswith("six")
    assert "cinq" in found[2]


def test_an_ensemble_is_not_either_of_its_runs(taught: Path, beginner: Path) -> None:
    def score(*arguments: object) -> float:
        return json.loads(lines_of(called("translate", *arguments, "--json", text="one two\n"))[0])["score"]

    alone, together = score(taught), score(taught, "--ensemble", beginner)
    assert together < alone
    assert score(taught, "--ensemble", taught) == pytest.approx(alone, abs=1e-5)


def test_engines_are_chosen_and_named(taught: Path) -> None:
    def made_by(*flags: object, text: str = "one two\n") -> tuple[str, str, str]:
        done = called("translate", taught, "--json", *flags, text=text)
        report = json.loads(lines_of(done)[0])
        return report["text"], report["engine"], done.stderr

    for flags, engine in (
        ((), "ctranslate2"),
        (("--engine", "torch"), "torch"),
        (("--engine", "ctranslate2", "--quantization", "int8", "--workers", 2), "ctranslate2"),
        (("--set", "search.method=sampling", "--set", "search.top_k=1"), "torch"),
    ):
        assert made_by(*flags) == ("deux un", engine, "")
    told = made_by("--verbose")[2]
    assert told.startswith("engine ctranslate2: float32 on cpu, workers: ")
    assert "100.0% of 20 sentences as torch writes them" in told
    told = made_by("--verbose", "--alignments")[2].splitlines()
    assert told[0].startswith("engine torch: CTranslate2 does not show the attention")
    assert told[1].startswith("engine torch: fp32 on cpu, workers: 1, threads: ")
    workers = called("translate", taught, "--engine", "torch", "--workers", 2, "--verbose", text="one two\n")
    assert (workers.stdout, workers.stderr) == (
        "deux un\n",
        "engine torch: fp32, workers: 2 processes, threads of each: 1\n",
    )


def test_translating_with_ctranslate2_does_without_torch(taught: Path) -> None:
    code = (
        "import sys\nfrom headway.cli import app\n"
        "app(sys.argv[1:], standalone_mode=False)\nprint('torch' in sys.modules)"
    )
    arguments = ["translate", str(taught), "--engine", "ctranslate2"]
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, input="one two\n", capture_output=True, text=True, check=True)
    assert done.stdout == "deux un\nFalse\n"


def test_help_has_the_settings_of_search_only() -> None:
    app = typer.Typer(rich_markup_mode=None)
    app.command(cls=CommandWithSearchSettings)(translate)
    text = CliRunner().invoke(app, ["--help"]).stdout
    assert "search.alpha = 0.6\n" in text
    assert "model.heads" not in text


def test_a_reader_who_has_seen_enough_ends_it_quietly(taught: Path) -> None:
    command = f"{sys.executable} -m headway translate {taught} --beam 1 --set search.window=10 | head -1"
    text = "".join(f"{line}\n" for line in sources(3000, seed=6))
    done = subprocess.run(["bash", "-c", command], input=text, capture_output=True, text=True, timeout=120)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_typed_line_is_answered_before_the_next_is_typed(taught: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "headway", "translate", str(taught)]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        assert process.stdout is not None
        for line in ("one two", "three"):
            os.write(ours, f"{line}\n".encode())
            assert process.stdout.readline() == f"{translated(line)}\n"
        os.write(ours, b"\x04")  # Ctrl-D
        assert process.wait(timeout=60) == 0
    os.close(ours)


def test_a_terminal_shows_a_bar_with_the_rate(taught: Path, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "lines", sources(600, seed=9))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "headway", "translate", str(taught), str(path), "--set", "search.window=20"]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "TERM": "xterm", "COLUMNS": "100"}
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=theirs, env=variables)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux says so when the other side is closed
        while piece := os.read(ours, 10_000):
            shown += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert (tmp_path / "out").read_text().count("\n") == 600
    assert "/600 lines, " in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode())
    assert b" a second" in shown


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_complete_lines(taught: Path, tmp_path: Path, workers: int) -> None:
    lines = sources(20_000, seed=8)
    path = write_lines(tmp_path / "long", lines)
    command = [sys.executable, "-m", "headway", "translate", str(taught), str(path), "--workers", str(workers)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [*command, "--set", "search.window=50"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all processes
        rest, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"headway: interrupted\n")
    assert (first + rest).endswith(b"\n")
    assert 0 < (first + rest).count(b"\n") < 20_000


def test_a_long_line_is_told_by_its_file_and_number(taught: Path, tmp_path: Path) -> None:
    first = write_lines(tmp_path / "first", ["one", "two"])
    second = write_lines(tmp_path / "second", ["three", "one " * 20])
    done = called("translate", taught, first, second, "--set", "data.max_length=8", *GREEDY)
    assert len(lines_of(done)) == 4
    assert done.stderr.startswith(f"warning: {second}, line 2: 20 tokens, but the model was trained on at most 8")


def test_a_line_that_fails_leaves_an_empty_one_and_exit_code_1(taught: Path) -> None:
    lines = ['{"text": "one"}', '{"text": "\\ud800"}', '{"text": "two"}']
    done = called("translate", taught, "--json-input", text="\n".join(lines))
    assert (done.exit_code, done.stdout) == (1, "un\n\ndeux\n")
    warning, summary = done.stderr.splitlines()
    assert warning.startswith("warning: standard input, line 2: the line has half a surrogate pair")
    assert summary == "1 of 3 lines could not be translated"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/nothing"], "{tmp}/nothing is not there; a run directory is what headway train --out writes"),
        (["{tmp}"], "{tmp} is not a run directory: it has no card.json"),
        (["{run}", "{tmp}/nothing.en"], "no such file: {tmp}/nothing.en"),
        (["{run}", "--checkpoint", "step-9"], "{run}/checkpoints has no checkpoint step-9; it has step-"),
        (["{run}", "--set", "search.bean=3"], "unknown setting search.bean (--set search.bean=3); did you mean"),
        (["{run}", "--set", "model.heads=2"], "model.heads cannot be set for {run}, which is trained already"),
        (["{run}", "--n-best", "9"], "search.n_best = 9 is more than search.beam = 4 can find"),
        (["{run}", "--n-best", "2", "--alignments"], "of --n-best translations only the first has alignments"),
        (["{run}", "--engine", "torch", "--quantization", "int8"], "engine torch translates in fp32; int8 needs"),
        (["{run}", "--engine", "ctranslate2", "--alignments"], "CTranslate2 does not show the attention"),
        (["{run}", "--engine", "ctranslate2", "--ensemble", "{run}"], "CTranslate2 has one model, and an ensemble"),
        (["{run}", "-", "-"], "standard input (-) was given more than once"),
        (["{run}", "--json-input"], "standard input, line 1: invalid JSON"),
        (["{run}", "--set", "machine.device=tpu9"], "machine.device = tpu9 is no device"),
    ],
)
def test_wrong_input_is_told(arguments: list[str], message: str, taught: Path, tmp_path: Path) -> None:
    filled = [each.format(run=taught, tmp=tmp_path) for each in arguments]
    done = called("translate", *filled, text="one two\n")
    assert done.stdout == ""
    assert isinstance(done.exception, UserError)
    assert str(done.exception).startswith(message.format(run=taught, tmp=tmp_path))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('["one"]', 'line 1: expected a JSON object with a text, as in {"text": "a line", "prefix": "une"}'),
        ('{"text": "one", "must": []}', "line 1: unknown field must; known are text, prefix, phrases"),
        ('{"text": "one", "phrases": "two"}', "line 1: expected a string as prefix and a list of strings as phrases"),
    ],
)
def test_wrong_json_lines_are_told(line: str, message: str, taught: Path) -> None:
    done = called("translate", taught, "--json-input", text=line)
    assert isinstance(done.exception, UserError)
    assert str(done.exception) == f"standard input, {message}"


def test_wrong_input_is_one_message_and_exit_code_2(tmp_path: Path) -> None:
    done = headway("translate", tmp_path / "nothing", text="one\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"headway: {tmp_path}/nothing is not there")
