"""What is seen of a training where there is no terminal: lines that say how it goes and how long it will take."""

import pytest

from headway.cli.watching import LINE_SECONDS, Lines, TrainingView
from headway.train.events import Begun, Updated


class Shown:
    """A bar that keeps what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def show(self, done: int, total: int | None, text: str) -> None:
        self.texts.append(f"{done}/{total} {text}")

    def say(self, text: str) -> None:
        self.texts.append(text)

    def close(self) -> None:
        pass


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def updated(step: int, **changes: float) -> Updated:
    values = {"loss": 4.0, "perplexity": 20.0, "tokens": 1000, "seconds": 0.5, **changes}
    return Updated(step=step, epoch=0, rate=0.001, norm=1.0, **values)


def test_lines_say_how_long_the_rest_takes(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    for done in (1, 2, 51, 100):
        lines.show(done, 100, "steps")
        clock.now += LINE_SECONDS - 1 if done == 1 else 2 * LINE_SECONDS
    assert capsys.readouterr().err.splitlines() == ["1/100  steps", "51/100  steps  0:00:28 left", "100/100  steps"]


def test_lines_count_the_time_of_each_task_by_itself(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    lines = Lines(clock)
    lines.show(0, 10, "pairs")
    clock.now += 3600
    for done in (1, 2):  # a resumed training begins somewhere
        lines.show(1000 + done, 2002, "steps")
        clock.now += LINE_SECONDS
    for done in (1, 1001):
        lines.show(done, 2002, "as many others")
        clock.now += LINE_SECONDS
    lines.show(3, None, "pairs of a pipe")
    assert capsys.readouterr().err.splitlines() == [
        "0/10  pairs",
        "1,001/2,002  steps",
        "1,002/2,002  steps  2:46:40 left",
        "1/2,002  as many others",
        "1,001/2,002  as many others  0:00:10 left",
        "3  pairs of a pipe",
    ]


def test_what_is_shown_of_updates_is_an_average_over_many() -> None:
    bar = Shown()
    view = TrainingView(bar)
    view.watch(Begun(step=0, steps=500, parameters=10, epoch_tokens=10, path="run"))  # type: ignore[arg-type]
    for step in range(1, 401):
        view.watch(updated(step, loss=3.0 + 2 * (step % 2), perplexity=10.0 ** (1 + step % 2), seconds=0.25))
    last = bar.texts[-1].split()
    assert last[:2] == ["400/500", "loss"]
    assert float(last[2]) == pytest.approx(4.0, abs=0.06)
    assert float(last[4]) == pytest.approx(10**1.5, rel=0.07)
    assert last[5:7] == ["4,000", "tokens/s"]
