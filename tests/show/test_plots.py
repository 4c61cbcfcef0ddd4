"""Plots are well-formed, and what they draw is where the numbers say."""

import base64
import math
import re
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from headway.errors import UserError
from headway.nn.positions import sinusoids
from headway.show.heads import Ablation, HeadEffect, HeadStatistics, Statistics
from headway.show.plots import (
    ablation_plot,
    bleu_plot,
    loss_plot,
    positions_plot,
    schedule_plot,
    similarity_plot,
    smoothing_plot,
    statistics_plot,
)
from headway.show.svg import HEIGHT, LEFT, RIGHT, WIDTH, Scale, tick_text, ticks

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(svg).iter(SVG + name))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in drawn(svg, "text")]


def pixels(svg: str) -> np.ndarray:
    """The picture inside a drawing, by a reader of its own."""
    (image,) = drawn(svg, "image")
    data = base64.b64decode(image.attrib["href"].partition(",")[2])
    width, height = (int.from_bytes(data[start : start + 4]) for start in (16, 20))
    start = data.index(b"IDAT") + 4
    length = int.from_bytes(data[start - 8 : start - 4])
    rows = np.frombuffer(zlib.decompress(data[start : start + length]), dtype=np.uint8).reshape(height, -1)
    assert not rows[:, 0].any(), "no filter"
    return rows[:, 1:].reshape(height, width, 4)


def curves(svg: str) -> list[list[tuple[float, float]]]:
    lines = [element.attrib["points"].split() for element in drawn(svg, "polyline")]
    return [[tuple(map(float, point.split(","))) for point in points] for points in lines]


def test_position_encodings_are_painted_by_sign_and_size() -> None:
    table = sinusoids(20, 16, "concatenated")
    painted = pixels(positions_plot(table, "concatenated"))
    assert painted.shape == (20, 16, 4)
    np.testing.assert_allclose(painted[..., 3] / 255, table.abs().numpy(), atol=1 / 255)
    is_warm = painted[..., 0] > painted[..., 2]
    np.testing.assert_array_equal(is_warm, table.numpy() >= 0)


def test_learned_encodings_are_painted_relative_to_the_largest() -> None:
    table = torch.nn.Parameter(torch.tensor([[5.0, -10.0], [0.0, 2.5]]))
    assert pixels(positions_plot(table, "learned"))[..., 3].tolist() == [[128, 255], [0, 64]]


def test_similarity_is_one_with_itself_and_falls_with_distance() -> None:
    strength = pixels(similarity_plot(sinusoids(20, 16), "interleaved"))[..., 3].astype(int)
    assert (strength.diagonal() == 255).all()
    np.testing.assert_array_equal(strength, strength.T)
    assert strength[0, 1] > strength[0, 4]


def test_the_learning_rate_and_its_formula_are_two_curves() -> None:
    svg = schedule_plot([1, 2, 3], [0.1, 0.2, 0.1], [0.1, 0.2, 0.15])
    run, formula = curves(svg)
    assert [x for x, _ in run] == [LEFT, (LEFT + WIDTH - RIGHT) / 2, WIDTH - RIGHT]
    assert run[:2] == formula[:2]
    assert run[2][1] > formula[2][1], "lower rates are further down"
    assert {"of the run", "by the formula", "Learning rate"} <= set(texts(svg))
    with pytest.raises(UserError, match="no learning rates yet"):
        schedule_plot([], [], [])


def test_losses_and_bleu_are_taken_from_the_records_that_have_them() -> None:
    records = [
        {"step": 10, "loss": 3.0, "perplexity": math.e},
        {"step": 20, "loss": 2.0, "perplexity": 1.0},
        {"step": 20, "valid_perplexity": math.e**2, "valid_bleu": 12.0},
    ]
    smoothed, plain, valid = curves(loss_plot(iter(records)))
    assert (len(smoothed), len(plain), len(valid)) == (2, 2, 1)
    assert smoothed[1][1] == valid[0][1], "a loss of 2 is log perplexity 2"
    one = 2 * smoothed[1][1] - smoothed[0][1]  # where 1 must be, below 2 and 3
    assert plain[0][1] == pytest.approx(one, abs=0.2), "perplexity e is a loss of 1"
    assert len(curves(bleu_plot(records))[0]) == 1
    with pytest.raises(UserError, match="no BLEU scores yet"):
        bleu_plot(records[:2])


def test_smoothed_targets_show_both_conventions() -> None:
    shown = texts(smoothing_plot(vocabulary=5, epsilon=0.2))
    assert {"0.8", "0.05", "0.84", "0.04", "each of the 4 others"} <= set(shown)


def test_numbers_of_heads_stand_in_their_cells() -> None:
    heads = [
        HeadStatistics("cross", layer, head, 1.5 + layer, 0, 0.1 * head, 0, 0, 0, 0, 0)
        for layer in range(2)
        for head in range(3)
    ]
    svg = statistics_plot(Statistics(9, tuple(heads)), "cross", "entropy")
    assert texts(svg).count("1.5") == texts(svg).count("2.5") == 3
    effects = (HeadEffect("encoder", 0, 0, 2.5, 0.5), HeadEffect("encoder", 0, 1, 1.75, -0.25))
    shown = ablation_plot(Ablation(2.0, effects), "encoder")
    assert {"0.5", "-0.25"} <= set(texts(shown))
    opacities = [element.attrib["fill-opacity"] for element in drawn(shown, "rect") if "fill-opacity" in element.attrib]
    assert opacities == ["0.85", "0.42"]
    with pytest.raises(UserError, match="no decoder self-attention"):
        statistics_plot(Statistics(9, tuple(heads)), "decoder", "entropy")


def test_titles_are_text_and_not_markup() -> None:
    svg = positions_plot(sinusoids(4, 4), "<b> & co")
    assert "Position encodings: <b> & co" in texts(svg)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (0, 5000, ["0", "1,000", "2,000", "3,000", "4,000", "5,000"]),
        (0.00012, 0.00055, ["0.0002", "0.0003", "0.0004", "0.0005"]),
        (-3, 3, ["-3", "-2", "-1", "0", "1", "2", "3"]),
        (0, 3e-5, ["0", "5e-6", "1e-5", "1.5e-5", "2e-5", "2.5e-5", "3e-5"]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[str]) -> None:
    assert [tick_text(tick) for tick in ticks(low, high)] == expected


def test_a_scale_maps_its_ends() -> None:
    scale = Scale(10, 20, HEIGHT, 0)
    assert (scale(10), scale(20), scale(15)) == (HEIGHT, 0, HEIGHT / 2)


def test_a_constant_curve_can_be_drawn() -> None:
    svg = schedule_plot([1, 2], [0.0, 0.0], [0.0, 0.0])
    assert not re.search("nan|inf", svg)
    assert len(curves(svg)[0]) == 2
