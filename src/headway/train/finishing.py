"""The end of a run: the last checkpoints averaged, and the better of average and best chosen."""

from typing import Any

from headway.store.average import write_average
from headway.store.checkpoints import Checkpoint, average_name, step_name
from headway.train.progress import Progress
from headway.train.trainer import Trainer


def finish(trainer: Trainer, progress: Progress) -> dict[str, Any]:
    """Choose the checkpoint to use, write the run's result and return it."""
    chosen = _best(trainer, progress)
    trainer.saver.use(chosen)
    scores = dict(trainer.look().scores)
    if (average := _average(trainer, progress)) is not None:
        best_score = trainer.score(scores)
        trainer.saver.use(average)
        averaged = dict(trainer.look().scores)
        if trainer.score(averaged) >= best_score:
            chosen, scores = average, averaged
    result = {
        "checkpoint": chosen.path.name,
        "scores": scores,
        "selected_by": trainer.selects_by(scores),
        "step": progress.step,
        "tokens": progress.tokens,
        "train_seconds": round(progress.seconds, 3),
    }
    if trainer.ranks.is_first:
        trainer.run.write_result(result)
    return result


def _best(trainer: Trainer, progress: Progress) -> Checkpoint:
    """The best checkpoint that is still there, else the last one, as the first rank sees it."""
    directory = trainer.run.checkpoints.directory
    best = step_name(progress.best.step if progress.best else progress.step)
    name = best if (directory / best).exists() else step_name(progress.step)
    return Checkpoint(directory / trainer.ranks.text_of(0, name))


def _average(trainer: Trainer, progress: Progress) -> Checkpoint | None:
    """The mean of the last regular checkpoints, if the settings ask for one and there are several."""
    parts = (
        trainer.saver.regular(progress.step)[-trainer.config.train.average :] if trainer.config.train.average else []
    )
    if len(parts) < 2:
        return None
    if trainer.ranks.is_first:
        write_average(trainer.run.checkpoints, parts)
    trainer.ranks.wait()
    return Checkpoint(trainer.run.checkpoints.directory / average_name(parts[-1].step))
