"""Which checkpoint of a run is the one to use: an average of the last ones, or one by its name."""

from dataclasses import dataclass

from headway.errors import UserError
from headway.store.average import write_average
from headway.store.checkpoints import Checkpoint, average_name
from headway.store.run import Run


@dataclass(frozen=True)
class Choice:
    """What is used from now on, and how to go back to what was used before."""

    checkpoint: Checkpoint
    before: str
    """The name of the checkpoint that was used before."""
    averaged_before: int = 0
    """If that was an average that had to give its name to this one: of how many checkpoints."""


def average_last(run: Run, count: int) -> Choice:
    """Average the last `count` checkpoints of training and use the average."""
    steps = [checkpoint for checkpoint in run.checkpoints.steps() if checkpoint.step]
    before = run.chosen()
    if len(steps) < count:
        raise UserError(
            f"{run.path} has {len(steps)} checkpoints ({', '.join(each.path.name for each in steps)}), fewer than "
            f"{count}; average fewer, or keep more while training by train.keep"
        )
    parts = steps[-count:]
    is_same_name = before.path.name == average_name(parts[-1].step)
    averaged_before = len(before.state()["averaged"]) if is_same_name else 0
    average = write_average(run.checkpoints, parts)
    _write_choice(run, average)
    return Choice(average, before.path.name, averaged_before)


def use_checkpoint(run: Run, name: str) -> Choice:
    """Use the checkpoint of that name."""
    before = run.chosen().path.name
    checkpoint = run.checkpoints.find(name)
    checkpoint.verify()
    _write_choice(run, checkpoint)
    return Choice(checkpoint, before)


def _write_choice(run: Run, checkpoint: Checkpoint) -> None:
    run.write_result({**(run.result or {}), "checkpoint": checkpoint.path.name})
