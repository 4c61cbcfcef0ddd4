"""`headway show` as a user runs it: a run trained a moment ago, real processes, pages opened in a real browser."""

import html
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SENTENCE = "one two three"
SETTINGS = {
    "model.layers": 2,
    "model.d_model": 16,
    "model.heads": 2,
    "model.d_ff": 16,
    "tokenizer.size": 300,
    "train.steps": 4,
    "train.batch_tokens": 200,
    "train.validate_every": 2,
    "train.save_every": 2,
    "train.valid_sentences": 4,
    "train.log_every": 1,
    "search.extra_length": 3,
    "machine.threads": 1,
}


def headway(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=cwd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with texts and the run that was trained on them."""
    chance = random.Random(1)
    folder = tmp_path_factory.mktemp("show")
    texts = [[chance.choice(["one", "two", "three"]) for _ in range(chance.randint(2, 6))] for _ in range(40)]
    for name, lines in (("texts", texts), ("targets", [text[::-1] for text in texts])):
        (folder / name).write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")
    settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    done = headway("train", "--source", "texts", "--target", "targets", "--out", "run", *settings, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def opened(path: Path) -> str:
    """What Chromium makes of a page from disk, which must not complain."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.fail("pages are tested in Chromium, which is not installed; install it: apt-get install -y chromium")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]
    done = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    assert "CONSOLE" not in done.stderr, done.stderr
    return done.stdout


def test_a_page_that_complains_would_be_noticed(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<script>undefinedName</script>")
    with pytest.raises(AssertionError, match="undefinedName is not defined"):
        opened(tmp_path / "page.html")


def test_a_sentence_becomes_a_page_with_the_figures_of_the_run(folder: Path) -> None:
    done = headway("show", "run", SENTENCE, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    source, translation, finding, written = done.stdout.splitlines()
    assert source == SENTENCE
    assert finding.startswith("In layer ")
    assert written == "written: attention.html"
    page = opened(folder / "attention.html")
    assert html.escape(translation, quote=False) in page
    assert page.count('class="head"') == 4
    assert page.count("<figure ") == 7


def test_a_given_translation_is_shown_and_all_is_there_as_json(folder: Path) -> None:
    arguments = ("--translation", "three two one", "--out", "given.html", "--json", "--checkpoint", "step-00000002")
    done = headway("show", "run", SENTENCE, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["out"] == "given.html"
    assert (document["source_text"], document["target_text"]) == (SENTENCE, "three two one")
    assert list(document["maps"]) == ["encoder", "decoder", "cross"]
    assert set(document["opening"]) == {"kind", "layer", "head", "query", "rule", "finding"}
    assert (folder / "given.html").is_file()


def test_heads_over_a_file_become_a_page_and_json(folder: Path) -> None:
    arguments = ("--file", "texts", "--target-file", "targets", "--sentences", 5, "--json")
    done = headway("show", "run", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "40/40  sentences looked at" in done.stderr
    assert "12/12  heads switched off" in done.stderr
    study = json.loads(done.stdout)
    assert (study["out"], study["run"], study["texts"]) == ("heads.html", "run", "texts")
    assert study["statistics"]["sentences"] == 40
    assert study["ablation"]["sentences"] == 5
    assert len(study["statistics"]["heads"]) == len(study["ablation"]["heads"]) == 12
    numbers = re.findall(r'data-value="([^"]*)">', opened(folder / "heads.html").partition('class="heat"')[2])
    assert float(numbers[1]) == pytest.approx(study["ablation"]["heads"][0]["change"], rel=1e-5)


def test_heads_of_the_validation_set_are_one_drawing(folder: Path) -> None:
    done = headway("show", "run", "--what", "heads", "--out", "heads.svg", "--sentences", 0, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "written: heads.svg\n"
    assert (folder / "heads.svg").read_text(encoding="utf-8").count("Cross-attention: ") == 2 * 8


def test_plots_are_written_but_never_over_other_files(folder: Path) -> None:
    done = headway("show", "run", "--what", "curves", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "written: curves.svg\n"), done.stderr
    (folder / "mine.svg").write_text("<svg/>")
    refused = headway("show", "run", "--what", "curves", "--out", "mine.svg", cwd=folder)
    assert refused.returncode == 2
    assert refused.stderr == (
        "headway: mine.svg is there already, and not written by headway show; choose another --out, or remove it\n"
    )
    assert (folder / "mine.svg").read_text() == "<svg/>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "there is nothing to show yet; give a sentence in quotes, sentences by --file, or --what with one of heads",
        ),
        (["--what", "curve"], "unknown --what curve; did you mean curves?"),
        (["--what", "x"], "unknown --what x; known are heads, positions, schedule, curves, smoothing"),
        ([SENTENCE, "--file", "texts"], "both a sentence and --file were given; give one of them"),
        ([SENTENCE, "--what", "curves"], "both a sentence and --what were given; give one of them"),
        (["--what", "curves", "--file", "texts"], "--what curves is about the run and reads no --file"),
        (["--what", "heads", "--target-file", "texts"], "--target-file was given without --file; give both"),
        (["--file", "texts", "--translation", "x"], "--translation was given without a sentence; give both"),
        (
            [SENTENCE, "--out", "page.svg"],
            "--out page.svg: expected a name that ends in .html or .htm, as in attention",
        ),
        (["--what", "curves", "--out", "page.html"], "--out page.html: expected a name that ends in .svg or .png"),
        ([SENTENCE, "--out", "missing/page.html"], "cannot write missing/page.html: there is no directory missing"),
    ],
)
def test_wrong_input_is_told_before_anything_is_loaded(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = headway("show", "run", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"headway: {message}")
    assert list(tmp_path.iterdir()) == []
