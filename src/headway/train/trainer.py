"""The training loop, and what surrounds it: validation, checkpoints, early stopping, failures.

Everything that decides how training goes on is a function of the settings and of what a checkpoint stores, never of
the clock or of how often the run was stopped; so a run that is killed at any moment and resumed ends with the same
weights as one that never was.
"""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace

import torch

from headway.data.loader import Loader, Position
from headway.data.prepared import Prepared
from headway.errors import UserError
from headway.models import Model
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run
from headway.train.batches import BatchMaker, Share
from headway.train.crowding import Crowding
from headway.train.events import Begun, Saved, Updated, Validated, Warned, Watch
from headway.train.failures import Divergence, explain_nonfinite
from headway.train.objective import Objective, with_machine_settings
from headway.train.optimizers import build_optimizer
from headway.train.precision import Precision
from headway.train.progress import Best, Progress
from headway.train.ranks import ALONE, Ranks, gathered, named_hangs, spread
from headway.train.saving import Saver
from headway.train.schedules import build_schedule
from headway.train.update import NO_WISH, Stats, Updater, Wishes
from headway.train.validation import Judge, Judgement, asking, perplexity

ROLLBACKS = 5
SKIPS = 20
"""So often may a run go back, and so many batches in a row may be left out, before it stops, whatever the policy."""


class Trainer:
    """Trains one model on one corpus; `run` is where everything is written."""

    def __init__(
        self,
        run: Run,
        model: Model,
        train: Prepared,
        valid: Prepared | None,
        device: torch.device,
        *,
        ranks: Ranks = ALONE,
        judge: Judge | None = None,
        watch: Watch = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        config = run.config
        self.run, self.model, self.config, self.ranks = run, model.to(device), config, ranks
        self.judge, self.should_stop = judge, should_stop
        self.watch: Watch = watch if ranks.is_first else lambda _: None
        self.loader = self._loader(
            train, dropout=config.tokenizer.dropout, parts=config.train.accumulate, mix=config.train.mix
        )
        self.valid = self._loader(valid) if valid is not None else None
        precision = Precision(config.machine, device)
        objective = with_machine_settings(Objective(model, config.train), config.machine, self.warn)
        module = spread(objective, model, ranks, config.machine.parallel, device)
        is_sharded = ranks.count > 1 and config.machine.parallel == "fsdp"
        optimizer = build_optimizer(model, config.train, fused=not is_sharded)
        self.updater = Updater(module, optimizer, precision, ranks, config.train, self.warn)
        self.saver = Saver(run.checkpoints, model, optimizer, precision, ranks, config.train)
        self.schedule = build_schedule(config.train, config.model.d_model)
        vocabulary = config.model.target_vocabulary or config.model.vocabulary
        self._divergence = Divergence(math.log(vocabulary), config.train.warmup)
        self._crowding = Crowding(torch.get_num_threads() if device.type == "cpu" and ranks.count == 1 else 1)
        self._skipped = self._rollbacks = 0
        self._saved_at = self._updated_at = time.monotonic()

    def train(self, start: Checkpoint | None = None) -> tuple[Progress, bool]:
        """Train from a checkpoint, or from the beginning; also says whether it came to its end or was told to stop."""
        progress = self.saver.load(start) if start is not None else Progress()
        self._begin(progress)
        wishes = NO_WISH
        with closing(self.loader.batches(progress.position)) as batches:
            while not self.is_over(progress) and not wishes.stop:
                with named_hangs(self.ranks, f"step {progress.step + 1}"):
                    progress, wishes = self._do_step(progress, *next(batches))
        return progress, self.is_over(progress)

    def is_over(self, progress: Progress) -> bool:
        """Whether the settings want no further step."""
        settings = self.config.train
        return progress.step >= settings.steps or 0 < settings.patience <= progress.waited

    def look(self) -> Judgement:
        """Judge the model as it is: perplexity, and what really translating gives."""
        module, first = self.updater.module, self.ranks.is_first
        scores = {}
        if self.valid is not None:
            scores["perplexity"] = perplexity(module, self.valid, self.updater.precision, self.ranks)
        sample = None
        if self.judge is not None and (first or self.config.machine.parallel == "fsdp"):
            with asking(self.model), gathered(module):
                found, sample = self.judge(self.model)
            scores |= found
        return Judgement(scores, sample)

    def score(self, scores: Mapping[str, float]) -> float:
        """The one number that decides which checkpoint is better, the same on all ranks; more is better."""
        score = scores["bleu"] if self.selects_by(scores) == "bleu" else -scores.get("perplexity", 0.0)
        score = -math.inf if math.isnan(score) else score
        return self.ranks.total(score if self.ranks.is_first else 0.0)[0]

    def selects_by(self, scores: Mapping[str, float]) -> str:
        """What decides: BLEU if the settings want it and there is one, else perplexity."""
        return "bleu" if self.config.train.select_by == "bleu" and "bleu" in scores else "perplexity"

    def warn(self, text: str) -> None:
        """Tell those who watch."""
        self.watch(Warned(text))

    def _do_step(self, progress: Progress, share: Share, following: Position) -> tuple[Progress, Wishes]:
        """One update, and what is due after it."""
        before = progress.step
        progress, wishes = self._advance(progress, share, following)
        has_moved = progress.step > before  # not so if the batch was left out
        is_best = False
        if has_moved and self._is_due(progress, self.config.train.validate_every):
            progress, is_best = self._validate(progress)
        is_due = has_moved and self._is_due(progress, self.config.train.save_every)
        if is_best or is_due or wishes.save or wishes.stop:
            self._save(progress)
        return progress, wishes

    def _advance(self, progress: Progress, share: Share, following: Position) -> tuple[Progress, Wishes]:
        """One update; a gradient that is not finite is dealt with as the settings say."""
        step = progress.step + 1
        mine = Wishes(self.should_stop(), time.monotonic() - self._saved_at > 60 * self.config.train.save_minutes)
        with self._crowding.computing():
            stats, wishes = self.updater.gradient(share, step, mine)
        if not stats.is_finite:
            return self._leave_out(progress, share, stats, following), wishes
        self._skipped = 0
        rate = self.schedule(step)
        self.updater.step(rate, stats.norm)
        if self.saver.average is not None:
            self.saver.average.update(step)
        now = time.monotonic()
        seconds, self._updated_at = now - self._updated_at, now
        progress = progress.after_update(step, following, stats.loss, stats.plain, stats.tokens, seconds)
        self._tell(progress, stats, rate, seconds)
        return self._log(progress, stats, rate), wishes

    def _validate(self, progress: Progress) -> tuple[Progress, bool]:
        """Look at the model; also says whether it is better than ever."""
        if self.valid is None and self.judge is None:
            return progress, False
        began = time.monotonic()
        with self.saver.weights_to_use():
            judgement = self.look()
        score = self.score(judgement.scores)
        is_best = progress.best is None or score > progress.best.score
        best, waited = (Best(progress.step, score), 0) if is_best else (progress.best, progress.waited + 1)
        seconds = time.monotonic() - began
        self._updated_at += seconds
        if self.ranks.is_first:
            valid = {f"valid_{name}": value for name, value in judgement.scores.items()}
            self.run.metrics.write({"step": progress.step, **valid, "seconds": progress.seconds})
        self.watch(Validated(progress.step, judgement.scores, is_best, judgement.sample, seconds))
        return replace(progress, best=best, waited=waited), is_best

    def _save(self, progress: Progress) -> None:
        began = time.monotonic()
        last = progress.step if self.is_over(progress) else self.config.train.steps
        checkpoint = self.saver.save(progress, last)
        self._saved_at = time.monotonic()
        self._updated_at += self._saved_at - began
        self.watch(Saved(progress.step, checkpoint.path, self._saved_at - began))

    def _leave_out(self, progress: Progress, share: Share, stats: Stats, following: Position) -> Progress:
        """Do without a batch whose gradient is not finite, or stop."""
        onward = replace(progress, position=following)
        self._skipped += 1
        if self.updater.precision.expects_overflow and self._skipped < SKIPS:
            self.updater.precision.lower_scale()
            return onward
        text = explain_nonfinite(self.updater, share.parts, stats, progress.step + 1, self._show)
        policy = self.config.train.on_nonfinite
        regular = [c for c in self.saver.regular(self.config.train.steps) if c.step <= progress.step]
        has_enough = self._skipped >= SKIPS or self._rollbacks >= ROLLBACKS
        if policy == "stop" or has_enough or (policy == "rollback" and not regular):
            kept = f"The last checkpoint is {regular[-1].path}. " if regular else ""
            raise UserError(
                f"{text}\n{kept}The weights were not changed by it. Lower the learning rate or set train.clip=1; "
                "train.on_nonfinite=skip leaves such batches out"
            )
        if policy == "rollback":
            self._rollbacks += 1
            self.warn(f"{text}\ngoing back to {regular[-1].path}, without this batch")
            onward = replace(self.saver.load(regular[-1]), position=following)
            if self.ranks.is_first:
                self.run.metrics.rewind(onward.step)
        else:
            self.warn(f"{text}\nleft out")
        return onward

    def _begin(self, progress: Progress) -> None:
        if self.ranks.is_first:
            self.run.metrics.rewind(progress.step)
            if not self.is_over(progress):
                self.run.forget_result()
        parameters = sum(weight.numel() for weight in self.model.parameters())
        tokens = self.loader.prepared.report.tokens["target"] + len(self.loader.prepared)
        self.watch(Begun(progress.step, self.config.train.steps, parameters, tokens, self.run.path))
        self._saved_at = self._updated_at = time.monotonic()

    def _tell(self, progress: Progress, stats: Stats, rate: float, seconds: float) -> None:
        if warning := self._divergence.look(progress.step, stats.plain):
            self.warn(warning)
        if warning := self._crowding.look():
            self.warn(warning)
        self.watch(
            Updated(
                progress.step,
                progress.position.epoch,
                stats.loss,
                math.exp(min(stats.plain, 700.0)),
                rate,
                stats.norm,
                stats.tokens,
                seconds,
            )
        )

    def _log(self, progress: Progress, stats: Stats, rate: float) -> Progress:
        """Write the means since the last record, every so many steps."""
        if progress.step % self.config.train.log_every:
            return progress
        record, progress = progress.since_record()
        if self.ranks.is_first:
            more = {"rate": rate, "norm": stats.norm, "epoch": progress.position.epoch, "seconds": progress.seconds}
            self.run.metrics.write({"step": progress.step, **record, **more})
        return progress

    def _is_due(self, progress: Progress, every: int) -> bool:
        """Whether something that is done every so many steps, and at the end, is to be done now."""
        return progress.step % every == 0 or self.is_over(progress)

    def _loader(self, prepared: Prepared, *, dropout: float = 0.0, parts: int = 1, mix: int = 1) -> Loader[Share]:
        make = BatchMaker(self.config, self.run.vocabulary, dropout=dropout, parts=parts)
        settings = self.config.train
        return Loader(
            prepared,
            make,
            tokens=settings.batch_tokens,
            seed=settings.seed,
            mix=mix,
            rank=self.ranks.rank,
            ranks=self.ranks.count,
        )

    def _show(self, number: int) -> str:
        """A pair of the corpus as text."""
        source, target = self.loader.prepared[number]
        vocabulary = self.run.vocabulary
        return f"{vocabulary.source.decode(source.tolist())} | {vocabulary.target.decode(target.tolist())}"
