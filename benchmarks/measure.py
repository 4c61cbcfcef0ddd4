"""What the benchmarks share: fair timing, the machine's name, and where results are kept.

Machines drift, so variants are timed in turns within one process, round after round, and compared by the
median over rounds of the ratio within a round. One absolute time says little.
"""

import argparse
import datetime
import os
import platform
import re
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

RESULTS = Path(__file__).parent / "results"


def interleave(variants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each variant in each round, after one call to warm up."""
    for run in variants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(slower: list[float], faster: list[float]) -> tuple[float, float, float]:
    """How many times `faster` is faster: the median over rounds, the least and the most."""
    ratios = [a / b for a, b in zip(slower, faster, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


def peak_memory() -> int:
    """The most bytes that this process has held so far.

    Read from /proc where there is one: `getrusage` also counts what the parent held when it forked.
    """
    status = Path("/proc/self/status")
    if status.exists() and (found := re.search(r"VmHWM:\s*(\d+) kB", status.read_text())):
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def peak_memory_of_children() -> int:
    """The most bytes that the largest process that this one started and waited for has held."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def machine() -> str:
    """Processor, cores, versions: one line."""
    return (
        f"{processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, "
        f"{torch.backends.cpu.get_cpu_capability()}, Python {platform.python_version()}, torch {torch.__version__}"
    )


def processor() -> str:
    """Its name and, as different ones have the same name, its family and model where they are known."""
    info = Path("/proc/cpuinfo")
    facts = dict(re.findall(r"^(\w[\w ]*?)\s*:\s*(.+)$", info.read_text(), re.MULTILINE)) if info.exists() else {}
    name = facts.get("model name") or platform.processor() or platform.machine()
    numbers = [f"{key.removeprefix('cpu ')} {facts[key]}" for key in ("cpu family", "model") if key in facts]
    return f"{name} ({' '.join(numbers)})" if numbers else name


def options(description: str) -> argparse.ArgumentParser:
    """A parser with the option that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--save", action="store_true", help="keep the report in benchmarks/results/")
    return parser


def report(name: str, text: str, *, save: bool) -> None:
    """Print a report; keep it in the file of this date and machine if asked to."""
    print(f"\n{text}")
    if save:
        today = datetime.date.today().isoformat()
        slug = re.sub(r"[^a-z0-9]+", "-", machine().split(", Python")[0].lower()).strip("-")
        path = RESULTS / f"{today}-{slug}.md"
        RESULTS.mkdir(exist_ok=True)
        sections = read_sections(path)
        sections[name] = text.strip()
        body = "\n\n".join(f"## {title}\n\n{sections[title]}" for title in sorted(sections))
        path.write_text(f"# {today}\n\n{machine()}\n\n{body}\n", encoding="utf-8")
        print(f"\nsaved in {path}")


def read_sections(path: Path) -> dict[str, str]:
    """The reports of a results file, by their titles."""
    if not path.exists():
        return {}
    parts = re.split(r"^## (.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {title: text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)}
