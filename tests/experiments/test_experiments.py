"""The experiments as a user runs them, on a corpus with the files of Multi30k and the sentences of the built-in one."""

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

from headway import UserError, load_config
from headway.text.named import NamedSplit

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
SIZES = {"train": 300, "val": 30, "test_2016_flickr": 20}
SETTINGS = {
    "model.layers": 1,
    "model.d_model": 32,
    "model.heads": 2,
    "model.d_ff": 32,
    "tokenizer.size": 400,
    "train.steps": 20,
    "train.batch_tokens": 500,
    "train.warmup": 5,
    "train.validate_every": 10,
    "train.save_every": 10,
    "train.valid_sentences": 10,
    "search.extra_length": 5,
    "machine.threads": 1,
}


def call(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXPERIMENTS / script), *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def run(data: Path, out: Path, *more: object, **changes: object) -> subprocess.CompletedProcess[str]:
    chosen = {**SETTINGS, **{name.replace("__", "."): value for name, value in changes.items()}}
    settings = [word for name, value in chosen.items() for word in ("--set", f"{name}={value}")]
    return call("run.py", "multi30k", "--data", data, "--pair", "en-fr", "--out", out, *settings, *more)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files called as those of Multi30k; those to train on are compressed."""
    folder = tmp_path_factory.mktemp("data")
    pairs = iter(NamedSplit("builtin:en-fr", "valid"))
    for stem, size in SIZES.items():
        chosen = list(islice(pairs, size))
        for number, language in enumerate(("en", "fr")):
            text = "".join(f"{pair[number]}\n" for pair in chosen).encode()
            if stem == "train":
                (folder / f"{stem}.{language}.gz").write_bytes(gzip.compress(text))
            else:
                (folder / f"{stem}.{language}").write_bytes(text)
    return folder


@pytest.fixture(scope="module")
def finished(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    out = tmp_path_factory.mktemp("runs")
    return out, run(data, out, "--seed", 1, 2, "--save", out / "results.md")


def test_from_raw_files_to_scores(finished: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, done = finished
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("$ headway train") == done.stderr.count("$ headway evaluate") == 2
    titles, _, first, second, mean = [line for line in done.stdout.splitlines() if line.startswith("|")]
    assert "sacreBLEU (cased, detokenised) | BLEU (lower-cased, tokenised)" in titles
    assert first.startswith("| en-fr | test_2016_flickr | 1 | ")
    assert second.startswith("| en-fr | test_2016_flickr | 2 | ")
    assert mean.startswith("| en-fr | test_2016_flickr | mean of 2 | ")
    scores = [json.loads((out / "en-fr" / f"seed-{seed}" / "test_2016_flickr.json").read_text()) for seed in (1, 2)]
    assert f" | 1 | {scores[0]['bleu']['value']:.2f} | {scores[0]['lowercased_bleu']['score']['value']:.2f} | " in first
    assert f" | mean of 2 | {sum(each['bleu']['value'] for each in scores) / 2:.2f} ± " in mean
    assert "not reached" in first
    assert "| minutes to validation BLEU 35 |" in titles
    for fact in ("- command: `python ", "- commit: ", "- machine: ", "- sacreBLEU signature: `nrefs:1|"):
        assert f"\n{fact}" in done.stdout
    assert (out / "results.md").read_text(encoding="utf-8") == done.stdout
    lines = (out / "en-fr" / "seed-1" / "test_2016_flickr.fr").read_text(encoding="utf-8").splitlines()
    assert len(lines) == SIZES["test_2016_flickr"]


def test_what_is_done_is_not_done_again(data: Path, finished: tuple) -> None:
    out, done = finished
    again = run(data, out, "--seed", 1, 2, "--save", out / "results.md")
    assert again.stderr == ""
    assert again.stdout == done.stdout
    (out / "en-fr" / "seed-2" / "test_2016_flickr.json").unlink()
    partly = run(data, out, "--seed", 1, 2, "--save", out / "results.md")
    assert partly.stderr.count("$ headway") == 1
    assert partly.stdout == done.stdout


def test_the_time_to_a_bleu_is_that_of_its_validation(data: Path, finished: tuple) -> None:
    metrics = finished[0] / "en-fr" / "seed-1" / "metrics.jsonl"
    before = metrics.read_text(encoding="utf-8")
    records = ({"step": 9, "valid_bleu": bleu, "seconds": 60.0 * bleu} for bleu in (34.5, 36.0, 37.0))
    metrics.write_text(before + "".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    reached = run(data, finished[0], "--seed", 1).stdout
    metrics.write_text(before, encoding="utf-8")
    assert " | 36.00 | " in reached


def test_a_run_of_other_settings_is_not_taken(data: Path, finished: tuple, tmp_path: Path) -> None:
    changed = run(data, finished[0], train__steps=21)
    assert changed.returncode == 2
    assert "was trained with other settings of train.steps; choose another --out" in changed.stderr
    absent = run(tmp_path, tmp_path)
    assert absent.returncode == 2
    assert "has no train.en, plain, .gz or .zst; where to get it: " in absent.stderr
    unknown = call("run.py", "multi31k", "--data", data)
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "run.py: unknown corpus multi31k; known are 3am, multi30k, pydocs, tatoeba\n",
    )


def test_runs_of_both_directions_teach_another(data: Path, finished: tuple) -> None:
    done = run(data, finished[0], "--taught")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("$ headway train") == 1, "fr-en; en-fr is there"
    assert done.stderr.count("$ headway distill") == 1
    taught = finished[0] / "en-fr" / "seed-1-taught"
    assert (taught / "reverse" / "distilled.jsonl").read_bytes().count(b"\n") == SIZES["train"]
    score = json.loads((taught / "test_2016_flickr.json").read_text())["bleu"]["value"]
    assert f"| en-fr | test_2016_flickr | 1 | {score:.2f} | " in done.stdout
    again = run(data, finished[0], "--taught")
    assert (again.stderr, again.stdout) == ("", done.stdout)


def test_runs_are_plotted_in_one_picture(finished: tuple, tmp_path: Path) -> None:
    runs = [finished[0] / "en-fr" / f"seed-{seed}" for seed in (1, 2)]
    drawn = call("plot.py", *runs, "--out", tmp_path / "bleu.svg")
    assert drawn.returncode == 0, drawn.stderr
    picture = (tmp_path / "bleu.svg").read_text(encoding="utf-8")
    assert picture.count("<polyline") == 2
    assert ">seed-1<" in picture
    assert "minutes of training" in picture
    many = call("plot.py", *runs * 3, "--out", tmp_path / "many.svg")
    assert many.returncode == 2
    assert "6 runs were given" in many.stderr


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The experiments' script, to look into."""
    spec = importlib.util.spec_from_file_location("run", EXPERIMENTS / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["run"] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXPERIMENTS.glob("*/corpus.toml")))
def test_every_corpus_has_settings_that_hold_and_says_where_its_files_are(script: ModuleType, name: str) -> None:
    corpus = script.Corpus.read(name)
    assert (EXPERIMENTS / name / "README.md").read_text(encoding="utf-8").count("http")
    pairs = [path.stem for path in corpus.folder.glob("??-??.toml")]
    assert bool(pairs) == bool(corpus.preset)
    for pair in pairs:
        load_config(corpus.preset, corpus.settings(pair))


def test_the_time_to_a_bleu_is_a_column_only_if_one_is_waited_for(script: ModuleType) -> None:
    row = script.Row("en-de", "test", 1, 30.0, 31.0, 32.0, None, 60.0, 100, "signature")
    without, waiting = script.table([row], None), script.table([row], 35.0)
    assert without[-1] == "| en-de | test | 1 | 30.00 | 31.00 | 32.00 | 1.00 | 100 |"
    assert waiting[-1] == "| en-de | test | 1 | 30.00 | 31.00 | 32.00 | not reached | 1.00 | 100 |"
    assert "BLEU 35" in waiting[0]
    assert [text.count("|") for text in without] == [9, 9, 9]


def test_settings_may_be_left_to_headway(script: ModuleType, data: Path, finished: tuple) -> None:
    changes = tuple(f"{name}={value}" for name, value in SETTINGS.items())
    left = script.Trial(script.Corpus.read("tatoeba"), data, "en-fr", 1, finished[0], changes)
    given = script.Trial(script.Corpus.read("multi30k"), data, "en-fr", 1, finished[0], changes)
    assert left.recipe == []
    assert given.recipe == ["--preset", "tiny", "--config", EXPERIMENTS / "multi30k" / "en-fr.toml"]
    left.check_settings()
    with pytest.raises(UserError, match=r"other settings of train\.steps"):
        script.Trial(left.corpus, data, "en-fr", 1, finished[0], ("train.steps=21",)).check_settings()
