"""The average of checkpoints against a mean computed by hand, and the model that has it."""

from pathlib import Path

import pytest
import torch

from headway.config import ModelConfig
from headway.errors import UserError
from headway.models import build_model
from headway.store.average import write_average
from headway.store.checkpoints import Checkpoints, step_name
from headway.store.tensors import load_weights, model_tensors

CONFIG = ModelConfig(vocabulary=20, layers=1, d_model=16, d_ff=32, heads=2, norm="batch")


def test_the_average_is_the_mean(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    models = [build_model(CONFIG) for _ in range(3)]
    for number, model in enumerate(models, start=1):
        checkpoints.write(step_name(number), model_tensors(model), None, {"step": number})
    average = write_average(checkpoints, checkpoints.steps())
    assert average.path.name == "average-00000003"
    assert average.state()["averaged"] == [1, 2, 3]
    weights = average.weights()
    each = [dict(model.named_parameters()) for model in models]
    for name in each[0]:
        mean = sum(one[name].detach().double() for one in each) / 3
        torch.testing.assert_close(weights[name], mean.float(), rtol=0, atol=0)
    assert write_average(checkpoints, checkpoints.steps()[1:]).state()["averaged"] == [2, 3]


def test_a_model_with_the_average_says_what_the_mean_says(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    models = [build_model(CONFIG).eval() for _ in range(2)]
    for number, model in enumerate(models, start=1):
        checkpoints.write(step_name(number), model_tensors(model), None, {"step": number})
    loaded = build_model(CONFIG).eval()
    load_weights(loaded, write_average(checkpoints, checkpoints.steps()).weights(), "the average")
    assert loaded.output.weight is loaded.source_input.embedding.weight  # tied before, tied after
    with torch.no_grad():
        for ours, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
            ours.copy_((ours.double() + other.double()) / 2)
    ids = torch.randint(5, 20, (2, 6))
    assert loaded(ids, ids).equal(models[0](ids, ids))


def test_nothing_to_average_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no checkpoint to average"):
        write_average(Checkpoints(tmp_path), [])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda tensors: tensors.pop("encoder.layers.0.feed_forward.narrow.bias"),
            "has no weights for encoder.layers.0",
        ),
        (lambda tensors: tensors.update(extra=torch.zeros(1)), "has weights that the model lacks: extra"),
        (
            lambda tensors: tensors.update({"encoder.layers.0.feed_forward.narrow.bias": torch.zeros(7)}),
            r"narrow.bias has shape \(7,\), the model's is \(16,\)",
        ),
    ],
)
def test_weights_of_another_model_are_refused(change, text: str) -> None:
    model = build_model(CONFIG)
    tensors = dict(model_tensors(build_model(CONFIG)))
    before = {name: tensor.clone() for name, tensor in model_tensors(model).items()}
    change(tensors)
    with pytest.raises(UserError, match=text):
        load_weights(model, tensors, "run/checkpoint")
    assert all(tensor.equal(before[name]) for name, tensor in model_tensors(model).items())
