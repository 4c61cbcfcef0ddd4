"""Whole training updates of Headway against a plain loop around `torch.nn.Transformer`, on identical batches.

An update is forward, backward and Adam, dropout on. Ours is what `headway train` runs (the `Updater`); the loop is
what torch's documentation adds up to. Beside the rates stand the share of the GEMM rate that the same run measures, on
large squares and on the products of the model itself, the peak memory of each alone in its process, and batches in
random order, whose padding ours does not compute with.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable

import torch
import torch.nn.functional as F

from headway import build_model, load_config
from headway.config import Config
from headway.data.objectives import Seq2SeqBatch
from headway.nn import packing
from headway.nn.linear import multiply
from headway.text.specials import EOS, MASK, PAD
from headway.train.batches import Part, Share
from headway.train.loss import CHUNK
from headway.train.objective import Objective
from headway.train.optimizers import build_optimizer
from headway.train.precision import Precision
from headway.train.ranks import ALONE
from headway.train.update import Updater
from measure import interleave, machine, options, peak_memory, ratio, report
from model_speed import SMOOTHING, VOCABULARY, TorchTransformer, make_batches

Step = Callable[[Seq2SeqBatch], None]


def config_of(preset: str) -> Config:
    return load_config(preset, assignments=[f"model.vocabulary={VOCABULARY}", "model.dropout=0.1"])


def torch_loop(config: Config) -> Step:
    """The plain loop."""
    model = config.model
    module = TorchTransformer(model.layers, model.d_model, model.d_ff, model.heads, model.dropout).train()
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def step(batch: Seq2SeqBatch) -> None:
        optimizer.zero_grad()
        logits = module(batch.source, batch.target).flatten(0, 1)
        F.cross_entropy(logits, batch.answer.flatten(), ignore_index=PAD, label_smoothing=SMOOTHING).backward()
        optimizer.step()

    return step


def headway_update(config: Config) -> Step:
    """What `headway train` does with a batch."""
    model = build_model(config.model)
    objective = Objective(model, config.train)
    optimizer = build_optimizer(model, config.train)
    precision = Precision(config.machine, torch.device("cpu"))
    updater = Updater(objective, optimizer, precision, ALONE, config.train, print)

    def step(batch: Seq2SeqBatch) -> None:
        share = Share([Part(batch, [])], int((batch.answer != PAD).sum()))
        stats, _ = updater.gradient(share, step=1)
        updater.step(1e-4, stats.norm)

    return step


LOOPS = {"torch": torch_loop, "headway": headway_update}


def sorted_batches(count: int, tokens: int) -> list[Seq2SeqBatch]:
    return [Seq2SeqBatch(*batch) for batch in make_batches(count, tokens)]


def unsorted_batches(count: int, tokens: int) -> list[Seq2SeqBatch]:
    """Sentences of 4 to 40 tokens, as they come; more than half of the positions are padding."""
    random = torch.Generator().manual_seed(1)
    batches = []
    for _ in range(count):
        size = tokens // 41
        sides = []
        for _ in range(2):
            lengths = 4 + (36 * torch.rand(size, generator=random).square()).long()
            ids = torch.randint(MASK + 1, VOCABULARY, (size, 41), generator=random)
            ids[torch.arange(41) > lengths[:, None]] = PAD
            ids[torch.arange(size), lengths] = EOS
            sides.append(ids)
        source, answer = sides
        batches.append(Seq2SeqBatch(source, answer.roll(1, dims=1), answer))
    return batches


def gemm_rate(seconds: float = 1.0) -> float:
    """FLOP/s of square fp32 products, the best of several."""
    a, b, out = (torch.randn(2048, 2048) for _ in range(3))
    best, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        multiply(a, b, out=out)
        best = max(best, 2 * 2048**3 / (time.perf_counter() - start))
    return best


def products(config: Config, batches: list[Seq2SeqBatch]) -> Counter[tuple[int, int, int]]:
    """The products with weights on real tokens, as (rows, inner, columns), and how often; attention's own are left out.

    The forward product only: the backward pass has two more of the same size.
    """
    model = config.model
    width, inner = model.d_model, model.d_ff
    found: Counter[tuple[int, int, int]] = Counter()
    for batch in batches:
        sources, targets = (int((ids != PAD).sum()) for ids in (batch.source, batch.answer))
        for rows, squares in ((sources, 2), (targets, 4)):
            found[rows, width, width] += squares * model.layers
            found[rows, width, inner] += model.layers
            found[rows, inner, width] += model.layers
        found[sources, width, 2 * width] += 2 * model.layers  # keys and values: the encoder's own, and for the decoder
        found[targets, width, 2 * width] += model.layers
        for start in range(0, targets, CHUNK):
            found[min(CHUNK, targets - start), width, VOCABULARY] += 1
    return found


def flops(config: Config, batches: list[Seq2SeqBatch]) -> float:
    """Of these products, forward and backward."""
    return sum(6.0 * rows * k * columns * times for (rows, k, columns), times in products(config, batches).items())


def own_gemm_rate(config: Config, batches: list[Seq2SeqBatch], repeats: int = 5) -> float:
    """FLOP/s of these products alone, one after the other, each the best of several, by training's library."""
    seconds = 0.0
    for (rows, k, columns), times in products(config, batches).items():
        x, weight, gradient = torch.randn(rows, k), torch.randn(columns, k), torch.randn(rows, columns)
        for one, other in ((x, weight), (gradient, weight.T), (gradient.T, x.T)):
            out = torch.empty(len(one), len(other))  # ready memory, as a training has it after its first updates
            best = float("inf")
            for _ in range(repeats):
                start = time.perf_counter()
                multiply(one, other, out=out)
                best = min(best, time.perf_counter() - start)
            seconds += times * best
    return flops(config, batches) / seconds


def over(step: Step, batches: list[Seq2SeqBatch]) -> Callable[[], None]:
    def run() -> None:
        for batch in batches:
            step(batch)

    return run


def compare(preset: str, rounds: int, batches: list[Seq2SeqBatch], steps: int) -> str:
    """One row: rates, their ratio, the share of the GEMM rate, and peak memory."""
    config = config_of(preset)
    tokens = sum(int((batch.answer != PAD).sum()) for batch in batches)
    torch.manual_seed(1)
    variants = {name: over(loop(config), batches) for name, loop in LOOPS.items()}
    squares, own = [gemm_rate()], [own_gemm_rate(config, batches)]
    seconds = interleave(variants, rounds)
    squares.append(gemm_rate())
    own.append(own_gemm_rate(config, batches))
    rates = {name: statistics.median(tokens / s for s in times) for name, times in seconds.items()}
    reached = flops(config, batches) / statistics.median(seconds["headway"])
    peaks = {name: in_a_process(name, preset, steps) / 2**20 for name in LOOPS}
    shares = " | ".join(f"{reached / max(rate):.0%} of {max(rate) / 1e9:,.0f}" for rate in (squares, own))
    return (
        f"| {preset} | {rates['torch']:,.0f} | {rates['headway']:,.0f} "
        f"| {spread(seconds['torch'], seconds['headway'])} | {shares} "
        f"| {peaks['torch']:,.0f} | {peaks['headway']:,.0f} |"
    )


def compare_unsorted(preset: str, rounds: int, batches: list[Seq2SeqBatch], in_order: list[Seq2SeqBatch]) -> str:
    """Batches in random order: the plain loop, ours without packing and with it; and ours on sorted batches."""
    config = config_of(preset)
    tokens = sum(int((batch.answer != PAD).sum()) for batch in batches)
    sorted_tokens = sum(int((batch.answer != PAD).sum()) for batch in in_order)
    padding = 1 - tokens / sum(batch.answer.numel() for batch in batches)
    worthwhile = packing.WORTHWHILE
    torch.manual_seed(1)
    step = headway_update(config)
    packed = over(step, batches)

    def padded() -> None:
        packing.WORTHWHILE = 1.0  # never
        packed()
        packing.WORTHWHILE = worthwhile

    plain = over(torch_loop(config), batches)
    seconds = interleave({"plain": plain, "padded": padded, "packed": packed, "sorted": over(step, in_order)}, rounds)
    rates = {name: statistics.median(tokens / s for s in times) for name, times in seconds.items()}
    rates["sorted"] *= sorted_tokens / tokens
    return (
        f"| {preset} | {padding:.0%} | {' | '.join(f'{rate:,.0f}' for rate in rates.values())} "
        f"| {spread(seconds['plain'], seconds['packed'])} | {spread(seconds['padded'], seconds['packed'])} |"
    )


def spread(slower: list[float], faster: list[float]) -> str:
    median, least, most = ratio(slower, faster)
    return f"{median:.2f} ({least:.2f} to {most:.2f})"


def in_a_process(name: str, preset: str, steps: int) -> float:
    """The peak memory of a few updates, alone."""
    command = [sys.executable, __file__, "--alone", name, preset, str(steps)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    return json.loads(result.stdout)["peak"]


def alone(name: str, preset: str, steps: str) -> None:
    run = over(LOOPS[name](config_of(preset)), sorted_batches(int(steps), 4096))
    run()
    print(json.dumps({"peak": peak_memory()}))


def main() -> None:
    if sys.argv[1:2] == ["--alone"]:
        alone(*sys.argv[2:])
        return
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, default=3, help="batches a round")
    parser.add_argument("--tokens", type=int, default=4096, help="target tokens a batch, padding counted")
    parser.add_argument("--presets", nargs="+", default=["small", "base"])
    arguments = parser.parse_args()
    count, tokens, rounds = arguments.batches, arguments.tokens, arguments.rounds
    preloaded = os.environ.get("LD_PRELOAD") or "the system's"
    lines = [
        f"Updates (forward, backward, Adam), fp32, dropout 0.1, V = {VOCABULARY:,}, {count} batches of at most "
        f"{tokens:,} target tokens a round, {rounds} rounds in turns; allocator: {preloaded.rpartition('/')[2]}.",
        "",
        "| preset | plain loop, target tokens/s | headway, target tokens/s | times as fast: median (least to most) "
        "| share of the GEMM rate, GFLOP/s: large squares | the model's own products "
        "| peak MiB, plain loop | headway |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print(machine())
    batches = sorted_batches(count, tokens)
    for preset in arguments.presets:
        lines.append(compare(preset, rounds, batches, 2))
        print(lines[-1], flush=True)
    lines += [
        "",
        "Batches in random order:",
        "",
        "| preset | padding | plain loop, target tokens/s | headway without packing | headway "
        "| headway, sorted batches | times the plain loop | times without packing |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines.append(compare_unsorted(arguments.presets[0], rounds, unsorted_batches(count, tokens), batches))
    print(lines[-1], flush=True)
    report("train_speed", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
