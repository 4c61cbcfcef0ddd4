"""What training costs besides its updates: validating, saving, and the wait for the first update.

A preset is trained on the built-in corpus, or on a corpus of yours, for some updates; then it is validated and saved
once, as by default, and resumed in a new process. What one validation and one checkpoint took is compared with the
updates that lie between two of them by the preset's own settings. A model that has learned little writes long outputs,
so that validating it takes rather more time than later.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from headway import load_config
from headway.config import Config
from headway.tasks.setting_up import Wanted
from headway.tasks.training import Observer, train_run
from headway.text.corpus import AlignedFiles, Corpus
from headway.text.named import NamedSplit
from headway.train.events import Event, Saved, Updated, Validated
from measure import machine, options, report

CORPUS = "builtin:en-fr"
WARM_UP = 10
"""Updates that are not counted."""


def watched(out: Path, wanted: Wanted, corpus: Corpus, valid: Corpus) -> list[Event]:
    """What a training tells."""
    events: list[Event] = []
    train_run(out, wanted, corpus, valid, observer=Observer(events.append))
    return events


def first_update(out: Path, preset: str, steps: int, since: float) -> None:
    """Resume a run, and print how many seconds after `since` its first update was done."""

    def watch(event: Event) -> None:
        if isinstance(event, Updated):
            print(time.time() - since, flush=True)

    settings = [f"train.steps={steps}", "train.valid_sentences=0"]
    train_run(out, Wanted(preset, None, settings), resume=True, observer=Observer(watch))


def seconds_to_first_update(out: Path, preset: str, steps: int) -> float:
    """From the start of a new process, once everything is prepared."""
    command = [sys.executable, __file__, "--resume", str(out), "--preset", preset, "--updates", str(steps)]
    done = subprocess.run([*command, "--since", repr(time.time())], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def table(config: Config, events: list[Event], waits: list[float]) -> str:
    """What was measured, and shares of the time by the settings of the preset."""
    update = statistics.median(event.seconds for event in events if isinstance(event, Updated) and event.step > WARM_UP)
    (validated,) = [event.seconds for event in events if isinstance(event, Validated)]
    (saved,) = [event.seconds for event in events if isinstance(event, Saved)]
    train = config.train
    validating = validated / (train.validate_every * update)
    saving = saved / (train.save_every * update) + saved / (60 * train.save_minutes)
    return (
        "| | seconds | as often as | share of the updates' time |\n| --- | --- | --- | --- |\n"
        f"| an update, median | {update:.3f} | | |\n"
        f"| a validation: perplexity, and BLEU of {train.valid_sentences:,} sentences | {validated:.2f} "
        f"| every {train.validate_every:,} updates | {validating:.2%} |\n"
        f"| a checkpoint | {saved:.2f} | every {train.save_every:,} updates and {train.save_minutes:g} minutes "
        f"| {saving:.2%} |\n"
        f"| both (asked for: less than 3%) | | | {validating + saving:.2%} |\n"
        f"| from the start of a process to its first update (asked for: less than 10) "
        f"| {', '.join(f'{wait:.1f}' for wait in waits)} | | |"
    )


def measure(arguments: argparse.Namespace, directory: Path) -> str:
    """Train, look at what it cost, and resume."""
    config = load_config(arguments.preset)
    steps = arguments.updates
    settings = [f"train.{name}={steps}" for name in ("steps", "validate_every", "save_every")]
    if arguments.corpus:
        train, valid = (AlignedFiles(*((path,) for path in pair)) for pair in (arguments.corpus, arguments.valid))
    else:
        train, valid = (NamedSplit(CORPUS, part) for part in ("train", "valid"))
    out = directory / "run"
    events = watched(out, Wanted(arguments.preset, None, [*settings, "train.average=0"]), train, valid)
    waits = [seconds_to_first_update(out, arguments.preset, steps + number) for number in range(1, 4)]
    name = " and ".join(path.name for path in arguments.corpus) if arguments.corpus else CORPUS
    return f"Preset {arguments.preset} on {name}, {steps} updates.\n\n{table(config, events, waits)}"


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--corpus", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help=f"(default: {CORPUS})")
    parser.add_argument("--valid", type=Path, nargs=2, metavar=("SOURCE", "TARGET"), help="for validation, beside it")
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--since", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if bool(arguments.corpus) != bool(arguments.valid):
        parser.error("--corpus and --valid are given together")
    if arguments.resume:
        first_update(arguments.resume, arguments.preset, arguments.updates, arguments.since)
        return
    print(machine())
    with tempfile.TemporaryDirectory() as place:
        report("What training costs besides updates", measure(arguments, Path(place)), save=arguments.save)


if __name__ == "__main__":
    main()
