"""What the machine has for a process: memory, and how fast it multiplies matrices."""

import statistics
import time
from pathlib import Path
from typing import NamedTuple

import torch

from headway.nn.linear import multiply
from headway.nn.processor import is_onednn_faster

SIDE = 1024
"""Of the square matrices that are multiplied on a CPU: as large as those of a layer in training."""
SIDE_ON_GPU = 4096
CGROUP = Path("/sys/fs/cgroup")
"""Where Linux says what a container may use."""


class Memory(NamedTuple):
    """Bytes."""

    total: int
    available: int


def read_memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = CGROUP) -> Memory | None:
    """The memory of the machine, or of the container if that has less; nothing where the system does not tell."""
    try:
        fields = dict(line.split(":", 1) for line in meminfo.read_text(encoding="utf-8").splitlines())
        total, available = (int(fields[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError):
        return None
    try:
        limit = int((cgroup / "memory.max").read_text(encoding="utf-8"))
        used = int((cgroup / "memory.current").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return Memory(total, available)
    return Memory(min(total, limit), min(available, max(limit - used, 0)))


def product_library() -> str:
    """The library that multiplies large fp32 matrices on the CPU: oneDNN, or the one that torch was built with."""
    if is_onednn_faster():
        return "oneDNN"
    settings = torch.__config__.show().replace(",", " ").split()
    return next((each.partition("=")[2] for each in settings if each.startswith("BLAS_INFO=")), "unknown")


def product_rate(device: torch.device, dtype: torch.dtype, seconds: float) -> float:
    """Operations a second in products of matrices, a multiply-add as two: the median over about `seconds`."""
    side = SIDE if device.type == "cpu" else SIDE_ON_GPU
    left, right = (torch.ones(side, side, device=device, dtype=dtype) for _ in range(2))
    _seconds_of_product(left, right)  # the first one also starts threads and prepares kernels
    times: list[float] = []
    while sum(times) < seconds or not times:
        times.append(_seconds_of_product(left, right))
    return 2 * side**3 / statistics.median(times)


def _seconds_of_product(left: torch.Tensor, right: torch.Tensor) -> float:
    begin = time.perf_counter()
    multiply(left, right)[0, 0].item()  # reading a number waits for the GPU
    return time.perf_counter() - begin
