"""`headway show` of heads: sentences -> what every head of a run does, and what the model loses without it."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from headway.data.objectives import Ids, TokenBatch, padded
from headway.data.prepared import Rules
from headway.errors import UserError
from headway.search.batches import cut_by_length
from headway.search.translator import OnWarning
from headway.show.heads import Ablation, Batch, ablate_heads, head_statistics, loss_per_token
from headway.show.heads_page import HeadStudy
from headway.tasks.setting_up import read_samples
from headway.tasks.showing import Trained
from headway.text.corpus import AlignedFiles, Pair
from headway.text.files import display_name, read_lines
from headway.text.specials import EOS, PAD
from headway.train.batches import batches_of
from headway.train.update import to_device

WINDOW = 1024
"""Sentences that are read ahead and sorted by length."""
BATCH_TOKENS = 2000

OnProgress = Callable[[int, int | None, str], None]
"""Is told how many are done, of how many if that is known, and what they are."""


@dataclass(frozen=True)
class Sentences:
    """What heads are studied on. Where a model is trained on single texts, these are the sources."""

    name: str
    pairs: Iterable[Pair]


class Encoded(NamedTuple):
    """A pair in ids."""

    number: int
    """Of its line, counted from 0."""
    source: Ids
    target: Ids


def sentences_of_files(
    trained: Trained, source: Path, target: Path | None = None, on_warning: OnWarning | None = None
) -> Sentences:
    """The sentences of a file with their translations in another, or with those that the model writes."""
    name, objective = display_name(source), trained.config.objective
    if not trained.learns_from_pairs:
        if target is not None:
            raise UserError(
                f"{trained.run.path} was trained for {objective}, which takes one text; leave out --target-file"
            )
        return Sentences(name, (Pair(line, line) for line in read_lines(source)))
    if target is not None:
        return Sentences(name, AlignedFiles((source,), (target,)))
    if not trained.writes:
        raise UserError(f"{trained.run.path} was trained for {objective}; give what belongs to {name} by --target-file")
    return Sentences(f"{name} as the model translates it", _translated(trained, read_lines(source), on_warning))


def sentences_of_run(trained: Trained) -> Sentences:
    """Sentences that the run was validated with."""
    pairs = read_samples(trained.run) if (trained.run.data / "valid.jsonl").exists() else []
    if not pairs:
        raise UserError(f"{trained.run.path} has kept no validation sentences; give some by --file")
    return Sentences("its validation set", pairs)


def study_heads(
    trained: Trained, sentences: Sentences, ablated: int, on_progress: OnProgress = lambda *_: None
) -> HeadStudy:
    """Statistics of every head over all sentences, and its effect on the loss of the first `ablated` of them."""
    reader = Reader(trained, sentences, ablated)
    statistics = head_statistics(trained.model, reader.batches(on_progress))
    if not reader.done:
        raise UserError(
            f"{sentences.name} has no sentence to look at; {reader.left_out:,} are empty or over data.max_length = "
            f"{trained.config.data.max_length} tokens"
        )
    ablation = _ablate(trained, reader.first, on_progress) if reader.first else None
    return HeadStudy(str(trained.run.path), sentences.name, statistics, ablation, len(reader.first), reader.left_out)


class Reader:
    """Makes batches of sentences, keeps the first of them, and counts."""

    def __init__(self, trained: Trained, sentences: Sentences, keep: int) -> None:
        self._trained = trained
        self._sentences = sentences
        self._keep = keep
        self.first: list[Encoded] = []
        self.done = self.left_out = 0

    def batches(self, on_progress: OnProgress) -> Iterator[Batch]:
        """All sentences in batches, read once."""
        numbered = enumerate(self._sentences.pairs)
        while window := list(islice(numbered, WINDOW)):
            usable = self._usable(window)
            self.left_out += len(window) - len(usable)
            self.first += usable[: self._keep - len(self.first)]
            for batch in to_batches(self._trained, usable):
                yield batch
                self.done += len(batch.answer)
                on_progress(self.done, None, "sentences looked at")
        on_progress(self.done, self.done, "sentences looked at")

    def _usable(self, window: Sequence[tuple[int, Pair]]) -> list[Encoded]:
        """Those that training would not leave out."""
        vocabulary, config = self._trained.run.vocabulary, self._trained.config
        sources = vocabulary.source.encode_batch([pair.source.strip() for _, pair in window])
        targets = vocabulary.target.encode_batch([pair.target.strip() for _, pair in window])
        rules = Rules(config.data.max_length, equal_lengths=config.objective == "tagging")
        lengths = (np.array([len(ids) for ids in side]) for side in (sources, targets))
        left_out = np.any(list(rules.reasons(*lengths).values()), axis=0)
        return [
            Encoded(number, np.array(source), np.array(target))
            for (number, _), source, target, is_out in zip(window, sources, targets, left_out, strict=True)
            if not is_out
        ]


def to_batches(trained: Trained, pairs: Sequence[Encoded]) -> Iterator[Batch]:
    """Pairs in batches as in training, those of about equal length together."""
    make = batches_of(trained.config)
    for places in cut_by_length([len(pair.source) + len(pair.target) + 2 for pair in pairs], BATCH_TOKENS):
        chosen = [pairs[place] for place in places]
        if trained.config.objective == "language-model":
            batch: Batch = text_rows([pair.source for pair in chosen])
        else:
            keys = [(trained.config.train.seed, 0, pair.number) for pair in chosen]
            batch = make([(pair.source, pair.target) for pair in chosen], keys)
        yield to_device(batch, trained.device)


def text_rows(texts: Sequence[Ids]) -> TokenBatch:
    """Texts for a language model, a row each: training packs them, but then one would look at another."""
    return TokenBatch(
        padded([np.insert(text, 0, EOS) for text in texts]), padded([np.append(text, EOS) for text in texts])
    )


def _ablate(trained: Trained, pairs: Sequence[Encoded], on_progress: OnProgress) -> Ablation:
    """The effect of each head on the loss."""
    batches = list(to_batches(trained, pairs))
    if not any(bool((batch.answer != PAD).any()) for batch in batches):
        raise UserError(f"in {len(pairs)} sentences nothing was hidden that could be asked for; take more --sentences")
    return ablate_heads(
        trained.model,
        lambda: loss_per_token(trained.model, batches),
        lambda done, count: on_progress(done, count, "heads switched off"),
    )


def _translated(trained: Trained, lines: Iterable[str], on_warning: OnWarning | None) -> Iterator[Pair]:
    """Lines with what the model makes of them."""
    waiting: deque[str] = deque()

    def noted() -> Iterator[str]:
        for line in lines:
            waiting.append(line)
            yield line

    for translation in trained.translator().translate_stream(noted(), on_warning=on_warning):
        yield Pair(waiting.popleft(), translation.text)
