"""How many threads translate a single line soonest: tried out, because processors differ.

With two threads a line of a small model took less than half of the time on one machine, and nearly twice on another.
"""

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headway.export.engine import open_model
from headway.text.specials import SPECIAL_TOKENS

MOST_THREADS = 4
"""More do not pay for the products of one line."""
LENGTH = 12
"""Tokens of the line that is tried, and of its translation."""
TRIALS = 3


def quickest_threads(directory: Path, names: Sequence[str], beam: int, cores: int) -> int:
    """The number of threads with which a converted model, whose tokens have these names, answers a line soonest."""
    choices = sorted({1, min(MOST_THREADS, cores)})
    if len(choices) == 1:
        return 1
    line = [names[len(SPECIAL_TOKENS) + place % (len(names) - len(SPECIAL_TOKENS))] for place in range(LENGTH)]
    return min(choices, key=lambda threads: line_seconds(open_model(directory, "cpu", 1, threads), line, beam))


def line_seconds(model: Any, line: list[str], beam: int) -> float:
    """How long a model takes for a line, once it has warmed up."""
    seconds = []
    for _ in range(1 + TRIALS):
        start = time.perf_counter()
        model.translate_batch([line], beam_size=beam, min_decoding_length=LENGTH, max_decoding_length=LENGTH)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])
