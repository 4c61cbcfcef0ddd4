"""Time and peak memory of attention, forward and backward, as the sequence grows: dense against restricted.

Dense is torch's fused kernel. Restricted attention sees r positions: a window, a dilated window, and strided
positions with a global one. Times are taken in turns in one process, memory in a process for each point.
"""

import statistics
import subprocess
import sys
from functools import partial

import torch
from torch import Tensor

from headway.nn.attention import attend
from headway.nn.masks import Band, Full, Pattern
from measure import interleave, machine, options, peak_memory, ratio, report

HEADS, WIDTH = 8, 64


def patterns(r: int) -> dict[str, Pattern]:
    return {
        "dense": Full(),
        "window": Band(r),
        "dilated": Band(r, dilation=8),
        "strided": Band(r, dilation=16, global_positions=1),
        "causal window": Band(r, causal=True),
    }


def inputs(length: int) -> list[Tensor]:
    """Queries, keys, values, as a projection leaves them, heads interleaved in memory; and the output's gradient."""
    generator = torch.Generator().manual_seed(1)
    shape = (1, length, HEADS, WIDTH)
    return [torch.randn(shape, generator=generator).transpose(1, 2).requires_grad_() for _ in range(4)]


def run(tensors: list[Tensor], pattern: Pattern) -> None:
    *tensors, gradient = tensors
    mixed, _ = attend(*tensors, pattern=pattern)
    torch.autograd.grad(mixed, tensors, gradient)


def measure_memory(length: int, name: str, r: int) -> float:
    """MiB above inputs and program at the peak, seen from a fresh process."""
    command = [sys.executable, __file__, "--memory-of", name, "--lengths", str(length), "--r", str(r)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def print_memory(length: int, name: str, r: int) -> None:
    run(inputs(64), patterns(r)[name])  # what the first call loads does not count
    tensors = inputs(length)
    before = peak_memory()
    run(tensors, patterns(r)[name])
    print((peak_memory() - before) / 2**20)


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--r", type=int, default=128, help="positions that restricted attention sees")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory-of", metavar="NAME", help="only print the peak memory of one variant")
    arguments = parser.parse_args()
    if arguments.memory_of:
        print_memory(arguments.lengths[0], arguments.memory_of, arguments.r)
        return
    print(machine())
    names = patterns(arguments.r)
    lines = [
        f"Forward + backward, fp32, batch 1, {HEADS} heads of width {WIDTH}, r = {arguments.r}, "
        f"{arguments.rounds} rounds in turns. Each cell: median ms, MiB at the peak, and how many times as fast as "
        "dense (median over rounds).",
        "",
        f"| n | {' | '.join(names)} |",
        f"| --- |{' --- |' * len(names)}",
    ]
    medians: dict[int, dict[str, tuple[float, float]]] = {}
    for length in arguments.lengths:
        tensors = inputs(length)
        seconds = interleave(
            {name: partial(run, tensors, pattern) for name, pattern in names.items()}, arguments.rounds
        )
        memory = {name: measure_memory(length, name, arguments.r) for name in names}
        medians[length] = {name: (statistics.median(seconds[name]), memory[name]) for name in names}
        cells = [
            f"{medians[length][name][0] * 1000:,.1f} ms, {memory[name]:,.0f} MiB, "
            f"x {ratio(seconds['dense'], seconds[name])[0]:.1f}"
            for name in names
        ]
        lines.append(f"| {length:,} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    *_, shorter, longer = arguments.lengths
    growth = [
        f"{name} {medians[longer][name][0] / medians[shorter][name][0]:.2f} / "
        f"{medians[longer][name][1] / medians[shorter][name][1]:.2f}"
        for name in names
    ]
    lines += ["", f"Growth from {shorter:,} to {longer:,} (time / memory): {', '.join(growth)}."]
    report("attention_length", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
