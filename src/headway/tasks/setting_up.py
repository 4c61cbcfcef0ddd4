"""Corpora and settings -> a run directory ready to be trained: settings chosen, vocabulary learned, data encoded.

What the user left open is chosen from the size of the corpus, and said.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from headway.config import Config
from headway.data.prepared import Prepared, Report, Rules, prepare
from headway.errors import UserError
from headway.presets import choose_preset, choose_steps
from headway.settings import load_config
from headway.store.card import make_card
from headway.store.run import Run
from headway.tasks.beginning import Beginning
from headway.text.corpus import Corpus, Pair
from headway.text.holdout import hold_out
from headway.text.learn import default_vocabulary
from headway.text.vocabulary import Vocabulary, learn_vocabulary
from headway.train.events import Noted, Watch

OnProgress = Callable[[str, int | None, Report], None]
"""Told, while a corpus is encoded: its name, how many pairs it has (if known), and what became of them so far."""


@dataclass(frozen=True)
class Wanted:
    """The settings that somebody asked for, before the rest is chosen."""

    preset: str | None = None
    file: Path | None = None
    assignments: Sequence[str] = ()

    def config(self, preset: str | None = None) -> Config:
        """All settings; `preset` serves where none was asked for."""
        return load_config(self.preset or preset, self.file, self.assignments)


@dataclass(frozen=True)
class Texts:
    """The corpora of a run, held-out part included."""

    train: Iterable[Pair]
    valid: Iterable[Pair]
    pairs: int
    """How many there are to train on, before any rule drops some."""
    fingerprint: dict[str, Any] = field(default_factory=dict)

    def trimmed(self) -> "Texts":
        """The same without space at the ends of texts: translating takes it away from every line as well."""
        return replace(self, train=Trimmed(self.train), valid=Trimmed(self.valid))


@dataclass(frozen=True)
class Trimmed:
    """Pairs without space at the ends of their texts."""

    pairs: Iterable[Pair]

    def __iter__(self) -> Iterator[Pair]:
        return (Pair(source.strip(), target.strip()) for source, target in self.pairs)


def set_up(
    out: Path,
    wanted: Wanted,
    corpus: Corpus,
    valid: Corpus | None,
    beginning: Beginning,
    command: Sequence[str],
    watch: Watch,
    on_progress: OnProgress,
) -> Run:
    """Write the run directory. A vocabulary to begin with is kept, else one is learned."""
    if wanted.config().model.head == "classification":
        raise UserError(
            "model.head = classification is learned from labels, and text files have none; build such a "
            "model in Python, or choose model.head = masked-tokens or tagging"
        )
    texts = read_texts(corpus, valid, wanted.config().train.valid_pairs, watch)
    config = choose_settings(wanted, texts.pairs, watch)
    if config.objective == "translation":
        texts = texts.trimmed()
    vocabulary = beginning.vocabulary or learn(config, texts, watch)
    config = with_sizes(config, vocabulary)
    if beginning.origin is not None:
        beginning.origin.check(config.model)
        watch(Noted(f"first weights: those of {beginning.origin.checkpoint.path}"))
    card = make_card(command, config.train.seed, texts.fingerprint, vocabulary.fingerprint)
    run = Run.create(out, config, vocabulary, {**card, **beginning.facts()})
    encode(run, texts, watch, on_progress)
    return run


def read_texts(corpus: Corpus, valid: Corpus | None, held_out: int, watch: Watch) -> Texts:
    """Count the corpus, and hold a part of it out if there is nothing to validate with."""
    fingerprint = {"train": corpus.fingerprint()}
    pairs = sum(1 for _ in corpus)
    if valid is not None:
        return Texts(corpus, valid, pairs, {**fingerprint, "valid": valid.fingerprint()})
    train, rest = hold_out(corpus, pairs, held_out)
    count = pairs // rest.every
    watch(Noted(f"{count:,} pairs are held out to validate with: {rest}"))
    return Texts(train, rest, pairs - count, {**fingerprint, "held_out": rest.every})


def choose_settings(wanted: Wanted, pairs: int, watch: Watch) -> Config:
    """The settings asked for; without preset and file, those of the preset that suits the size of the corpus."""
    if wanted.preset is not None or wanted.file is not None:
        return wanted.config()
    preset, reason = choose_preset(pairs)
    watch(Noted(f"preset {preset}: {reason}"))
    if preset != "tiny":
        return wanted.config(preset)
    steps = choose_steps(pairs)
    config = replace(wanted, assignments=[f"train.steps={steps}", *wanted.assignments]).config(preset)
    if config.train.steps == steps:
        watch(Noted(f"{steps:,} steps, which suit {pairs:,} pairs"))
    return config


def learn(config: Config, texts: Texts, watch: Watch) -> Vocabulary:
    """A vocabulary of the size asked for, or of one that suits the corpus."""
    settings = config.tokenizer
    if settings.size is None and "vocabulary" in config.model.model_fields_set:
        settings = settings.model_copy(update={"size": config.model.vocabulary})
    origin = "as set" if settings.size else f"which suits {texts.pairs:,} pairs"
    size = settings.size or default_vocabulary(texts.pairs)
    watch(Noted(f"learning a vocabulary of at most {size:,} tokens, {origin} ({settings.kind})"))
    return learn_vocabulary(lambda: texts.train, texts.pairs, settings)


def with_sizes(config: Config, vocabulary: Vocabulary) -> Config:
    """The settings with the sizes that the vocabulary really has."""
    sizes: dict[str, Any] = {"vocabulary": len(vocabulary.source)}
    if not vocabulary.is_shared:
        sizes["target_vocabulary"] = len(vocabulary.target)
        if config.model.share_embeddings == "all":
            sizes["share_embeddings"] = "target-output"
    if config.model.head == "tagging":
        sizes["labels"] = len(vocabulary.target)
    model = type(config.model).model_validate({**config.model.model_dump(), **sizes})
    return config.model_copy(update={"model": model})


def encode(run: Run, texts: Texts, watch: Watch, on_progress: OnProgress) -> None:
    """Encode both corpora into the run directory; what is there from the same texts is used again."""
    config, vocabulary = run.config, run.vocabulary
    rules = Rules(config.data.max_length, config.data.max_ratio, config.objective == "tagging")
    for name, pairs, total in (("train", texts.train, texts.pairs), ("valid", texts.valid, None)):
        origin = {"texts": texts.fingerprint, "vocabulary": vocabulary.fingerprint}
        prepared = prepare(
            pairs,
            (vocabulary.source, vocabulary.target),
            run.data / name,
            rules,
            origin=origin,
            on_progress=partial(on_progress, name, total),
        )
        watch(Noted(describe_report(name, prepared.report)))
        prepared.close()
    write_samples(run, texts.valid)


def describe_report(name: str, report: Report) -> str:
    """What was kept and dropped, and why, as a small table."""
    tokens = report.tokens
    lines = [
        f"{name}: {report.read:,} pairs read, {report.kept:,} kept, "
        f"{tokens['source']:,} source and {tokens['target']:,} target tokens"
    ]
    lines += [f"  {count:>9,} dropped: {reason}" for reason, count in report.dropped.items() if count]
    return "\n".join(lines)


def write_samples(run: Run, valid: Iterable[Pair]) -> None:
    """The first validation pairs as text, to be translated while training."""
    pairs = [pair for pair in valid if pair.source.strip() and pair.target.strip()]
    wanted = run.config.train.valid_sentences
    every = max(len(pairs) // wanted, 1) if wanted else 1
    chosen = list(islice(pairs, 0, every * wanted, every)) if wanted else []
    text = "".join(f"{json.dumps(pair._asdict())}\n" for pair in chosen)
    (run.data / "valid.jsonl").write_text(text, encoding="utf-8")


def read_samples(run: Run) -> list[Pair]:
    """The pairs that `write_samples` wrote."""
    lines = (run.data / "valid.jsonl").read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def open_data(run: Run) -> tuple[Prepared, Prepared]:
    """The prepared corpora of a run."""
    if not (run.data / "valid.jsonl").exists():
        raise UserError(f"{run.path} has no prepared data; give its corpora again, with --resume")
    return Prepared(run.data / "train"), Prepared(run.data / "valid")
