"""The command line as a user meets it: as a process, with its output, its messages and its exit codes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headway import __version__

HEADWAY = shutil.which("headway", path=str(Path(sys.executable).parent)) or "headway"


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run([HEADWAY, *arguments], capture_output=True, text=True, env=environment, **options)


def test_version() -> None:
    assert run("--version").stdout == f"headway {__version__}\n"


def test_help_lists_the_commands_without_loading_torch() -> None:
    code = "import sys\nsys.argv = ['headway', '--help']\nfrom headway.cli import app\n"
    code += (
        "try:\n    app()\nfinally:\n    print('torch' in sys.modules, 'pydantic' in sys.modules, 'rich' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "describe" in result.stdout
    assert result.stdout.endswith("False False False\n")


def test_no_command_shows_the_help() -> None:
    assert "Usage: headway" in run().stdout + run().stderr


def test_the_help_of_a_command_explains_presets_and_settings() -> None:
    text = run("describe", "--help").stdout
    assert "headway describe --preset base" in text
    assert "  B-dk16     Table 3 B: d_k = 16\n" in text
    assert "  model.heads = 8\n      h, the number of attention heads.\n" in text
    assert "  train.label_smoothing = 0.1\n" in text


def test_describe_as_json() -> None:
    result = run("describe", "--preset", "big", "--set", "model.vocabulary=37000", "--json")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    description = json.loads(result.stdout)
    assert description["parameters"]["total"] == 214_171_648
    assert description["memory"]["weights"] == 4 * 214_171_648
    assert set(description) == {"parameters", "length", "flops", "memory"}


def test_describe_for_people() -> None:
    result = run("describe", "--preset", "base")
    assert result.returncode == 0
    assert result.stdout.startswith("base: encoder-decoder, 63.05 M parameters\n")
    assert "decoder cross-attention        6,291,456   10.0%           12.98\n" in result.stdout
    assert "total, forward                63,045,632  100.0%" in result.stdout


def test_describe_reads_a_file(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text('[model]\nfamily = "decoder-only"\nlayers = 2\n')
    result = run("describe", "--preset", "tiny", "--config", str(file), "--json")
    assert "cross-attention" not in result.stdout
    assert json.loads(result.stdout)["parameters"]["stack self-attention"] == 2 * 4 * 128 * 128


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "bse"], "headway: unknown preset bse; did you mean base?\n"),
        (
            ["--set", "model.haeds=4"],
            "headway: unknown setting model.haeds (--set model.haeds=4); did you mean model.heads?\n",
        ),
        (
            ["--config", "absent.toml"],
            "headway: cannot read the settings file absent.toml: No such file or directory\n",
        ),
        (
            ["--set", "model.heads=5"],
            "headway: model.heads = 5 does not divide model.d_model = 512; choose heads among",
        ),
    ],
)
def test_wrong_input_is_one_message_and_exit_code_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run("describe", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(message)


@pytest.mark.parametrize("arguments", [["descrbe"], ["describe", "--lenght", "3"], ["describe", "--length", "0"]])
def test_an_unknown_command_or_flag_has_exit_code_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
