"""The files that all toolkits train on, and how a toolkit that fails is reported."""

import sys
from argparse import ArgumentParser
from itertools import islice
from pathlib import Path

import pytest

from headway import load_config
from headway.text.named import NamedSplit
from peers.environments import PeerError, run_logged
from peers.joeynmt import configuration
from peers.system import Plan
from peers.work import FEW, Work, add_work_options, text_of, work_from


@pytest.fixture
def work(tmp_path: Path) -> Work:
    pairs = list(islice(NamedSplit("builtin:en-fr", "train"), 60))
    (tmp_path / "train.en").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "train.fr").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    parser = ArgumentParser()
    add_work_options(parser)
    files = [str(tmp_path / "train.en"), str(tmp_path / "train.fr")]
    arguments = parser.parse_args(
        ["--corpus", *files, "--environments", str(tmp_path), "--threads", "1", "--batch-tokens", "512"]
    )
    return work_from(arguments, tmp_path / "work")


def test_words_spell_the_corpus_and_all_of_them_are_known(work: Work) -> None:
    known = set(work.vocabulary.read_text(encoding="utf-8").split())
    for side in ("source", "target"):
        assert work.texts(work.side("train", side)) == [getattr(pair, side) for pair in work.corpus]
        assert set(work.side("train", side).read_text(encoding="utf-8").split()) <= known


def test_without_validation_files_the_first_pairs_serve(work: Work) -> None:
    assert list(work.valid) == list(islice(work.corpus, FEW))
    assert len(work.side("valid", "target").read_text(encoding="utf-8").splitlines()) == FEW


def test_words_of_the_toolkit_itself_are_left_out(work: Work) -> None:
    words = work.side("train", "source").read_text(encoding="utf-8").splitlines()[0].split()
    assert text_of(work.tokenizer, ["<s>", *words, "<unk>", "</s>"]) == next(iter(work.corpus)).source


def test_peers_take_the_sizes_of_the_preset(work: Work, tmp_path: Path) -> None:
    settings = configuration(work, Plan(steps=8, log_every=4), tmp_path)
    encoder = settings["model"]["encoder"]
    sizes = [encoder[name] for name in ("num_layers", "hidden_size", "ff_size", "num_heads", "dropout")]
    assert sizes == [3, 256, 1024, 4, 0.1]
    assert encoder["layer_norm"] == load_config("tiny", assignments=work.assignments).model.norm_place
    assert settings["training"]["batch_size"] == 512
    assert settings["training"]["updates"] == 8


def test_ours_has_nothing_of_a_preset_that_peers_do_not_have(work: Work) -> None:
    ours = load_config("tiny", assignments=work.assignments).train
    assert (ours.optimizer, ours.weight_decay, ours.mix, ours.schedule) == ("adam", 0.0, 1, "inverse-sqrt")


def test_a_command_that_fails_is_reported_with_its_last_words(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('first'); print('no wheel | for this system\\n'); raise SystemExit(3)"]
    with pytest.raises(PeerError, match=r"ended with status 3: no wheel / for this system$"):
        run_logged(command, tmp_path / "log.txt")
    assert (tmp_path / "log.txt").read_text(encoding="utf-8").startswith("first\n")
