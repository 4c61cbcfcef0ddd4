"""Preparing and loading data: memory that does not grow with the corpus, rates, time to the first batch, padding.

Sentences are generated, and written to files before anything is measured. Each measurement of memory has a process of
its own, and counts the processes that it starts. `--corpus SOURCE TARGET` adds a real corpus.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np

from headway import build_model, load_config
from headway.data.loader import START, Loader, Position
from headway.data.objectives import translation
from headway.data.plan import plan_epoch
from headway.data.prepared import Prepared, Rules, prepare
from headway.text.corpus import AlignedFiles, Pair
from headway.text.learn import default_vocabulary, learn_tokenizer
from headway.text.tokenizer import Tokenizer
from headway.train.loss import output_loss
from measure import interleave, machine, options, peak_memory, peak_memory_of_children, ratio, report

TOKENS = 4096


def generated(count: int) -> Iterator[Pair]:
    """Pairs of sentences of 3 to 25 words, frequent and rare ones, as many as asked for."""
    chance = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvkjxqz"
    words = ["".join(chance.choices(letters, range(26, 0, -1), k=chance.randint(2, 9))) for _ in range(20_000)]
    often = [1 / rank for rank in range(1, len(words) + 1)]
    stock = chance.choices(words, often, k=1_000_000)
    for _ in range(count):
        at = chance.randrange(len(stock) - 60)
        length = chance.randint(3, 25)
        yield Pair(
            " ".join(stock[at : at + length]), " ".join(stock[at + 30 : at + 30 + length + chance.randint(-2, 2)])
        )


def write_generated(count: int, directory: Path) -> AlignedFiles:
    """The files of as many pairs; written once."""
    files = directory / f"{count}.source", directory / f"{count}.target"
    if not files[0].exists():
        with files[0].open("w", encoding="utf-8") as sources, files[1].open("w", encoding="utf-8") as targets:
            for source, target in generated(count):
                sources.write(source + "\n")
                targets.write(target + "\n")
    return AlignedFiles((files[0],), (files[1],))


def prepare_anew(corpus: AlignedFiles, directory: Path, tokenizer: Tokenizer, processes: int | None = None) -> Prepared:
    origin = {"at": time.time()}
    return prepare(corpus, (tokenizer, tokenizer), directory, Rules(256), origin=origin, processes=processes)


def in_a_process(task: str, *arguments: object, **environment: str) -> dict[str, float]:
    """Run one measurement alone; it prints its numbers as JSON."""
    command = [sys.executable, __file__, "--task", task, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return json.loads(result.stdout)


def task_prepare(directory: str, count: str, processes: str, out: str) -> dict[str, float]:
    """Seconds to prepare with this many processes, 0 for as many as are useful, and the most bytes all of them held."""
    tokenizer = Tokenizer.from_json((Path(directory) / "tokenizer.json").read_text(encoding="utf-8"))
    corpus = write_generated(int(count), Path(directory))
    start = time.perf_counter()
    prepare_anew(corpus, Path(directory) / out, tokenizer, int(processes) or None)
    return {"seconds": time.perf_counter() - start, "peak": peak_memory() + os.cpu_count() * peak_memory_of_children()}


def task_iterate(directory: str, count: str, batches: str) -> dict[str, float]:
    """From opening the corpus: seconds to the first batch, and to one in the middle; then many batches."""
    seconds = {}
    for name, where in (("first", START), ("middle", None)):
        start = time.perf_counter()
        prepared = Prepared(Path(directory) / count)
        loader = Loader(prepared, lambda rows: translation(rows.pairs), tokens=TOKENS, seed=1)
        if where is None:
            where = Position(3, len(plan_epoch(prepared.cells, TOKENS, 1, 3)) // 2)
        running = loader.batches(where)
        next(running)
        seconds[name] = time.perf_counter() - start
        if name == "first":
            running.close()
    start = time.perf_counter()
    tokens = sum(int((batch.answer != 0).sum()) for batch, _ in islice(running, int(batches)))
    rate = tokens / (time.perf_counter() - start)
    running.close()
    return {**seconds, "rate": rate, "peak": peak_memory()}


def measure_memory(directory: Path, counts: list[int]) -> list[str]:
    lines = [
        "| pairs | preparing: pairs/s | peak MiB of all processes | iterating: first batch, s | middle of epoch 3, s | "
        "target tokens/s | peak MiB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for count in counts:
        write_generated(count, directory)
        made = in_a_process("prepare", directory, count, 0, count)
        read = in_a_process("iterate", directory, count, 2000)
        lines.append(
            f"| {count:,} | {count / made['seconds']:,.0f} | {made['peak'] / 2**20:,.0f} | {read['first']:.2f} "
            f"| {read['middle']:.2f} | {read['rate']:,.0f} | {read['peak'] / 2**20:,.0f} |"
        )
        print(lines[-1], flush=True)
    return lines


def measure_cores(directory: Path, count: int, rounds: int) -> list[str]:
    """Preparing in one process and on all cores, in turns; and one process a core, each for itself, at the same time.

    The last ones share nothing, so that no program could use the cores of this machine better.
    """
    size, cores = megabytes(write_generated(count, directory)), os.cpu_count() or 1

    def prepare_alone(processes: int, out: str = "rate") -> float:
        return in_a_process("prepare", directory, count, processes, out)["seconds"]

    seconds: dict[str, list[float]] = {"one process": [], "all cores": [], "apart": []}
    for _ in range(rounds):
        seconds["one process"].append(prepare_alone(1))
        seconds["all cores"].append(prepare_alone(0))
        with ThreadPoolExecutor(cores) as pool:
            copies = list(pool.map(lambda copy: prepare_alone(1, f"copy-{copy}"), range(cores)))
        seconds["apart"].append(statistics.mean(copies) / cores)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    rates = ", ".join(
        f"{name} {count / medians[name]:,.0f} pairs/s, {size / medians[name]:.1f} MB/s"
        for name in ("one process", "all cores")
    )
    return [
        f"Preparing {count:,} pairs, {size:.0f} MB, with a given tokenizer, {rounds} rounds in turns: {rates}; "
        f"{spread(seconds['one process'], seconds['all cores'])} times as fast. {cores} single processes at the same "
        f"time, each with all of it: {spread(seconds['one process'], seconds['apart'])} times one, which is what the "
        "cores have to give."
    ]


def measure_against_sentencepiece(corpus: AlignedFiles, directory: Path, rounds: int) -> list[str]:
    """Learning 8,000 pieces and preparing, beside sentencepiece's learning and encoding of the same text."""
    import sentencepiece

    size, pairs = megabytes(corpus), sum(1 for _ in corpus)

    def ours() -> None:
        tokenizer = learn_tokenizer((side for pair in corpus for side in pair), "bpe", 8000)
        prepare_anew(corpus, directory / "rate", tokenizer)

    def theirs() -> None:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(side for pair in corpus for side in pair),
            model_prefix=str(directory / "spm"),
            vocab_size=8000,
            model_type="bpe",
            num_threads=os.cpu_count(),
            minloglevel=2,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=str(directory / "spm.model"))
        model.encode([side for pair in corpus for side in pair], num_threads=os.cpu_count())

    seconds = interleave({"headway": ours, "sentencepiece": theirs}, rounds)
    rates = ", ".join(
        f"{name} {pairs / statistics.median(times):,.0f} pairs/s, {size / statistics.median(times):.1f} MB/s"
        for name, times in seconds.items()
    )
    return [
        f"{corpus.sources[0].name}, {pairs:,} pairs, {size:.1f} MB, learning 8,000 pieces and preparing, against "
        f"learning and encoding in memory, {rounds} rounds in turns: {rates}; "
        f"{spread(seconds['sentencepiece'], seconds['headway'])} times as fast."
    ]


def megabytes(corpus: AlignedFiles) -> float:
    return sum(len(side.encode()) for pair in corpus for side in pair) / 1e6


def spread(slower: list[float], faster: list[float]) -> str:
    median, least, most = ratio(slower, faster)
    return f"{median:.2f} ({least:.2f} to {most:.2f})"


def measure_loader(prepared: Prepared, rounds: int) -> list[str]:
    """Target tokens a second that the loader gives, and that preset `tiny` is trained on, forward and backward."""
    model = build_model(load_config("tiny", assignments=["model.vocabulary=8000"]).model).train()
    running = Loader(prepared, lambda rows: translation(rows.pairs), tokens=TOKENS, seed=1).batches()
    trained = [batch for batch, _ in islice(running, 4)]
    loaded: list[int] = []

    def load() -> None:
        loaded.append(sum(int((batch.answer != 0).sum()) for batch, _ in islice(running, 200)))

    def train() -> None:
        for batch in trained:
            model.zero_grad(set_to_none=True)
            states, _ = model.states(batch.source, batch.target)
            loss = output_loss(states, model.output.weight, batch.answer, 0.1)
            (loss.smoothed / loss.tokens).backward()

    seconds = interleave({"load": load, "train": train}, rounds)
    running.close()
    given = [tokens / s for tokens, s in zip(loaded[1:], seconds["load"], strict=True)]
    used = [sum(int((batch.answer != 0).sum()) for batch in trained) / s for s in seconds["train"]]
    return [
        f"Loader: {statistics.median(given):,.0f} target tokens/s; preset tiny, V = 8,000, forward and backward: "
        f"{statistics.median(used):,.0f}; {spread(given, used)} times as many ({rounds} rounds in turns)."
    ]


def measure_padding(source: Path, target: Path, directory: Path) -> list[str]:
    corpus = AlignedFiles((source,), (target,))
    tokenizer = learn_tokenizer(
        (side for pair in corpus for side in pair), size=default_vocabulary(sum(1 for _ in corpus))
    )
    prepared = prepare_anew(corpus, directory / "real", tokenizer)
    shares = []
    for epoch in range(3):
        plan = plan_epoch(prepared.cells, TOKENS, 1, epoch)
        batches = (prepared.numbers(plan.places(number)) for number in range(len(plan)))
        made = [translation([prepared[n] for n in numbers]) for numbers in batches]
        full = sum(batch.source.numel() + batch.answer.numel() for batch in made)
        real = sum(int((batch.source != 0).sum() + (batch.answer != 0).sum()) for batch in made)
        shares.append(1 - real / full)
    return [
        f"Padding of {source.name}, {target.name} at {TOKENS:,} tokens: {np.mean(shares):.1%} of all tokens (3 epochs)."
    ]


def measure(arguments: Namespace, directory: Path) -> list[str]:
    """All of it; each part is printed as it comes."""
    tokenizer = learn_tokenizer((side for pair in generated(50_000) for side in pair), "bpe", 8000)
    (directory / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
    rounds = arguments.rounds
    corpora = [write_generated(arguments.rate_pairs, directory)]
    if arguments.corpus:
        corpora.append(AlignedFiles(*((path,) for path in arguments.corpus)))
    lines = []
    for corpus in corpora:
        lines += [*measure_against_sentencepiece(corpus, directory, rounds), ""]
        print(lines[-2], flush=True)
    lines += [*measure_loader(prepare_anew(corpora[0], directory / "loaded", tokenizer), rounds), ""]
    print(lines[-2], flush=True)
    lines += [*measure_cores(directory, arguments.cores_pairs, rounds), ""]
    print(lines[-2], flush=True)
    if arguments.corpus:
        lines += [*measure_padding(*arguments.corpus, directory), ""]
    return [*lines, *measure_memory(directory, arguments.pairs)]


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--rate-pairs", type=int, default=200_000)
    parser.add_argument("--cores-pairs", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--corpus", type=Path, nargs=2, metavar=("SOURCE", "TARGET"))
    parser.add_argument("--task", nargs="+", help="only one measurement, for this program's own use")
    arguments = parser.parse_args()
    if arguments.task:
        name, *rest = arguments.task
        print(json.dumps({"prepare": task_prepare, "iterate": task_iterate}[name](*rest)))
        return
    print(machine())
    directory = Path(tempfile.mkdtemp())
    try:
        lines = measure(arguments, directory)
    finally:
        shutil.rmtree(directory)
    report("data", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
