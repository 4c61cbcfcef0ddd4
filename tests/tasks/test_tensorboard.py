"""What TensorBoard reads is what the trainer told."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from headway.tasks.tensorboard import tensorboard_watch
from headway.train.events import Updated, Validated


def test_curves_are_written(tmp_path: Path) -> None:
    watch = tensorboard_watch(tmp_path, every=2)
    for step in (1, 2, 3, 4):
        watch(Updated(step, 0, loss=1 / step, perplexity=2.0, rate=0.1, norm=1.0, tokens=100, seconds=0.5))
    watch(Validated(4, {"bleu": 31.5}, True, None, 1.0))
    found = EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in found.Scalars("train/loss")] == [(2, 0.5), (4, 0.25)]
    assert [event.value for event in found.Scalars("train/tokens_per_second")] == [200.0, 200.0]
    assert [event.value for event in found.Scalars("valid/bleu")] == [31.5]
