"""Lines of text -> their translations, in order, whatever their number.

A line becomes one part or, if it is longer than what the model was trained on, several. Parts of many lines are
searched together and their results joined again, so that every line has its translation at its place: an empty line an
empty one, a line that fails an empty one that says why.

Batches change the order of the sums inside matrix products, and with it the last digits of log-probabilities, some
1e-6. Only where two outputs are as close as that could the batch decide between them.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from headway.config import SearchConfig
from headway.errors import UserError
from headway.processes import LostProcessError
from headway.search.alignment import Alignment, align_words
from headway.search.batches import FIRST_WINDOW, in_batches
from headway.search.engine import Engine, OpenEngine, Part, Wish
from headway.search.lines import split_line
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.translations import Line, Translation, joined_alignment, to_output
from headway.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headway.search.alternatives import Alternative

Ask = Callable[[Engine, list[Part]], list[list[Hypothesis]]]
OnWarning = Callable[[int, str], None]
"""Is told the number of a line, counted from 1, and what is the matter with it."""
AT_ONCE = 64
"""Lines that are encoded at once."""
FAILURES = (UserError, RuntimeError, MemoryError)
"""What a line can fail with: too long for the model's positions, too large for the memory."""


@dataclass(frozen=True)
class Found:
    """What was found for a part."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    alignment: Alignment = field(default_factory=list)
    error: str | None = None
    engine: str = ""
    """The name of the one that found it."""


class Translator:
    """An engine, the vocabulary of its model, and how to search.

    `max_length` is the greatest number of tokens of a line that the model was trained on (`data.max_length`). `reserve`
    gives another engine for the same model, for what the first cannot do; it is asked for only then.
    """

    def __init__(
        self,
        engine: Engine,
        vocabulary: Vocabulary,
        config: SearchConfig,
        *,
        max_length: int,
        reserve: Callable[[], Engine] | None = None,
    ) -> None:
        self.engine = engine
        self.vocabulary = vocabulary
        self.config = config
        self.max_length = max_length
        self.penalty = LengthPenalty.of(config)
        self._reserve = reserve
        self._one_at_a_time = Lock()

    def translate(
        self,
        lines: Iterable[str | Line],
        *,
        alignments: bool = False,
        on_warning: OnWarning | None = None,
    ) -> list[Translation]:
        """The translations of lines, all at once: a little faster than as a stream, where the first come soon."""
        return list(self._translate(lines, on_warning, self.config.window, alignments=alignments))

    def translate_stream(
        self,
        lines: Iterable[str | Line],
        *,
        alignments: bool = False,
        on_warning: OnWarning | None = None,
    ) -> Iterator[Translation]:
        """The translations of lines of any number, in constant memory."""
        return self._translate(lines, on_warning, FIRST_WINDOW, alignments=alignments)

    def _translate(
        self,
        lines: Iterable[str | Line],
        on_warning: OnWarning | None,
        first_window: int,
        *,
        alignments: bool,
    ) -> Iterator[Translation]:
        if alignments:
            self._open_engine("alignments")  # refused before the first line is read
        warn = on_warning or _ignore
        read = enumerate(self._read(lines), start=1)
        parts = (part for number, (line, ids) in read for part in self._parts(number, line, ids, warn))
        return self._results(
            parts, lambda engine, batch: engine.decode(batch), warn, first_window, alignments=alignments
        )

    def score(self, pairs: Iterable[tuple[str, str]], *, on_warning: OnWarning | None = None) -> Iterator[Translation]:
        """For each pair of a line and its translation, the translation as if the model had written it."""
        encode = self.vocabulary.target.encode
        parts = (
            Part(number, 0, source, self.vocabulary.source.encode(source.strip()), target=encode(target.strip("\r\n")))
            for number, (source, target) in enumerate(pairs, start=1)
        )
        return self._results(parts, lambda engine, batch: engine.score(batch), on_warning or _ignore, FIRST_WINDOW)

    def alternatives(self, text: str, before: str, count: int = 5) -> "list[Alternative]":
        """The best `count` tokens after the beginning `before` of a translation of `text`, and how each goes on."""
        part = Part(1, 0, text, self.vocabulary.source.encode(text))
        return self._open_engine("alternatives").alternatives(part, self.vocabulary.target.encode(before), count)

    def close(self) -> None:
        """End the processes that it has, if any; it translates no more."""
        self.engine.close()

    def _read(self, lines: Iterable[str | Line]) -> Iterator[tuple[Line, list[int]]]:
        """Lines and the ids of their texts; several are encoded at once, but no line is read too early for that."""
        source = iter(lines)
        while chunk := list(islice(source, min(self.config.window, AT_ONCE))):
            known = [Line(line) if isinstance(line, str) else line for line in chunk]
            texts = [line.text.strip() if is_unicode(line.text) else "" for line in known]
            yield from zip(known, self.vocabulary.source.encode_batch(texts), strict=True)

    def _parts(self, number: int, line: Line, ids: list[int], warn: OnWarning) -> Iterator[Part]:
        """A line as parts that can be searched; the ids are those of its text."""
        text = line.text.rstrip("\r\n")
        if not is_unicode("".join((text, line.prefix, *line.phrases))):
            yield Part(number, 0, text, problem="the line has half a surrogate pair, which is no character; remove it")
            return
        prefix = self.vocabulary.target.encode(line.prefix) if line.prefix else []
        sources = self._sources(text, ids, may_split=not (line.prefix or line.phrases))
        for place, (each, source) in enumerate(sources):
            if len(source) > self.max_length:
                warn(
                    number,
                    f"{len(source)} tokens, but the model was trained on at most {self.max_length} (data.max_length); "
                    "the translation may be poor",
                )
            is_last = place == len(sources) - 1
            yield Part(number, place, each, source, prefix, self._phrases(line), is_last=is_last)

    def _sources(self, text: str, ids: list[int], *, may_split: bool) -> list[tuple[str, list[int]]]:
        """The parts of a line, each with its ids; most lines are one part, whose ids are known."""
        if len(ids) <= self.max_length or not may_split or self.config.long_lines != "split":
            return [(text, ids)]

        def encode(part: str) -> list[int]:
            return self.vocabulary.source.encode(part.strip())

        return [(part, encode(part)) for part in split_line(text, lambda each: len(encode(each)), self.max_length)]

    def _phrases(self, line: Line) -> list[list[list[int]]]:
        """The phrases of a line, each as it is spelled inside a sentence and at its beginning."""
        encode = self.vocabulary.target.encode
        return [[encode(f" {phrase.strip()}"), encode(phrase.strip())] for phrase in line.phrases if phrase.strip()]

    def _results(
        self, parts: Iterable[Part], ask: Ask, warn: OnWarning, first_window: int, *, alignments: bool = False
    ) -> Iterator[Translation]:
        """A result for each line, in order.

        The text of a line that is one part is made with its batch, while other batches run: as lines are given back
        in order, all their texts would else be made after the last batch.
        """

        def run(batch: list[Part]) -> list[tuple[Part, Found, Translation | None]]:
            found: dict[tuple[int, int], Found] = {}
            for has_phrases in (False, True):  # apart, as not every engine can promise them
                parts = [part for part in batch if not part.is_empty and bool(part.phrases) == has_phrases]
                results = self._run(parts, ask, alignments=alignments)
                found |= {(part.number, part.place): each for part, each in zip(parts, results, strict=True)}
            done = [(part, found.get((part.number, part.place), Found(error=part.problem))) for part in batch]
            return [(part, each, self._alone(part, each, alignments=alignments)) for part, each in done]

        workers = 0 if alignments and self.engine.cannot("alignments") else self.engine.workers
        results = in_batches(
            parts,
            run,
            length=part_length,
            tokens=self.engine.batch_tokens,
            window=self.config.window,
            first_window=first_window,
            workers=workers,
        )
        line: list[tuple[Part, Found]] = []
        for part, found, whole in results:
            line.append((part, found))
            if part.is_last:
                yield whole or self._joined(part.number, line, warn, alignments=alignments)
                line = []

    def _run(self, parts: list[Part], ask: Ask, *, alignments: bool, in_reserve: bool = False) -> list[Found]:
        """What is found for parts; if that fails, for each half of them, so that only what must fail fails."""
        if not parts:
            return []
        is_able = not in_reserve and self._is_able(parts, alignments=alignments)
        try:
            with nullcontext() if is_able else self._one_at_a_time:
                engine = self._reserve() if in_reserve and self._reserve else self._engine_for(parts, alignments)
                outputs = ask(engine, parts)
                aligned = self._align(parts, outputs) if alignments else [[] for _ in parts]
        except LostProcessError:
            raise
        except FAILURES as error:
            if len(parts) > 1:
                halves = (parts[: len(parts) // 2], parts[len(parts) // 2 :])
                return [found for half in halves for found in self._run(half, ask, alignments=alignments)]
            if self._reserve and not in_reserve:
                return self._run(parts, ask, alignments=alignments, in_reserve=True)
            return [Found(error=str(error))]
        return [Found(*each, engine=engine.name) for each in zip(outputs, aligned, strict=True)]

    def _is_able(self, parts: list[Part], *, alignments: bool) -> bool:
        """Whether the engine itself can do what is wanted of parts."""
        cannot = self.engine.cannot
        return not (alignments and cannot("alignments")) and not (parts[0].phrases and cannot("phrases"))

    def _engine_for(self, parts: list[Part], alignments: bool) -> Engine:
        """The engine that can do what is wanted of parts."""
        if alignments:
            return self._open_engine("alignments")
        return self._able("phrases") if parts[0].phrases else self.engine

    def _able(self, wish: Wish) -> Engine:
        """The engine, or else the one in reserve, if it can do this."""
        reason = self.engine.cannot(wish)
        if reason is None:
            return self.engine
        if self._reserve is None:
            raise UserError(reason)
        reserve = self._reserve()
        if reason := reserve.cannot(wish):
            raise UserError(reason)
        return reserve

    def _open_engine(self, wish: Wish) -> OpenEngine:
        """The engine whose model is looked into."""
        engine = self._able(wish)
        assert isinstance(engine, OpenEngine), "only those say that they can"
        return engine

    def _align(self, parts: list[Part], outputs: list[list[Hypothesis]]) -> list[Alignment]:
        """The word alignments of the best outputs."""
        written = [each[0].tokens for each in outputs]
        weights = self._open_engine("alignments").cross_attention(parts, written)  # (B, H, T, S)
        pieces = (self.vocabulary.source.pieces, self.vocabulary.target.pieces)
        return [
            align_words(row, pieces[0](part.source), pieces[1](tokens))
            for row, part, tokens in zip(weights, parts, written, strict=True)
        ]

    def _alone(self, part: Part, found: Found, *, alignments: bool) -> Translation | None:
        """The translation of a line that is this part, if it has not failed."""
        return None if found.error or not part.is_line else self._whole([(part, found)], alignments=alignments)

    def _joined(
        self, number: int, results: list[tuple[Part, Found]], warn: OnWarning, *, alignments: bool
    ) -> Translation:
        """The translation of a line from what was found for its parts."""
        if error := next((found.error for _, found in results if found.error), None):
            warn(number, error)
            return Translation(error=error, engine=self.engine.name)
        return self._whole(results, alignments=alignments)

    def _whole(self, results: list[tuple[Part, Found]], *, alignments: bool) -> Translation:
        """The translation of a line of which no part has failed."""
        results = [(part, found) for part, found in results if found.hypotheses]
        if not results:
            return Translation(alignment=[] if alignments else None, engine=self.engine.name)
        texts = [part.text for part, _ in results]
        ranks = zip(*(found.hypotheses for _, found in results), strict=False)
        n_best = [to_output(texts, hypotheses, self.vocabulary.target, self.penalty) for hypotheses in ranks]
        name = results[0][1].engine
        if not alignments:
            return Translation.of(n_best, name)
        written = [self.vocabulary.target.decode(found.hypotheses[0].tokens) for _, found in results]
        return Translation.of(n_best, name, joined_alignment(texts, written, [found.alignment for _, found in results]))


def part_length(part: Part) -> int:
    """The tokens of a part, EOS counted: of its source, or of its target if that has more."""
    return max(len(part.source), len(part.target or [])) + 1


def is_unicode(text: str) -> bool:
    """Whether all of a text is characters; Python's strings may have halves of them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ignore(number: int, text: str) -> None:
    """The warnings of those who do not ask for them; what fails says so in its translation, too."""
