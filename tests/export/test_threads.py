"""The number of threads that answers a line soonest is the one that is chosen."""

import time
from pathlib import Path
from typing import Any

import pytest

from headway.export.threads import LENGTH, quickest_threads

NAMES = [f"t{number}" for number in range(9)]


class Models:
    """Models that take so many seconds for a line, by their threads; the clock is theirs."""

    def __init__(self, seconds: dict[int, int]) -> None:
        self.seconds = seconds
        self.now = 0.0
        self.asked: list[Any] = []

    def open(self, _: Path, device: str, workers: int, threads: int) -> "Models":
        assert (device, workers) == ("cpu", 1)
        self.threads = threads
        return self

    def translate_batch(self, lines: list[list[str]], **options: int) -> None:
        self.asked.append((lines, options))
        self.now += self.seconds[self.threads]


@pytest.mark.parametrize(
    ("cores", "seconds", "chosen"), [(2, {1: 1, 2: 6}, 1), (2, {1: 6, 2: 1}, 2), (64, {1: 6, 4: 1}, 4), (1, {}, 1)]
)
def test_the_quickest(
    cores: int, seconds: dict[int, int], chosen: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = Models(seconds)
    monkeypatch.setattr("headway.export.threads.open_model", models.open)
    monkeypatch.setattr(time, "perf_counter", lambda: models.now)
    assert quickest_threads(tmp_path, NAMES, 4, cores) == chosen
    for (line,), options in models.asked:
        assert len(line) == LENGTH
        assert set(line) <= set(NAMES)
        assert options == {"beam_size": 4, "min_decoding_length": LENGTH, "max_decoding_length": LENGTH}
