"""What a person sees of a training: a live bar on a terminal, plain lines elsewhere. All of it goes to stderr."""

import math
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

import typer

if TYPE_CHECKING:
    from headway.data.prepared import Report
    from headway.tasks.training import Observer
    from headway.train.events import Begun, Event, Updated, Validated

Watched = TypeVar("Watched")

AGAIN_SECONDS = 1.0
"""A signal that comes sooner is the first one by another way: batch systems and torchrun both send it."""
LINE_SECONDS = 10.0
"""Between two lines about the state of training, where there is no bar."""
NEWEST = 0.05
"""What the newest update counts in the averages that are shown: batches differ, and one of them says little."""


class Bar(Protocol):
    """Shows how far something is."""

    def show(self, done: int, total: int | None, text: str) -> None:
        """Set the bar, and what stands behind it."""

    def say(self, text: str) -> None:
        """A line for good, above the bar."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class LiveBar:
    """A bar that is drawn in place."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = Console(stderr=True, highlight=False)
        columns = (BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
        self._progress = Progress(*columns, console=self._console, transient=True, speed_estimate_period=120)
        self._task = self._progress.add_task("", total=None)
        self._progress.start()

    def show(self, done: int, total: int | None, text: str) -> None:
        """Set the bar, and what stands behind it."""
        self._progress.update(self._task, completed=done, total=total, description=text)

    def say(self, text: str) -> None:
        """A line for good, above the bar."""
        self._console.print(text, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._progress.stop()


class Lines:
    """A plain line now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._shown = -math.inf
        self._began: tuple[int | None, int, float] | None = None
        self._done = 0

    def show(self, done: int, total: int | None, text: str) -> None:
        """A line, if the last one is some time ago or all is done."""
        now = self._clock()
        left = self._left(done, total, now)
        if now - self._shown >= LINE_SECONDS or done == total:
            self._shown = now
            self.say(f"{done:,}/{total:,}  {text}{left}" if total else f"{done:,}  {text}")

    def _left(self, done: int, total: int | None, now: float) -> str:
        """How long the rest will take if it goes on like this; nothing if that cannot be known yet."""
        if self._began is None or self._began[0] != total or done < self._done:  # another task
            self._began = (total, done, now)
        self._done = done
        _, first, began = self._began
        if total is None or not first < done < total:
            return ""
        return f"  {timedelta(seconds=round((now - began) / (done - first) * (total - done)))} left"

    def say(self, text: str) -> None:
        """A line."""
        typer.echo(text, err=True)

    def close(self) -> None:
        """Nothing is left open."""


def open_bar() -> Bar:
    """What suits the place that stderr goes to."""
    return LiveBar() if sys.stderr.isatty() else Lines()


class TrainingView:
    """Turns the events of a trainer into what a person reads."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._steps = 0
        self._averages: dict[str, float] = {}
        self._began: dict[str, tuple[float, int]] = {}

    def watch(self, event: "Event") -> None:
        """Show an event."""
        from headway.train.events import Begun, Noted, Saved, Updated, Validated, Warned

        match event:
            case Noted():
                self._bar.say(event.text)
            case Warned():
                self._bar.say(f"warning: {event.text}")
            case Begun():
                self._begin(event)
            case Updated():
                self._update(event)
            case Validated():
                self._validated(event)
            case Saved():
                pass  # nothing that a person must know each time

    def encoded(self, name: str, total: int | None, report: "Report") -> None:
        """Show how far a corpus is encoded."""
        began = self._began.setdefault(name, (time.monotonic(), report.read))
        seconds, read = time.monotonic() - began[0], report.read - began[1]
        rate = f", {read / seconds:,.0f} a second" if read else ""
        self._bar.show(report.read, total, f"pairs of {name} encoded{rate}")

    def _begin(self, event: "Begun") -> None:
        self._steps = event.steps
        done = f", {event.step:,} of them done" if event.step else ""
        self._bar.say(
            f"training {event.parameters / 1e6:,.2f}M parameters on {event.epoch_tokens:,} target tokens an epoch, "
            f"{event.steps:,} steps{done}, in {event.path}"
        )

    def _update(self, event: "Updated") -> None:
        loss = self._averaged("loss", event.loss)
        perplexity = math.exp(self._averaged("log-perplexity", math.log(event.perplexity)))
        speed = self._averaged("tokens a second", event.tokens / max(event.seconds, 1e-9))
        self._bar.show(
            event.step,
            self._steps,
            f"loss {loss:.3f}  perplexity {perplexity:,.2f}  {speed:,.0f} tokens/s  "
            f"rate {event.rate:.2e}  epoch {event.epoch + 1}",
        )

    def _averaged(self, name: str, value: float) -> float:
        """The average of a quantity over the last updates."""
        average = self._averages.get(name, value)
        self._averages[name] = average + NEWEST * (value - average)
        return self._averages[name]

    def _validated(self, event: "Validated") -> None:
        names = {"bleu": "BLEU", "perplexity": "perplexity"}
        scores = ", ".join(f"{names.get(name, name)} {value:.2f}" for name, value in event.scores.items())
        self._bar.say(f"step {event.step:,}: validation {scores}{' (best)' if event.is_best else ''}")
        if event.sample is not None:
            source, reference, output = event.sample
            self._bar.say(f"  {source}\n  -> {output}\n  reference: {reference}")


def watched(task: Callable[["Observer"], Watched]) -> tuple[Watched, list[int]]:
    """Do a task that trains, shown on the terminal and stopped by signals; also gives the signals that came."""
    from headway.tasks.training import Observer

    bar = open_bar()
    view = TrainingView(bar)
    try:
        with stop_on_signal(bar.say) as signals:
            return task(Observer(view.watch, view.encoded, lambda: bool(signals))), signals
    finally:
        bar.close()


@contextmanager
def stop_on_signal(say: Callable[[str], None]) -> Iterator[list[int]]:
    """Inside, Ctrl-C and SIGTERM are noted instead of killing; a second Ctrl-C interrupts at once."""
    received: list[int] = []
    first_at = 0.0

    def note(number: int, _: object) -> None:
        nonlocal first_at
        if not received:
            first_at = time.monotonic()
            received.append(number)
            say("finishing this step and saving; once more to leave at once")
        elif time.monotonic() - first_at > AGAIN_SECONDS:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
