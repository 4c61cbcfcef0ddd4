"""The commands of README and tutorial, run one after the other in an empty folder, as a reader would.

Two things are smaller than on the pages: the files of `headway data` are cut to their first lines, and `headway train`
is given SHORT settings. `make demo` is left to the test of the demo, which is slow.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pages import code_blocks

WRITE_CORPUS = "headway data --corpus builtin:en-fr --out data"
LINES = {"train": 600, "valid": 40, "test": 20, "pronouns": 20}
SHORT = (
    "model.layers=1",
    "model.decoder_layers=1",
    "model.d_model=32",
    "tokenizer.size=500",
    "train.steps=6",
    "train.warmup=1",
    "train.validate_every=2",
    "train.valid_sentences=4",
    "train.save_every=2",
    "search.extra_length=3",
)


def run(script: str, folder: Path) -> str:
    """What a script prints, in which no command may fail."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{script}\n{done.stderr}"
    return done.stdout


def shortened(script: str) -> str:
    """A script with little to train; the name of its last checkpoint changes with it."""
    settings = " ".join(f"--set {each}" for each in SHORT)
    return script.replace("headway train --source", f"headway train {settings} --source").replace(
        "step-00001600", "step-00000006"
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of the tutorial, but for most of its lines."""
    folder = tmp_path_factory.mktemp("corpus")
    run(WRITE_CORPUS, folder)
    for file in (folder / "data").iterdir():
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        file.write_text("".join(lines[: LINES[file.stem]]), encoding="utf-8")
    return folder / "data"


def test_the_commands_of_the_readme_run(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path, dirs_exist_ok=True)
    (commands,) = code_blocks("README.md", "sh")
    printed = run(shortened(commands), tmp_path)
    assert "chrF2" in printed
    assert "The dog is running." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_commands_of_the_tutorial_run(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "data")
    first, *others = code_blocks("docs/tutorial.md", "sh")
    assert first.strip() == WRITE_CORPUS
    for commands in others:
        run(shortened(commands), tmp_path)
    assert len((tmp_path / "output.fr").read_text(encoding="utf-8").splitlines()) == LINES["test"]
    assert {"attention.html", "curves.svg", "en-fr-int8"} <= {path.name for path in tmp_path.iterdir()}

    (program,) = code_blocks("docs/tutorial.md", "python")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    assert len(run("python program.py", tmp_path).splitlines()) == 2
