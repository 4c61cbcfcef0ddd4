"""`headway verify-resume`: train, kill, resume, compare. The proof is on the user's own machine, data and settings."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headway.config import Config
from headway.errors import UserError
from headway.settings import parse_config
from headway.store.checkpoints import Checkpoint, step_name
from headway.store.metrics import read_metrics
from headway.store.run import Run
from headway.tasks.setting_up import Wanted
from headway.tasks.training import train_run
from headway.text.named import NamedSplit

TRIAL_STEPS = 4
SECONDS = 15.0
"""How long the uninterrupted training of a proof should take, about."""
KILLS = 3
"""How often a proof kills by default."""


@dataclass(frozen=True)
class Proof:
    """What came out."""

    steps: int
    killed_after: list[int]
    """Steps that were done when the process was killed."""
    differing: list[str]
    """Files of the last checkpoints that differ; none if the resumed run is exact."""

    @property
    def is_exact(self) -> bool:
        """Whether every bit of weights and optimizer is the same."""
        return not self.differing


def verify_resume(
    run: Path | None = None,
    *,
    kills: int = KILLS,
    seed: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Train with the settings and data of a run, or a small model on the built-in corpus, with and without kills."""
    with tempfile.TemporaryDirectory(prefix="headway-") as place:
        template = Run.open(run) if run is not None else _small_run(Path(place) / "small")
        steps = _choose_steps(template, Path(place), kills, say)
        say(f"training {steps} steps without interruption")
        undisturbed = _copy(template, Path(place) / "undisturbed", steps)
        _finish(undisturbed)
        disturbed = _copy(template, Path(place) / "disturbed", steps)
        killed_after = [_kill_once(disturbed, at, say) for at in _moments(steps, kills, random.Random(seed))]
        say("resuming to the end")
        _finish(disturbed)
        one, other = (
            Checkpoint(each.checkpoints.directory / step_name(steps)).state()["sha256"]
            for each in (undisturbed, disturbed)
        )
        return Proof(steps, killed_after, [name for name in one if one[name] != other[name]])


def _small_run(out: Path) -> Run:
    """A small model on the built-in corpus."""
    settings = ["train.steps=1", "train.batch_tokens=1024", "train.valid_sentences=0", "train.average=0"]
    corpora = (NamedSplit("builtin:en-fr", split) for split in ("valid", "test"))  # small ones, made quickly
    return train_run(out, Wanted("tiny", assignments=settings), *corpora).run


def _choose_steps(template: Run, place: Path, kills: int, say: Callable[[str], None]) -> int:
    """So many steps that the proof takes about a minute."""
    trial = _copy(template, place / "trial", TRIAL_STEPS)
    _finish(trial)
    records = read_metrics(trial.metrics.path)
    seconds = max((records[-1]["seconds"] - records[0]["seconds"]) / (TRIAL_STEPS - 1), 1e-6)
    steps = max(min(round(SECONDS / seconds), 200), 3 * kills)
    say(f"a step takes {seconds:.2f} s")
    return steps


def _copy(template: Run, out: Path, steps: int) -> Run:
    """A new run with the same settings and data; it saves often, and lasts `steps` steps."""
    config = _for_proof(template.config, steps)
    out.mkdir(parents=True)
    data = template.data.resolve()
    try:
        (out / "data").symlink_to(data, target_is_directory=True)
    except OSError:  # not every system lets everybody make links
        shutil.copytree(data, out / "data")
    return Run.create(out, config, template.vocabulary, {**template.card, "seed": config.train.seed})


def _for_proof(config: Config, steps: int) -> Config:
    settings = config.model_dump(exclude_none=True)
    changes = {
        "steps": steps,
        "save_every": max(steps // 7, 1),
        "validate_every": steps,
        "log_every": 1,
        "patience": 0,
        "average": 0,
        "valid_sentences": 0,
    }
    return parse_config({**settings, "train": {**settings["train"], **changes}})


def _moments(steps: int, kills: int, chance: random.Random) -> list[int]:
    """After which steps to kill: random ones, each later than the one before."""
    return sorted(chance.sample(range(1, steps - 1), kills))


def _kill_once(run: Run, at: int, say: Callable[[str], None]) -> int:
    """Train in another process and kill it without warning once `at` steps are done; the steps it had done."""
    with _training(run) as process:
        while _steps_done(run) < at:
            if process.poll() is not None:
                raise UserError(f"the training ended by itself: {process.communicate()[1].strip()}")
            time.sleep(0.002)
        process.kill()
        process.wait()
    done = _steps_done(run)
    say(f"killed after step {done}")
    return done


def _finish(run: Run) -> None:
    """Train in another process to the end."""
    with _training(run) as process:
        _, errors = process.communicate()
    if process.returncode:
        raise UserError(f"the training of the proof failed: {errors.strip()}")


@contextmanager
def _training(run: Run) -> Iterator[subprocess.Popen[str]]:
    """A process that goes on with a run."""
    command = [sys.executable, "-m", "headway", "train", "--out", str(run.path), "--resume"]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        assert process.stderr is not None
        process.stderr.close()


def _steps_done(run: Run) -> int:
    records = read_metrics(run.metrics.path)
    return records[-1]["step"] if records else 0
