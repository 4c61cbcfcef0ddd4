"""The moving average against one computed by hand, and the swap that puts it into the model."""

import pytest
import torch
from torch import nn

from headway.train.moving_average import MovingAverage


def test_it_is_the_average_computed_by_hand() -> None:
    model = nn.Linear(2, 1, bias=False)
    expected = model.weight.detach().double()
    average = MovingAverage(model, 0.5)
    for step in range(1, 20):
        with torch.no_grad():
            model.weight.normal_()
        average.update(step)
        decay = min(0.5, step / (step + 10))
        expected = decay * expected + (1 - decay) * model.weight.detach().double()
    torch.testing.assert_close(average.averages["weight"].double(), expected)


def moved_average() -> tuple[nn.Module, MovingAverage]:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    average = MovingAverage(model, 0.9)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_()
    average.update(1)
    return model, average


def test_inside_the_model_has_the_averages_and_outside_its_own_weights() -> None:
    model, average = moved_average()
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    means = {name: weight.clone() for name, weight in average.averages.items()}
    with average.in_place():
        assert all(weight.equal(means[name]) for name, weight in model.named_parameters())
    assert all(weight.equal(own[name]) for name, weight in model.named_parameters())
    assert all(weight.equal(means[name]) for name, weight in average.averages.items())


def test_an_error_inside_restores_the_weights_too() -> None:
    model, average = moved_average()
    own = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    with pytest.raises(RuntimeError, match="inside"), average.in_place():
        raise RuntimeError("inside")
    assert all(weight.equal(own[name]) for name, weight in model.named_parameters())


def test_loading_goes_on_from_stored_averages() -> None:
    _, average = moved_average()
    other, again = moved_average()
    again.load({name: weight.clone() for name, weight in average.averages.items()})
    assert all(again.averages[name].equal(weight) for name, weight in average.averages.items())
    assert not any(again.averages[name].equal(weight) for name, weight in other.named_parameters())
