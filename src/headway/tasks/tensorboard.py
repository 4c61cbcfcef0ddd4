"""The events of a training -> curves for TensorBoard."""

from pathlib import Path

from headway.errors import UserError
from headway.train.events import Event, Updated, Validated, Watch


def tensorboard_watch(directory: Path, every: int) -> Watch:
    """Writes each `every`-th update and all validations to a directory that `tensorboard --logdir` reads."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UserError("train.tensorboard needs the package tensorboard: pip install headway[tensorboard]") from None
    writer = SummaryWriter(str(directory))

    def watch(event: Event) -> None:
        match event:
            case Updated() if event.step % every == 0:
                values = {"loss": event.loss, "perplexity": event.perplexity, "rate": event.rate, "norm": event.norm}
                for name, value in values.items():
                    writer.add_scalar(f"train/{name}", value, event.step)
                writer.add_scalar("train/tokens_per_second", event.tokens / max(event.seconds, 1e-9), event.step)
            case Validated():
                for name, value in event.scores.items():
                    writer.add_scalar(f"valid/{name}", value, event.step)
                writer.flush()

    return watch


def both(one: Watch, other: Watch) -> Watch:
    """A watch that tells two."""

    def watch(event: Event) -> None:
        one(event)
        other(event)

    return watch
