"""Lines -> translations, in order, by one engine or by several processes at once.

CTranslate2 has workers of its own. With our own engine, several processes of one thread each translate more sentences
in a second than one process of several threads; they take a moment to start.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice, zip_longest
from typing import Any

from headway.errors import UserError
from headway.processes import Worker, receive, send, share_out
from headway.search.translations import Line, Output, Translation
from headway.search.translator import OnWarning, Translator
from headway.tasks.engines import Notice, OnNotice, Request, Wishes, fast_engine
from headway.tasks.loading import ignore, make_translator, open_request

CHUNK = 512
"""Lines that a process translates at once: enough to find batches of equal length among them."""


@dataclass(frozen=True)
class Order:
    """What to load, and what to write with it."""

    run: str
    checkpoint: str | None = None
    settings: tuple[str, ...] = ()
    ensemble: tuple[str, ...] = ()
    alignments: bool = False
    engine: str = "auto"
    quantization: str | None = None
    probabilities: bool = True
    """Whether those of single tokens are wanted, and the scores of greedy outputs."""
    one_by_one: bool = False
    """Whether somebody waits for each line."""

    def request(self, workers: int | None = None) -> Request:
        """What is wanted of the run."""
        wishes = Wishes(self.engine, self.quantization, workers, self.probabilities, self.alignments, self.one_by_one)
        return open_request(self.run, self.checkpoint, self.settings, self.ensemble, wishes)

    def load(self, workers: int | None = None, on_notice: OnNotice = ignore) -> Translator:
        """The translator."""
        request = self.request(workers)
        return make_translator(request, fast_engine(request, on_notice), on_notice)

    def translate(
        self,
        lines: Iterable[str | Line],
        on_warning: OnWarning,
        workers: int | None = None,
        on_notice: OnNotice = ignore,
    ) -> Iterator[Translation]:
        """The translations of lines, in constant memory.

        Several workers are threads of CTranslate2 in this process, or processes with our own engine, of one thread
        each; by default as many as is best for CTranslate2, and one for our own.
        """
        request = self.request(workers)
        engine = fast_engine(request, on_notice)
        if engine is None and workers is not None and workers > 1:
            on_notice(Notice(f"engine torch: fp32, workers: {workers} processes, threads of each: 1"))
            return _translate_in_processes(replace(self, engine="torch"), lines, on_warning, workers)
        translator = make_translator(request, engine, on_notice)
        return translator.translate_stream(lines, alignments=self.alignments, on_warning=on_warning)


@dataclass(frozen=True)
class Answer:
    """What a process made of a chunk."""

    translations: list[Translation]
    warnings: list[tuple[int, str]]

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> "Answer":
        """From what a process has sent."""
        return cls([_translation(**each) for each in answer["translations"]], [tuple(w) for w in answer["warnings"]])


def _translation(n_best: list[dict[str, Any]], alignment: list[list[int]] | None, **facts: Any) -> Translation:
    pairs = None if alignment is None else [(source, target) for source, target in alignment]
    return Translation(n_best=[Output(**each) for each in n_best], alignment=pairs, **facts)


def _translate_in_processes(
    order: Order, lines: Iterable[str | Line], on_warning: OnWarning, count: int
) -> Iterator[Translation]:
    alone = replace(order, settings=("machine.threads=1", *order.settings))
    data = json.dumps(asdict(alone)).encode()
    answers = share_out(
        _chunks(lines, count), count, lambda: Worker("headway.tasks.translation_worker", data, "translates"), _ask
    )
    with closing(answers):
        while dealt := list(islice(answers, count)):
            for number, text in sorted(chain.from_iterable(answer.warnings for answer in dealt)):
                on_warning(number, text)
            rounds = zip_longest(*(answer.translations for answer in dealt))
            yield from (each for each in chain.from_iterable(rounds) if each is not None)


@dataclass(frozen=True)
class Chunk:
    """Lines that a process translates at once, dealt out one by one: neighbours are in other chunks."""

    first: int
    """The number of the first line, counted from 1."""
    step: int
    """By how much the number of each is greater than that of the one before."""
    lines: list[str | Line]


def _chunks(lines: Iterable[str | Line], count: int) -> Iterator[Chunk]:
    """All lines, `count` chunks at a time that have as much to do, some of them maybe with nothing."""
    remaining = iter(lines)
    first = 1
    while several := list(islice(remaining, CHUNK * count)):
        yield from (Chunk(first + place, count, several[place::count]) for place in range(count))
        first += len(several)


def _ask(worker: Worker, chunk: Chunk) -> Answer:
    """The translations of lines."""
    asked = [asdict(line) if isinstance(line, Line) else {"text": line} for line in chunk.lines]
    question = json.dumps({"first": chunk.first, "step": chunk.step, "lines": asked}).encode()
    answer = json.loads(worker.ask(lambda stream: send(stream, question), receive))
    if "error" in answer:
        raise UserError(answer["error"])
    return Answer.from_json(answer)
