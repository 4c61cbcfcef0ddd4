"""Chance in sacreBLEU's tests: its seed, and how many samples fit into memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from headway.errors import UserError

SEED = 12345
"""sacreBLEU's own default: our intervals are those of its command line."""

MOST_BYTES = 800_000_000
"""What the samples may take: sacreBLEU draws all at once."""

BYTES_TO_DRAW = 80
"""What a line takes in a sample of a bootstrap, as measured with chrF, which counts most."""

BYTES_TO_SWAP = 10
"""What a line takes in a shuffle of two systems."""

FEWEST_SAMPLES = 40
"""With fewer, 95% of the samples are all of them, and no interval can be cut off."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let sacreBLEU draw with `seed`, which it takes from the environment and nowhere else."""
    if seed < 1:
        raise UserError(f"seed is {seed}; expected 1 or more, since sacreBLEU draws without a seed when it is 0")
    name = "SACREBLEU_SEED"
    before = os.environ.get(name)
    os.environ[name] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def affordable_samples(samples: int, lines: int, bytes_each: int = BYTES_TO_DRAW) -> int:
    """At most `samples`, fewer for very many lines, 0 if too few would be left to say anything."""
    if samples and samples < FEWEST_SAMPLES:
        raise UserError(f"samples is {samples}; expected at least {FEWEST_SAMPLES}, or 0 to draw none")
    affordable = min(samples, MOST_BYTES // bytes_each // lines)
    return affordable if affordable >= FEWEST_SAMPLES else 0
