"""`card.json`: where a run comes from, so that it can be repeated."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import headway

FORMAT = 1
PACKAGES = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu")


def make_card(command: Sequence[str], seed: int, data: Mapping[str, Any], vocabulary: str) -> dict[str, Any]:
    """A card for a run that begins now: `data` are the hashes of its files, `vocabulary` that of its tokenizers."""
    return {
        "format": FORMAT,
        "command": list(command),
        "seed": seed,
        "data": dict(data),
        "vocabulary": vocabulary,
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "commit": _commit(),
        "machine": machine(),
    }


def versions() -> dict[str, str]:
    """Of Headway, Python and the packages that results depend on."""
    found = {"headway": headway.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The hardware that a run is on."""
    import torch

    gpus = [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "gpus": gpus,
    }


def _processor() -> str:
    """The name of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _commit() -> str | None:
    """The commit of Headway's own source, if it runs from a clone."""
    clone = Path(__file__).parents[3]
    if not (clone / ".git").exists():  # installed, perhaps below a repository of somebody else's
        return None
    try:
        done = subprocess.run(
            ["git", "-C", str(clone), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None


def command_line() -> list[str]:
    """The command of this process, as one would type it."""
    return [Path(sys.argv[0]).name, *sys.argv[1:]]
