"""The plots of a run show its own records, settings and tables."""

import re
import shutil
from pathlib import Path

import pytest
import torch
from shown_runs import SETTINGS, train

from headway.errors import UserError
from headway.nn.positions import sinusoids
from headway.store.metrics import read_metrics
from headway.tasks.run_plots import plot_run, position_tables, run_figures
from headway.tasks.showing import Trained


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def without_metrics(run: Path, tmp_path: Path) -> Path:
    copied = tmp_path / "run"
    shutil.copytree(run, copied)
    (copied / "metrics.jsonl").unlink()
    return copied


def curves(svg: str) -> list[str]:
    return re.findall(r'<polyline class="line line-\d" points="([^"]*)"', svg)


def titles(svg: str) -> list[str]:
    return re.findall(r'class="title"[^>]*>([^<]*)<', svg)


def test_the_rates_of_the_run_are_those_of_its_formula(run: Path) -> None:
    recorded, formula = curves(plot_run(run, "schedule"))
    assert len(recorded.split()) == SETTINGS["train.steps"]
    assert recorded == formula


def test_rates_that_depart_from_the_formula_are_seen(run: Path, tmp_path: Path) -> None:
    copied = tmp_path / "run"
    shutil.copytree(run, copied)
    config = copied / "config.toml"
    config.write_text(config.read_text().replace("warmup = 2", "warmup = 1"))
    recorded, formula = curves(plot_run(copied, "schedule"))
    assert recorded != formula


def test_curves_are_loss_and_bleu(run: Path) -> None:
    svg = plot_run(run, "curves")
    assert titles(svg) == ["Loss", "BLEU"]
    validations = [record for record in read_metrics(run / "metrics.jsonl") if "valid_bleu" in record]
    assert len(curves(svg)[-1].split()) == len(validations) == 2


def test_positions_are_those_of_the_model_and_then_the_other_layout(run: Path) -> None:
    (table,) = position_tables(Trained.load(run).model).values()
    torch.testing.assert_close(table, sinusoids(128, 16, "interleaved"))
    assert [title.partition(": ")[2] for title in titles(plot_run(run, "positions"))] == [
        *["sines and cosines in turn"] * 2,
        *["all sines, then all cosines"] * 2,
    ]


def test_learned_positions_are_shown_for_each_side(tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", model__positions="learned"))
    tables = position_tables(trained.model)
    assert list(tables) == ["learned by the encoder", "learned by the decoder"]
    assert torch.equal(tables["learned by the decoder"], trained.model.target_input.positions.table[:128])


def test_a_model_without_positions_has_none_to_show(tmp_path: Path) -> None:
    run = train(tmp_path / "run", model__positions="none", train__label_smoothing=0)
    with pytest.raises(UserError, match="there are no encodings to show"):
        plot_run(run, "positions")
    assert [titles(figure.svg)[0] for figure in run_figures(Trained.load(run))] == ["Learning rate", "Loss", "BLEU"]


def test_smoothing_is_that_of_the_run(tmp_path: Path) -> None:
    assert "ε = 0.3" in plot_run(train(tmp_path / "run", train__label_smoothing=0.3), "smoothing")


def test_a_run_without_records_says_so_or_leaves_them_out(without_metrics: Path) -> None:
    with pytest.raises(UserError, match="no learning rates yet"):
        plot_run(without_metrics, "schedule")
    with pytest.raises(UserError, match="no losses yet"):
        plot_run(without_metrics, "curves")
    shown = [titles(figure.svg)[0].partition(":")[0] for figure in run_figures(Trained.load(without_metrics))]
    assert shown == ["Position encodings", "Similarity of position encodings", "Position encodings", shown[-1]]
    assert shown[-1].startswith("Smoothed target")
