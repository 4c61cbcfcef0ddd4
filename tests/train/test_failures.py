"""Numbers that are not finite are traced to where they came from; a loss that runs away is noticed, noise is not."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_runs import new_trainer, small_config, trainer_of

from headway.data.loader import START
from headway.errors import UserError
from headway.store.tensors import model_tensors
from headway.train.events import Updated, Validated, Warned
from headway.train.failures import Divergence, explain_nonfinite
from headway.train.trainer import SKIPS, Trainer


def poison(trainer: Trainer, name: str, value: float = math.nan) -> None:
    with torch.no_grad():
        dict(trainer.model.named_parameters())[name].view(-1)[0] = value


def explanation(trainer: Trainer, step: int = 7) -> str:
    share, _ = next(trainer.loader.batches(START))
    stats, _ = trainer.updater.gradient(share, step)
    assert not stats.is_finite
    return explain_nonfinite(trainer.updater, share.parts, stats, step, trainer._show)


@pytest.mark.parametrize(
    ("weight", "layer"),
    [
        ("encoder.layers.1.feed_forward.narrow.weight", "encoder.layers.1.feed_forward.narrow"),
        ("decoder.layers.0.cross_attention.to_query.weight", "decoder.layers.0.cross_attention.to_query"),
    ],
)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_the_first_layer_the_step_and_the_sentences_are_named(
    tmp_path: Path, weight: str, layer: str, value: float
) -> None:
    trainer = new_trainer(tmp_path, small_config({"layers": 2}, batch_tokens=1000))
    poison(trainer, weight, value)
    text = explanation(trainer)
    assert f"the loss of step 7 is not a finite number: first in the output of {layer};" in text
    numbers = next(trainer.loader.rows()).numbers
    assert f"  pair {numbers[0] + 1}: {trainer._show(numbers[0])}" in text
    assert text.splitlines()[-1] == f"  and {len(numbers) - 3} more"


class Overflow(torch.autograd.Function):
    """Finite forward, infinite backward."""

    @staticmethod
    def forward(_, x):
        return x.clone()

    @staticmethod
    def backward(_, gradient):
        return gradient * math.inf


def test_a_gradient_that_overflows_is_named_by_its_weight(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config({"layers": 2}))
    hook = trainer.model.encoder.layers[0].register_forward_hook(lambda *x: (Overflow.apply(x[2][0]), x[2][1]))
    text = explanation(trainer)
    hook.remove()
    assert "the gradient of step 7 is not a finite number: first in the gradient of encoder.layers.0." in text


class Sick:
    """Makes a model's loss infinite on the given calls of its training."""

    def __init__(self, trainer: Trainer, calls: set[int]) -> None:
        self.calls = calls
        self.count = 0
        trainer.model.encoder.register_forward_hook(self._spoil)

    def _spoil(self, module, _, output):
        if not module.training or not torch.is_grad_enabled():
            return None
        self.count += 1
        return (output[0] * math.inf, output[1]) if self.count in self.calls else None


def test_stop_leaves_the_weights_as_they_were(tmp_path: Path) -> None:
    config = small_config(steps=8, validate_every=100)
    trainer = new_trainer(tmp_path / "sick", config)
    Sick(trainer, {6})
    with pytest.raises(
        UserError, match=r"the loss of step 6 is not a finite.*\n(.*\n)*The last checkpoint is .*step-0"
    ):
        trainer.train()
    healthy = new_trainer(tmp_path / "healthy", small_config(steps=5, validate_every=100))
    healthy.train()
    expected = model_tensors(healthy.model)
    assert all(weight.equal(expected[name]) for name, weight in model_tensors(trainer.model).items())


def test_skip_leaves_the_batch_out_and_goes_on(tmp_path: Path) -> None:
    events = []
    trainer = new_trainer(tmp_path, small_config(steps=8, on_nonfinite="skip"), watch=events.append)
    Sick(trainer, {5})  # right after the validation of step 4
    progress, is_over = trainer.train()
    assert is_over
    assert progress.step == 8
    assert [event.step for event in events if isinstance(event, Updated)] == list(range(1, 9))
    assert [event.step for event in events if isinstance(event, Validated)] == [4, 8]
    [warning] = [event.text for event in events if isinstance(event, Warned)]
    assert "the loss of step 5" in warning
    assert warning.endswith("left out")


def test_rollback_goes_back_to_the_last_regular_checkpoint(tmp_path: Path) -> None:
    events = []
    trainer = new_trainer(tmp_path, small_config(steps=8, on_nonfinite="rollback"), watch=events.append)
    Sick(trainer, {7})
    progress, _ = trainer.train()
    assert progress.step == 8
    assert [event.step for event in events if isinstance(event, Updated)] == [1, 2, 3, 4, 5, 6, 5, 6, 7, 8]
    assert [event.step for event in events if isinstance(event, Validated)] == [4, 8]
    [warning] = [event.text for event in events if isinstance(event, Warned)]
    assert "going back to" in warning
    assert "step-00000004" in warning


def test_rollback_without_a_checkpoint_stops(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config(on_nonfinite="rollback"))
    Sick(trainer, {2})
    with pytest.raises(UserError, match="the loss of step 2"):
        trainer.train()


def test_skipping_without_end_stops(tmp_path: Path) -> None:
    trainer = new_trainer(tmp_path, small_config(on_nonfinite="skip"))
    sick = Sick(trainer, set(range(2, 1000)))
    with pytest.raises(UserError, match="the loss of step 2"):
        trainer.train()
    assert sick.count == 1 + SKIPS


def test_a_run_resumed_after_damage_does_not_roll_back_to_what_is_ahead(tmp_path: Path) -> None:
    config = small_config(steps=12, on_nonfinite="rollback", average=0)
    first = new_trainer(tmp_path, config)
    first.train()
    (tmp_path / "checkpoints/step-00000008/state.json").unlink()
    (tmp_path / "checkpoints/step-00000012/state.json").unlink()
    events = []
    second = trainer_of(first.run, watch=events.append)
    Sick(second, {2})
    progress, _ = second.train(first.run.checkpoints.latest())
    assert progress.step == 12
    assert "step-00000004" in next(event.text for event in events if isinstance(event, Warned))


UNIFORM = math.log(1000)


def warnings(losses: list[float], warmup: int = 10) -> list[tuple[int, str]]:
    divergence = Divergence(UNIFORM, warmup)
    said = [(step, divergence.look(step, loss)) for step, loss in enumerate(losses, start=1)]
    return [(step, text) for step, text in said if text]


def test_a_loss_that_rises_for_good_is_said_once_and_early() -> None:
    falling = [UNIFORM - 0.04 * step for step in range(100)]
    rising = [falling[-1] + 0.04 * step for step in range(200)]
    [(step, text)] = warnings(falling + rising)
    assert 100 < step < 250
    assert "training diverges" in text
    assert "warm-up" not in text
    [(_, text)] = warnings(falling + rising, warmup=1000)
    assert "the warm-up is too short (train.warmup = 1000)" in text


noise = st.integers(0, 2**32 - 1).map(lambda seed: torch.Generator().manual_seed(seed))


@settings(max_examples=30)
@given(noise, st.floats(1.0, 9.0))
def test_a_flat_noisy_loss_is_not_divergence(chance: torch.Generator, level: float) -> None:
    losses = level + 2 * torch.rand(500, generator=chance) - 1
    assert warnings(losses.tolist()) == []


@settings(max_examples=30)
@given(st.lists(st.floats(0.0, 0.5), min_size=1, max_size=300))
def test_a_falling_loss_is_not_divergence(falls: list[float]) -> None:
    level, losses = 10.0, []
    for fall in falls:
        level -= fall
        losses.append(level)
    assert warnings(losses) == []
