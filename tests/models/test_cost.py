"""The arithmetic and the memory that `describe` states, against torch's own counters."""

import pytest
import torch
from small import random_ids, small_model
from torch.utils.flop_counter import FlopCounterMode

from headway import load_config
from headway.models import cost, describe
from headway.models.cost import activation_bytes, count_flops

LENGTH = 12


@pytest.mark.parametrize("score", ["scaled-dot", "general"])
@pytest.mark.parametrize("family", ["encoder-only", "encoder-decoder"])
def test_flops_equal_those_that_torch_counts(family: str, score: str) -> None:
    model = small_model(family=family, score=score)
    ids = random_ids(1, LENGTH)
    sides = [ids, ids] if family == "encoder-decoder" else [ids]
    with FlopCounterMode(display=False) as counter:
        states, _ = model.states(*sides, with_weights=True)  # the plain way, whose products torch counts
        model.output(states) if family == "encoder-decoder" else model.head(states, ids != 0)
    counted = counter.get_total_flops()
    parts = count_flops(model, LENGTH)
    # The plain way computes scores of the future and hides them; `describe` counts those that are seen.
    hidden = 2 * 2 * (2 * 16) * (LENGTH - (LENGTH + 1) / 2) if family == "encoder-decoder" else 0
    assert (sum(parts.values()) + hidden) * LENGTH == counted


def test_a_band_costs_what_it_sees() -> None:
    work = [sum(count_flops(small_model(pattern="window", window=8), n).values()) for n in (4, 8, 100, 1000)]
    cross = [sum(count_flops(small_model(pattern="window", window=8), n).values()) for n in (1000, 2000)]
    assert work[0] < work[1] < work[2]
    assert cross[1] - cross[0] == pytest.approx(2 * 2 * 32 * 1000)  # only attention to the source still grows


@pytest.mark.parametrize("settings", [[], ["model.dropout=0"], ["model.score=additive"], ["model.pattern=window"]])
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
def test_activations_equal_those_of_the_whole_model(family: str, settings: list[str]) -> None:
    sizes = ["model.layers=3", "model.d_model=32", "model.d_ff=64", "model.heads=2", "model.vocabulary=20"]
    config = load_config(assignments=[*sizes, f"model.family={family}", *settings]).model
    model = small_model(**{**config.model_dump(), "target_vocabulary": None}).train()
    held: dict[int, int] = {p.untyped_storage().data_ptr(): 0 for p in model.parameters()}

    def hold(tensor: torch.Tensor) -> torch.Tensor:
        held.setdefault(tensor.untyped_storage().data_ptr(), tensor.untyped_storage().nbytes())
        return tensor

    ids = random_ids(1, LENGTH)
    sides = [ids, ids] if family == "encoder-decoder" else [ids]
    with torch.autograd.graph.saved_tensors_hooks(hold, lambda tensor: tensor):
        states, _ = model.states(*sides)
    assert states.requires_grad
    assert activation_bytes(config, LENGTH) == pytest.approx(sum(held.values()) / LENGTH, rel=0.01)


@pytest.mark.parametrize("settings", [[], ["model.score=additive"], ["model.pattern=top-k"]])
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
def test_a_long_sequence_is_reckoned_from_short_ones(
    family: str, settings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = ["model.layers=2", "model.d_model=16", "model.d_ff=32", "model.heads=2"]
    config = load_config(assignments=[*sizes, f"model.family={family}", *settings]).model
    reckoned = activation_bytes(config, 400)
    monkeypatch.setattr(cost, "_MEASURED", 400)
    assert reckoned == pytest.approx(activation_bytes(config, 400), rel=0.01)


def test_training_costs_three_times_the_forward_pass() -> None:
    config = load_config("tiny")
    description = describe(config)
    assert description.flops["training"] == 3 * description.flops["forward"]
    assert (
        description.flops["training_run"]
        == description.flops["training"] * config.train.batch_tokens * config.train.steps
    )
    assert description.memory["training_state"] == 4 * description.memory["weights"]


def test_describing_does_not_touch_the_random_state() -> None:
    state = torch.get_rng_state()
    describe(load_config("tiny"))
    assert torch.get_rng_state().equal(state)
