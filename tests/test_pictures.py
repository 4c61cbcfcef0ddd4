"""The pictures of the tour are those that its script draws, and small."""

import re
import subprocess
import sys
from pathlib import Path

import headway
from headway.text.builtin import builtin_corpus
from pages import ROOT, code_blocks

PICTURES = ROOT / "docs" / "pictures"
SETTINGS = (
    "model.layers=2",
    "model.d_model=32",
    "model.d_ff=16",
    "tokenizer.size=500",
    "train.steps=4",
    "train.batch_tokens=200",
    "train.warmup=2",
    "train.validate_every=2",
    "train.valid_sentences=4",
    "train.log_every=1",
    "search.extra_length=3",
    "machine.threads=1",
)


def small_run(folder: Path) -> Path:
    """A run of four heads that has learned nearly nothing."""
    sentences = builtin_corpus(sizes={"train": 80, "valid": 0, "test": 0, "pronouns": 0})["train"]
    for language in ("en", "fr"):
        text = "".join(f"{sentence.text(language)}\n" for sentence in sentences)
        (folder / language).write_text(text, encoding="utf-8")
    headway.train(folder / "run", source=folder / "en", target=folder / "fr", preset="tiny", settings=SETTINGS)
    return folder / "run"


def charts(folder: Path) -> dict[str, int]:
    """How many charts each picture has."""
    return {path.name: path.read_text(encoding="utf-8").count("<svg") for path in folder.glob("*.svg")}


def test_the_script_draws_the_pictures_that_are_there(tmp_path: Path) -> None:
    (commands,) = code_blocks("docs/tour.md", "sh")
    assert "python docs/pictures/draw.py runs/demo" in commands.splitlines()
    (tmp_path / "drawn").mkdir()
    command = [sys.executable, PICTURES / "draw.py", small_run(tmp_path), tmp_path / "drawn"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert charts(tmp_path / "drawn") == charts(PICTURES)


def test_the_tour_shows_each_picture() -> None:
    shown = re.findall(r"\]\(pictures/([\w-]+\.svg)\)", (ROOT / "docs" / "tour.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(charts(PICTURES))


def test_pictures_are_small() -> None:
    sizes = [path.stat().st_size for path in PICTURES.glob("*.svg")]
    assert sizes
    assert max(sizes) < 60_000
    assert sum(sizes) < 400_000
