"""Decoding with the same weights: our two engines beside Hugging Face's `generate` and CTranslate2 called plainly.

Each engine is alone in its process, or has several that share the sentences. All are loaded, some 8 GB, and take their
turns: in each round all sentences in batches, then one sentence after the other, so that whatever slows the machine
down slows all of them. What is timed is translating, not loading, from text to text: the others are called as people
call them, with the library of the tokenizer before and after; rows from tokens to tokens show what that costs.
Without `--run` a small model is trained first, just long enough for outputs of sensible lengths.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from itertools import islice
from pathlib import Path

from decode_processes import FROM_TOKENS, HEADWAY, Bench, Loaded, Measurement, Row
from decode_tables import BEAMS, OWN, PATIENT, SIZED, TOKENS, TYPED, Measured, comparisons, table
from headway import train
from headway.export.conversions import converted
from headway.export.engine import PATIENCE
from headway.processes import usable_cores
from headway.store.run import Run
from headway.text.files import read_lines
from headway.text.named import NamedSplit
from marian_weights import write_marian
from measure import machine, options, report

CORPUS = "builtin:en-fr"
OTHER_SIZES = (32, 128)
"""Sentences of a batch that CTranslate2 is tried with besides, as its best is what we compare with."""
QUICK = (
    "train.steps=300",
    "train.batch_tokens=2048",
    "train.warmup=60",
    "train.peak_rate=0.002",
    "train.valid_sentences=0",
    "train.average=0",
)
"""The recipe of the model that is made when none is given."""


def rows(run: Run, directory: Path, environments: Path | None, cores: int) -> Iterator[Row]:
    """All engines, in all the ways to use the cores: workers x threads of each."""
    path, vocabulary = str(run.path), {"vocabulary": write_tokenizers(run, directory)}
    for workers in (cores, 1):
        wishes = {"run": path, "engine": "torch", "workers": workers}
        yield Row(f"headway torch, {workers} x {cores // workers}", HEADWAY, wishes)
        yield Row(f"headway torch, {workers} x {cores // workers}, patience 1", HEADWAY, {**wishes, "patience": 1})
    free = {"run": path, "engine": "torch", "workers": cores, "batch_tokens": None}
    yield Row(f"headway torch, {cores} x 1{OWN}", HEADWAY, free)
    yield Row(f"headway torch, {cores} x 1{OWN}, patience 1", HEADWAY, {**free, "patience": 1})
    for kind in ("fp32", "int8"):
        wishes = {"run": path, "engine": "ctranslate2", "quantization": kind, "batch_tokens": None}
        yield Row(f"headway ctranslate2 {kind}", HEADWAY, wishes)
        yield Row(f"headway ctranslate2 {kind}, patience 1", HEADWAY, {**wishes, "patience": 1})
        yield Row(f"headway ctranslate2 {kind}{TYPED}", HEADWAY, {**wishes, "one_by_one": True})
        yield Row(
            f"headway ctranslate2 {kind}{TYPED}, patience 1", HEADWAY, {**wishes, "one_by_one": True, "patience": 1}
        )
    for kind in ("fp32", "int8"):
        model = {"directory": str(converted(run, kind).directory)}
        both = {**model, **vocabulary}
        yield Row(f"CTranslate2 {kind}, default", "ctranslate2", both)
        one = {"inter_threads": 1, "intra_threads": cores}
        yield Row(f"CTranslate2 {kind}, 1 x {cores}", "ctranslate2", {**both, **one})
        several = {"inter_threads": cores, "intra_threads": 1}
        yield Row(f"{TOKENS}CTranslate2 {kind}, {cores} x 1", FROM_TOKENS, {**model, **several})
        for size in (None, *OTHER_SIZES):
            shares, told = ({**several, "batch": size}, f"{SIZED}{size}") if size else (several, "")
            yield Row(f"CTranslate2 {kind}, {cores} x 1{told}", "ctranslate2", {**both, **shares})
            patient = {**shares, "patience": PATIENCE}
            yield Row(f"CTranslate2 {kind}, {cores} x 1{PATIENT}{told}", "ctranslate2", {**both, **patient})
    if environments is not None:
        write_marian(run, directory / "marian")
        marian = {"directory": str(directory / "marian"), "epsilon": run.config.model.norm_epsilon, **vocabulary}
        python = huggingface_python(environments)
        yield Row(f"HF generate, 1 x {cores}", "huggingface", marian, python=python)
        yield Row(f"HF generate, {cores} x 1", "huggingface", marian, processes=cores, python=python)


def write_tokenizers(run: Run, directory: Path) -> list[str]:
    """The files of the source's and the target's tokenizer, as the library of that name reads them."""
    files = directory / "source.json", directory / "target.json"
    for file, side in zip(files, (run.vocabulary.source, run.vocabulary.target), strict=True):
        file.write_text(side.to_json(), encoding="utf-8")
    return list(map(str, files))


def huggingface_python(environments: Path) -> str:
    """The Python of the environment that has `transformers`, which is made if it is not there."""
    directory = environments / "huggingface"
    python = directory / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        wanted = [f"torch=={version('torch').partition('+')[0]}", "transformers>=5,<6"]
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
    return str(python)


def read_sentences(path: Path | None, count: int) -> list[str]:
    """The first sentences of a file, or of the test part of the built-in corpus."""
    texts = read_lines(path) if path else (pair.source for pair in NamedSplit(CORPUS, "test"))
    return list(islice((text.strip() for text in texts if text.strip()), count))


def take_turns(bench: Bench, rows: Sequence[Row], beam: int, rounds: int) -> dict[str, Measurement]:
    """Every row in each round."""
    with ExitStack() as stack:
        engines = [stack.enter_context(Loaded(bench, row, beam)) for row in rows]
        for number in range(1, rounds + 1):
            for engine in engines:
                rate = len(bench.sentences) / engine.translate_all()
                print(f"round {number}, beam {beam}, {engine.row.name}: {rate:.1f} sentences/s", flush=True)
            for place in range(bench.singles):
                for engine in engines:
                    engine.translate_one(place)
        return {engine.row.name: engine.measurement() for engine in engines}


def for_beam(rows: Sequence[Row], beam: int) -> list[Row]:
    """The rows that a beam has: a greedy search knows no patience."""
    return [row for row in rows if beam > 1 or "patience" not in row.wanted]


def made_run(directory: Path) -> Run:
    """A small model that has learned for some minutes."""
    print("training a small model ...", flush=True)
    return train(directory / "run", corpus=CORPUS, preset="small", settings=QUICK).run


def versions(engines: Sequence[Row]) -> str:
    """Those of the libraries that are compared."""
    found = [f"ctranslate2 {version('ctranslate2')}"]
    for python in {row.python for row in engines if row.kind == "huggingface"}:
        command = [python, "-c", "from importlib.metadata import version; print(version('transformers'))"]
        found.append(
            f"transformers {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}"
        )
    return ", ".join(found)


def describe(run: Run, bench: Bench, is_made: bool, rounds: int) -> str:
    settings = run.config.model
    weights = f"trained for this on {CORPUS}, {QUICK[0].partition('=')[2]} updates" if is_made else "of a given run"
    return (
        f"{len(bench.sentences):,} sentences of {bench.batch_tokens / bench.batch:.1f} tokens on average, EOS counted, "
        f"in batches of about {bench.batch}, but where it says otherwise and by our ctranslate2 engine, which makes "
        f"its own; {bench.singles} of them also one by one. The same weights everywhere, {weights}: "
        f"{settings.layers} + {settings.decoder_layers or settings.layers} layers, "
        f"D = {settings.d_model}, V = {settings.vocabulary:,}. {rounds} rounds in turns, each engine alone in its "
        "processes; rates are medians, memory is the sum over the processes of a row."
    )


def main() -> None:
    parser = options(__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="a trained run (default: one is made)")
    parser.add_argument("--sentences", type=Path, metavar="FILE", help=f"(default: the test part of {CORPUS})")
    parser.add_argument("--count", type=int, default=1000, help="how many sentences")
    parser.add_argument("--singles", type=int, default=50, help="how many of them one by one")
    parser.add_argument("--batch", type=int, default=64, help="sentences of a batch")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--environments", type=Path, metavar="DIR", help="where HF's is, or is made (default: no HF)")
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as place:
        run = Run.open(arguments.run) if arguments.run else made_run(Path(place))
        sentences = read_sentences(arguments.sentences, arguments.count)
        bench = Bench(run.vocabulary, sentences, arguments.batch, min(arguments.singles, len(sentences)))
        engines = list(rows(run, Path(place), arguments.environments, usable_cores()))
        about = f"{describe(run, bench, arguments.run is None, arguments.rounds)} {versions(engines)}."
        measured: Measured = {
            beam: take_turns(bench, for_beam(engines, beam), beam, arguments.rounds) for beam in BEAMS
        }
    lines = [about]
    for beam, title in BEAMS.items():
        lines += ["", f"{title}:", "", *table(measured[beam])]
    lines += ["", "Asked for, and measured:", "", *comparisons(measured)]
    report("decode_speed", "\n".join(lines), save=arguments.save)


if __name__ == "__main__":
    main()
