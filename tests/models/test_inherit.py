"""A part of a model: which of its layers a smaller one begins with, and who is a part of whom."""

import pytest
import torch
from small import random_ids, small_config, states_of

from headway.config import ModelConfig
from headway.errors import UserError
from headway.models import Model, build_model
from headway.models.inherit import depths, evenly_spread, inherit, is_part_of
from headway.store.tensors import load_weights, model_tensors


def part_of(larger: Model, config: ModelConfig, smaller: ModelConfig) -> Model:
    model = build_model(smaller)
    load_weights(model, inherit(model_tensors(larger), config, smaller), "the larger one")
    return model


@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        ({"layers": 3}, {"layers": 3, "decoder_layers": 1}),
        ({"layers": 4}, {"layers": 2, "decoder_layers": 3}),
        ({"family": "decoder-only", "layers": 4}, {"layers": 2}),
        ({"family": "encoder-only", "layers": 3}, {"layers": 1}),
    ],
)
def test_layers_that_do_nothing_can_be_left_out(larger: dict, smaller: dict) -> None:
    whole, part = (small_config(norm_place="pre", **{**larger, **changes}) for changes in ({}, smaller))
    assert is_part_of(part, whole)
    model = build_model(whole)
    kept = {stack: evenly_spread(count, depths(whole)[stack]) for stack, count in depths(part).items()}
    with torch.no_grad():
        for name, weight in model.named_parameters():
            stack, _, rest = name.partition(".layers.")
            is_last = any(each in name for each in ("to_output", "narrow"))  # of a sub-layer
            if rest and is_last and int(rest.partition(".")[0]) not in kept[stack]:
                weight.zero_()
    ids = random_ids(2, 7)
    torch.testing.assert_close(states_of(part_of(model, whole, part), ids), states_of(model, ids))


def test_which_layers_are_taken() -> None:
    assert [evenly_spread(count, 6) for count in (1, 2, 3, 6)] == [[0], [0, 5], [0, 2, 5], [0, 1, 2, 3, 4, 5]]
    with pytest.raises(UserError, match="a stack of 2 layers cannot begin one of 3"):
        inherit({}, small_config(layers=2), small_config(layers=3))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"decoder_layers": 1, "dropout": 0.2, "vocabulary": 30}, True),
        ({"layers": 1, "decoder_layers": 2}, True),
        ({}, False),
        ({"dropout": 0.2}, False),
        ({"layers": 3, "decoder_layers": 1}, False),
        ({"decoder_layers": 1, "d_ff": 16}, False),
        ({"decoder_layers": 1, "norm_place": "pre"}, False),
        ({"family": "decoder-only", "layers": 1}, False),
    ],
)
def test_a_part_has_fewer_layers_and_is_else_the_same(changes: dict, expected: bool) -> None:
    assert is_part_of(small_config(**changes), small_config()) == expected
