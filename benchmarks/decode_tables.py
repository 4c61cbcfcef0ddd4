"""The tables of decode_speed.py, from what was measured."""

import statistics
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from decode_processes import Measurement
from headway.export.engine import PATIENCE
from headway.processes import usable_cores
from measure import ratio

BEAMS = {4: "Beam 4", 1: "Greedy"}
Measured = dict[int, dict[str, Measurement]]
"""By beam and name of the row."""
Seconds = Callable[[Measurement], list[list[float]]]
"""What is compared: the times of the same calls, in each round."""

CORES = usable_cores()
TORCH = f"headway torch, {CORES} x 1"
HASTY = ", patience 1"
"""Rows of ours that stop as early as CTranslate2 does by itself."""
TYPED = ", as if typed"
"""Rows of ours that are made for single lines."""
TOKENS = "from tokens: "
"""Rows of CTranslate2 that are spared the text."""
WORKERS = f"CTranslate2 fp32, {CORES} x 1"
SIZED = ", batches of "
"""Rows with batches of another size than most."""
OWN = f"{SIZED}its own"
"""Rows of our torch engine with batches as large as it makes them if nothing is set."""
PATIENT = f", patience {PATIENCE}"
"""Rows of CTranslate2 that are as patient as our engine of it."""
GENERATE = f"HF generate, 1 x {CORES}"


def in_batches(found: Measurement) -> list[list[float]]:
    """Of all sentences, one call a round."""
    return [[seconds] for seconds in found.seconds]


def one_by_one(found: Measurement) -> list[list[float]]:
    """Of single sentences."""
    return found.latencies


def table(of_row: Mapping[str, Measurement]) -> Iterator[str]:
    """A line a row: medians over the rounds, and ratios within them."""
    references = [name for name in (GENERATE, WORKERS) if name in of_row]
    yield (
        "| engine, workers x threads | sentences/s | tokens/s | one by one: p50 ms | p95 ms | peak MiB | loading, s "
        f"| same text as the first | {' | '.join(f'times {name}' for name in references)} |"
    )
    yield f"| --- |{' --- |' * (7 + len(references))}"
    first = next(iter(of_row.values()))
    for name, found in of_row.items():
        latencies = statistics.quantiles((each * 1000 for each in chain(*found.latencies)), n=20)
        same = statistics.mean(ours == theirs for ours, theirs in zip(found.texts, first.texts, strict=True))
        seconds = statistics.median(found.seconds)
        cells = [
            f"{len(found.texts) / seconds:.1f}",
            f"{found.tokens / seconds:,.0f}",
            f"{latencies[9]:.1f}",
            f"{latencies[18]:.1f}",
            f"{found.peak / 2**20:,.0f}",
            f"{found.start:.1f}",
            f"{same:.1%}",
            *(spread(of_row[reference], found, in_batches) for reference in references),
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def comparisons(measured: Measured) -> Iterator[str]:
    """What is asked of our engines, and what was measured."""
    yield "| | ours | theirs | times as fast: median (least to most) | asked for |"
    yield "| --- | --- | --- | --- | --- |"
    for beam, of_row in measured.items():
        for ours, theirs, of, least in asked(beam, of_row):
            if theirs in of_row:
                manner = "one by one" if of is one_by_one else "in batches"
                times = spread(of_row[theirs], of_row[ours], of)
                yield f"| {BEAMS[beam]}, {manner} | {ours} | {theirs} | {times} | {least} |"


def asked(beam: int, of_row: Mapping[str, Measurement]) -> Iterator[tuple[str, str, Seconds, float]]:
    """Our row, the other, what is compared, and how many times as fast ours should be at least."""
    hasty = HASTY if beam > 1 else ""
    least = 0.9 if beam > 1 else 0.75
    yield TORCH, WORKERS, in_batches, least
    yield f"{TORCH}{OWN}{hasty}", fastest(of_row, WORKERS, in_batches), in_batches, least
    if beam > 1:
        yield TORCH, GENERATE, in_batches, 2.2
        yield f"{TORCH}{HASTY}", WORKERS, in_batches, 0.9
        yield TORCH, f"{WORKERS}{PATIENT}", in_batches, 0.9
    yield fastest(of_row, "headway torch", one_by_one), GENERATE, one_by_one, 1.5
    for kind in ("fp32", "int8"):
        ours, theirs = f"headway ctranslate2 {kind}", f"CTranslate2 {kind}"
        yield ours, f"{theirs}, default", in_batches, 1.5
        yield f"{ours}{hasty}", fastest(of_row, theirs, in_batches), in_batches, 1.0
        yield f"{ours}{TYPED}{hasty}", fastest(of_row, theirs, one_by_one), one_by_one, 0.95
        if beam > 1:
            yield f"{ours}{HASTY}", f"{theirs}, default", in_batches, 1.5
            yield ours, fastest(of_row, f"{theirs}, {CORES} x 1{PATIENT}", in_batches), in_batches, 1.0


def fastest(of_row: Mapping[str, Measurement], beginning: str, of: Seconds) -> str:
    """The row with the lowest median among those whose names begin so; single lines have no batches of any size."""
    names = [name for name in of_row if name.startswith(beginning) and (of is in_batches or SIZED not in name)]
    return min(names, key=lambda name: statistics.median(chain(*of(of_row[name]))))


def spread(slower: Measurement, faster: Measurement, of: Seconds) -> str:
    """How many times as fast: of a round, the median over its calls; of these, the median (least to most)."""
    rounds = [ratio(*calls)[0] for calls in zip(of(slower), of(faster), strict=True)]
    return f"{statistics.median(rounds):.2f} ({min(rounds):.2f} to {max(rounds):.2f})"
