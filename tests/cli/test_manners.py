"""Every command behaves: exit codes, one line for a failure, pipes, Ctrl-C, colours, completion, examples."""

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import HEADWAY
from typer.main import get_command

from headway.cli import app

COMMANDS = sorted(get_command(app).commands)  # type: ignore[attr-defined]
PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def environment(**changes: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "HEADWAY_DEBUG")}
    return {**kept, **changes}


def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess:
    return subprocess.run([HEADWAY, *arguments], capture_output=True, text=True, env=environment(**changes))


def broken_package(folder: Path, name: str, code: str) -> dict[str, str]:
    """An environment in which importing a package runs this code instead."""
    (folder / f"{name}.py").write_text(code)
    return {"PYTHONPATH": str(folder)}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_and_a_place_on_the_page(command: str) -> None:
    text = run(command, "--help").stdout
    assert f"\n  Examples:\n    headway {command}" in text
    assert f"\n## headway {command}\n" in PAGE.read_text(encoding="utf-8")


def test_the_page_has_no_other_commands() -> None:
    assert sorted(re.findall(r"^## headway (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == COMMANDS


def test_wrong_input_has_its_traceback_only_with_debug() -> None:
    plain = run("describe", "--preset", "bse")
    message = "headway: unknown preset bse; did you mean base?\n"
    assert (plain.returncode, plain.stderr) == (2, message)
    for result in (
        run("--debug", "describe", "--preset", "bse"),
        run("describe", "--preset", "bse", HEADWAY_DEBUG="1"),
    ):
        assert result.returncode == 2
        assert result.stderr.startswith("Traceback")
        assert result.stderr.endswith(message)


@pytest.mark.parametrize(
    ("code", "is_interrupted"),
    [
        (
            "import threading\nlock = threading.Lock()\nwith lock:\n    lock.release()\n    raise KeyboardInterrupt",
            True,
        ),
        ("try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    pass\nraise RuntimeError('later')", False),
    ],
)
def test_what_fails_because_of_ctrl_c_is_ctrl_c(code: str, is_interrupted: bool, tmp_path: Path) -> None:
    done = run("describe", **broken_package(tmp_path, "torch", code))
    later = "headway: internal error: RuntimeError: later; run again with --debug to see where\n"
    expected = (130, "headway: interrupted\n") if is_interrupted else (1, later)
    assert (done.returncode, done.stderr) == expected


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "raise RuntimeError('all is lost\\nin many lines')",
            "headway: internal error: RuntimeError: all is lost; run again with --debug to see where\n",
        ),
        ("raise RuntimeError", "headway: internal error: RuntimeError; run again with --debug to see where\n"),
        (
            "raise OSError(28, 'No space left on device', 'runs/a')",
            "headway: runs/a: No space left on device; run again with --debug to see where\n",
        ),
        (
            "raise BrokenPipeError(32, 'Broken pipe')",
            "headway: internal error: RuntimeError: a process that was started ended too early; "
            "run again with --debug to see where\n",
        ),
    ],
)
def test_a_failure_that_nobody_expected_is_one_line_and_exit_code_1(code: str, message: str, tmp_path: Path) -> None:
    broken = broken_package(tmp_path, "torch", code)
    plain = run("describe", **broken)
    assert (plain.returncode, plain.stdout, plain.stderr) == (1, "", message)
    debugged = run("--debug", "describe", **broken)
    assert debugged.returncode == 1
    assert f"{tmp_path}/torch.py" in debugged.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["describe", "--help"]])
def test_a_closed_pipe_ends_quietly(arguments: list[str], unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    variables = environment(PYTHONUNBUFFERED=unbuffered)
    done = subprocess.run([HEADWAY, *arguments], stdout=writing, stderr=subprocess.PIPE, text=True, env=variables)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_message_that_nobody_reads_keeps_its_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([HEADWAY, "describe", "--preset", "bse"], stderr=writing, env=environment())
    os.close(writing)
    assert done.returncode == 2


def test_an_interruption_is_said_and_has_exit_code_130(tmp_path: Path) -> None:
    at_work = "import threading, time\nthreading.Thread(target=time.sleep, args=(90,)).start()\n"  # not waited for
    broken = broken_package(tmp_path, "torch", f"{at_work}print('sleeping', flush=True)\ntime.sleep(600)")
    command = [HEADWAY, "describe"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**broken)
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sleeping\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "headway: interrupted\n")


@pytest.mark.parametrize(("changes", "is_coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_without_no_color(changes: dict[str, str], is_coloured: bool, tmp_path: Path) -> None:
    broken = broken_package(tmp_path, "torch", "raise ImportError('not today')")
    ours, theirs = pty.openpty()
    done = subprocess.run([HEADWAY, "doctor"], stdout=theirs, env=environment(**broken, TERM="xterm", **changes))
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 1
    assert "not today" in shown
    assert ("\x1b[" in shown) is is_coloured


def test_the_shell_can_complete_commands_and_flags() -> None:
    asked = {"_HEADWAY_COMPLETE": "complete_bash", "COMP_CWORD": "1"}
    assert run(**asked, COMP_WORDS="headway desc").stdout.split() == ["describe"]
    asked["COMP_CWORD"] = "2"
    assert run(**asked, COMP_WORDS="headway describe --js").stdout.split() == ["--json"]


def test_completion_can_be_shown_and_installed(tmp_path: Path) -> None:
    shell = ["bash", "-c", f"'{HEADWAY}' --show-completion && '{HEADWAY}' --install-completion; exit $?"]
    done = subprocess.run(shell, capture_output=True, text=True, env=environment(HOME=str(tmp_path)))
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F _headway_completion headway" in done.stdout
    assert "bash_completions/headway.sh" in (tmp_path / ".bashrc").read_text()


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "headway", "describe", "--preset", "bse"], capture_output=True)
    assert done.returncode == 2
