"""Preparing and loading data: memory that does not grow with the corpus, rates, time to the first batch, padding.

Sentences are generated on the fly. Each measurement of memory has a process of its own. `--corpus SOURCE TARGET` adds
the padding of a real corpus.
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
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from headway.data.loader import START, Loader, Position
from headway.data.objectives import translation
from headway.data.plan import plan_epoch
from headway.data.prepared import Prepared, Rules, prepare
from headway.text.corpus import AlignedFiles, Pair
from headway.text.learn import default_vocabulary, learn_tokenizer
from headway.text.tokenizer import Tokenizer
from measure import interleave, machine, options, peak_memory, ratio, report

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


def prepare_generated(count: int, directory: Path, tokenizer: Tokenizer) -> Prepared:
    encode = tokenizer.encode_batch
    origin = {"generated": count, "at": time.time()}
    return prepare(generated(count), (encode, encode), directory, Rules(256), vocabulary=len(tokenizer), origin=origin)


def in_a_process(task: str, *arguments: object, **environment: str) -> dict[str, float]:
    """Run one measurement alone; it prints its numbers as JSON."""
    command = [sys.executable, __file__, "--task", task, *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **environment})
    return json.loads(result.stdout)


def task_prepare(directory: str, count: str) -> dict[str, float]:
    tokenizer = Tokenizer.from_json((Path(directory) / "tokenizer.json").read_text(encoding="utf-8"))
    start = time.perf_counter()
    prepare_generated(int(count), Path(directory) / count, tokenizer)
    return {"seconds": time.perf_counter() - start, "peak": peak_memory()}


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
        "| pairs | preparing: pairs/s | peak MiB | iterating: first batch, s | in the middle of epoch 3, s | "
        "target tokens/s | peak MiB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for count in counts:
        made = in_a_process("prepare", directory, count)
        read = in_a_process("iterate", directory, count, 2000)
        lines.append(
            f"| {count:,} | {count / made['seconds']:,.0f} | {made['peak'] / 2**20:,.0f} | {read['first']:.2f} "
            f"| {read['middle']:.2f} | {read['rate']:,.0f} | {read['peak'] / 2**20:,.0f} |"
        )
        print(lines[-1], flush=True)
    return lines


def measure_rates(directory: Path, count: int, rounds: int) -> list[str]:
    """Preparing on all cores, on one, and sentencepiece's learning and encoding of the same text."""
    import sentencepiece

    text = [side for pair in generated(count) for side in pair]
    size = sum(len(line.encode()) for line in text) / 1e6

    def ours() -> None:
        tokenizer = learn_tokenizer(text, "bpe", 8000)
        pairs = (Pair(*two) for two in zip(text[::2], text[1::2], strict=True))
        encode = tokenizer.encode_batch
        origin = {"at": time.time()}
        prepare(pairs, (encode, encode), directory / "rate", Rules(256), vocabulary=len(tokenizer), origin=origin)

    def theirs() -> None:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text),
            model_prefix=str(directory / "spm"),
            vocab_size=8000,
            model_type="bpe",
            num_threads=os.cpu_count(),
            minloglevel=2,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=str(directory / "spm.model"))
        model.encode(text, num_threads=os.cpu_count())

    seconds = interleave({"ours": ours, "theirs": theirs}, rounds)
    workers = {
        name: [in_a_process("prepare", directory, count, TOKENIZERS_PARALLELISM=flag)["seconds"] for _ in range(rounds)]
        for name, flag in (("all", "true"), ("one", "false"))
    }
    rate = {name: statistics.median(size / s for s in times) for name, times in {**seconds, **workers}.items()}
    return [
        f"{count:,} pairs, {size:.0f} MB, {rounds} rounds:",
        f"- preparing with a given tokenizer: {rate['all']:.1f} MB/s on all cores, {rate['one']:.1f} MB/s on one, "
        f"{ratio(workers['one'], workers['all'])[0]:.2f} times as fast",
        f"- learning 8,000 pieces and preparing: {rate['ours']:.1f} MB/s; sentencepiece, learning and encoding in "
        f"memory: {rate['theirs']:.1f} MB/s; {ratio(seconds['theirs'], seconds['ours'])[0]:.2f} times as fast",
    ]


def measure_padding(source: Path, target: Path, directory: Path) -> list[str]:
    corpus = AlignedFiles((source,), (target,))
    tokenizer = learn_tokenizer(
        (side for pair in corpus for side in pair), size=default_vocabulary(sum(1 for _ in corpus))
    )
    encode = tokenizer.encode_batch
    prepared = prepare(
        corpus, (encode, encode), directory / "real", Rules(256), vocabulary=len(tokenizer), origin={"at": time.time()}
    )
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


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[100_000, 10_000_000])
    parser.add_argument("--rate-pairs", type=int, default=200_000)
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
        tokenizer = learn_tokenizer((side for pair in generated(50_000) for side in pair), "bpe", 8000)
        (directory / "tokenizer.json").write_text(tokenizer.to_json(), encoding="utf-8")
        lines = measure_rates(directory, arguments.rate_pairs, arguments.rounds)
        print("\n".join(lines), flush=True)
        if arguments.corpus:
            lines += ["", *measure_padding(*arguments.corpus, directory)]
        lines += ["", *measure_memory(directory, arguments.pairs)]
    finally:
        shutil.rmtree(directory)
    report("data", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
