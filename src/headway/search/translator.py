"""Lines of text -> their translations, in order, whatever their number.

A line becomes one part or, if it is longer than what the model was trained on, several. Parts of many lines are
searched together and their results joined again, so that every line has its translation at its place: an empty line an
empty one, a line that fails an empty one that says why.

Batches change the order of the sums inside matrix products, and with it the last digits of log-probabilities, some
1e-6. Only where two outputs are as close as that could the batch decide between them.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.data.objectives import padded
from headway.errors import UserError
from headway.search.alignment import Alignment, align_words, chosen_layer
from headway.search.alternatives import Alternative, alternatives
from headway.search.batches import in_batches
from headway.search.beam import beam_search
from headway.search.constraints import Constraints
from headway.search.forced import score_targets
from headway.search.greedy import greedy_search
from headway.search.lines import split_line
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.sampling import sample
from headway.search.steps import StepModel
from headway.search.translations import Line, Translation, joined_alignment, to_output
from headway.text.specials import BOS, EOS
from headway.text.vocabulary import Vocabulary

OnWarning = Callable[[int, str], None]
"""Is told the number of a line, counted from 1, and what is the matter with it."""
FAILURES = (UserError, RuntimeError, MemoryError)
"""What a line can fail with: too long for the model's positions, too large for the memory."""


@runtime_checkable
class ShowsAttention(Protocol):
    """A model with an encoder that tells where in the source it looked."""

    def encode(self, source: Tensor) -> Any:
        """Read sources (B, S): what tells this model from those that have no attention to a source."""

    def states(self, source: Tensor, target: Tensor, *, with_weights: bool) -> tuple[Tensor, Any]:
        """States, and maps whose `cross` has the weights (B, H, T, S) of each layer, for targets (B, T)."""


@dataclass(frozen=True)
class Part:
    """What is searched as one sentence: a line, or a part of one."""

    number: int
    """Of its line, counted from 1."""
    place: int
    """Of the part in its line, counted from 0."""
    text: str
    source: list[int] = field(default_factory=list)
    """Without EOS; nothing if there is nothing to translate."""
    prefix: list[int] = field(default_factory=list)
    phrases: list[list[list[int]]] = field(default_factory=list)
    """The spellings of each phrase."""
    target: list[int] | None = None
    """The translation that is to be scored, if one is given."""
    problem: str | None = None
    """Why it cannot be searched."""
    is_last: bool = True
    """Whether its line has no more parts."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.problem is not None or (not self.source and self.target is None)


@dataclass(frozen=True)
class Found:
    """What was found for a part."""

    hypotheses: list[Hypothesis] = field(default_factory=list)
    alignment: Alignment = field(default_factory=list)
    error: str | None = None


class Translator:
    """A model that is ready to be used, its vocabulary, and how to search.

    `max_length` is the greatest number of tokens of a line that the model was trained on (`data.max_length`).
    """

    def __init__(
        self,
        model: StepModel,
        vocabulary: Vocabulary,
        config: SearchConfig,
        *,
        max_length: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.model = model
        self.vocabulary = vocabulary
        self.config = config
        self.max_length = max_length
        self.device = torch.device(device)
        self.penalty = LengthPenalty.of(config)

    def translate(
        self, lines: Iterable[str | Line], *, alignments: bool = False, on_warning: OnWarning | None = None
    ) -> list[Translation]:
        """The translations of lines."""
        return list(self.translate_stream(lines, alignments=alignments, on_warning=on_warning))

    def translate_stream(
        self,
        lines: Iterable[str | Line],
        *,
        alignments: bool = False,
        on_warning: OnWarning | None = None,
        first: int = 1,
    ) -> Iterator[Translation]:
        """The translations of lines of any number, in constant memory; `first` is the number of the first line."""
        if alignments and not isinstance(self.model, ShowsAttention):
            raise UserError(
                f"word alignments are read from a model's attention to the source, and {type(self.model).__name__} "
                "shows none; take a single encoder-decoder, or leave the alignments out"
            )
        warn = on_warning or _ignore
        parts = (part for number, line in enumerate(lines, start=first) for part in self._parts(number, line, warn))
        return self._results(parts, self._search, warn, alignments=alignments)

    def score(self, pairs: Iterable[tuple[str, str]], *, on_warning: OnWarning | None = None) -> Iterator[Translation]:
        """For each pair of a line and its translation, the translation as if the model had written it."""
        encode = self.vocabulary.target.encode
        parts = (
            Part(number, 0, source, self.vocabulary.source.encode(source.strip()), target=encode(target.strip("\r\n")))
            for number, (source, target) in enumerate(pairs, start=1)
        )
        return self._results(parts, self._score, on_warning or _ignore)

    def alternatives(self, text: str, before: str, count: int = 5) -> list[Alternative]:
        """The best `count` tokens after the beginning `before` of a translation of `text`, and how each goes on."""
        source = self._sources([Part(1, 0, text, self.vocabulary.source.encode(text))])
        return alternatives(self.model, source, self.vocabulary.target.encode(before), count, self.config)

    def _parts(self, number: int, line: str | Line, warn: OnWarning) -> Iterator[Part]:
        """A line as parts that can be searched."""
        line = Line(line) if isinstance(line, str) else line
        text = line.text.rstrip("\r\n")
        if not is_unicode("".join((text, line.prefix, *line.phrases))):
            yield Part(number, 0, text, problem="the line has half a surrogate pair, which is no character; remove it")
            return
        encode = self.vocabulary.source.encode
        texts = [text]
        if self.config.long_lines == "split" and not line.prefix and not line.phrases:
            texts = split_line(text, lambda each: len(encode(each)), self.max_length)
        for place, each in enumerate(texts):
            source = encode(each.strip())
            if len(source) > self.max_length:
                warn(
                    number,
                    f"{len(source)} tokens, but the model was trained on at most {self.max_length} (data.max_length); "
                    "the translation may be poor",
                )
            prefix, is_last = self.vocabulary.target.encode(line.prefix), place == len(texts) - 1
            yield Part(number, place, each, source, prefix, self._phrases(line), is_last=is_last)

    def _phrases(self, line: Line) -> list[list[list[int]]]:
        """The phrases of a line, each as it is spelled inside a sentence and at its beginning."""
        encode = self.vocabulary.target.encode
        return [[encode(f" {phrase.strip()}"), encode(phrase.strip())] for phrase in line.phrases if phrase.strip()]

    def _results(
        self,
        parts: Iterable[Part],
        run: Callable[[list[Part]], list[list[Hypothesis]]],
        warn: OnWarning,
        *,
        alignments: bool = False,
    ) -> Iterator[Translation]:
        """A result for each line, in order."""

        def run_all(batch: list[Part]) -> list[tuple[Part, Found]]:
            found = iter(self._run([part for part in batch if not part.is_empty], run, alignments=alignments))
            return [(part, Found(error=part.problem) if part.is_empty else next(found)) for part in batch]

        results = in_batches(
            parts,
            run_all,
            length=lambda part: max(len(part.source), len(part.target or [])) + 1,
            tokens=self.config.batch_tokens,
            window=self.config.window,
        )
        line: list[tuple[Part, Found]] = []
        for part, found in results:
            line.append((part, found))
            if part.is_last:
                yield self._joined(part.number, line, warn, alignments=alignments)
                line = []

    def _run(
        self, parts: list[Part], run: Callable[[list[Part]], list[list[Hypothesis]]], *, alignments: bool
    ) -> list[Found]:
        """What is found for parts; if that fails, for each half of them, so that only what must fail fails."""
        if not parts:
            return []
        try:
            outputs = run(parts)
            aligned = self._align(parts, outputs) if alignments else [[] for _ in parts]
        except FAILURES as error:
            if len(parts) == 1:
                return [Found(error=str(error))]
            halves = (parts[: len(parts) // 2], parts[len(parts) // 2 :])
            return [found for half in halves for found in self._run(half, run, alignments=alignments)]
        return [Found(*each) for each in zip(outputs, aligned, strict=True)]

    def _search(self, parts: list[Part]) -> list[list[Hypothesis]]:
        """The outputs for parts, as the settings have it."""
        source = self._sources(parts)
        rules = Rules.of(source, self.config, [part.prefix for part in parts])
        if any(part.phrases for part in parts):
            if self.config.method != "beam":
                raise UserError(f"phrases need search.method = beam; it is {self.config.method}")
            constraints = Constraints([part.phrases for part in parts])
            return beam_search(self.model, source, constraints.make_room(rules), self.config, constraints)
        if self.config.method == "sampling":
            return sample(self.model, source, rules, self.config, [(part.number, part.place) for part in parts])
        if self.config.beam == 1:
            return [[only] for only in greedy_search(self.model, source, rules, self.penalty)]
        return beam_search(self.model, source, rules, self.config)

    def _score(self, parts: list[Part]) -> list[list[Hypothesis]]:
        """The given targets of parts as hypotheses."""
        targets = [part.target or [] for part in parts]
        values = score_targets(self.model, self._sources(parts), targets)
        return [
            [Hypothesis.of([*target, EOS], each, self.penalty)] for target, each in zip(targets, values, strict=True)
        ]

    @torch.no_grad()
    def _align(self, parts: list[Part], outputs: list[list[Hypothesis]]) -> list[Alignment]:
        """The word alignments of the best outputs."""
        assert isinstance(self.model, ShowsAttention)
        written = [each[0].tokens for each in outputs]
        target = padded([np.asarray([BOS, *tokens]) for tokens in written]).to(self.device)
        _, maps = self.model.states(self._sources(parts), target, with_weights=True)
        weights = chosen_layer(maps.cross, self.config.alignment_layer)  # (B, H, T, S)
        pieces = (self.vocabulary.source.pieces, self.vocabulary.target.pieces)
        return [
            align_words(row, pieces[0](part.source), pieces[1](tokens))
            for row, part, tokens in zip(weights, parts, written, strict=True)
        ]

    def _sources(self, parts: list[Part]) -> Tensor:
        """The sources of parts (B, S), with EOS."""
        return padded([np.asarray([*part.source, EOS]) for part in parts]).to(self.device)

    def _joined(
        self, number: int, results: list[tuple[Part, Found]], warn: OnWarning, *, alignments: bool
    ) -> Translation:
        """The translation of a line from what was found for its parts."""
        if error := next((found.error for _, found in results if found.error), None):
            warn(number, error)
            return Translation(error=error)
        results = [(part, found) for part, found in results if found.hypotheses]
        if not results:
            return Translation(alignment=[] if alignments else None)
        texts = [part.text for part, _ in results]
        ranks = zip(*(found.hypotheses for _, found in results), strict=False)
        n_best = [to_output(texts, hypotheses, self.vocabulary.target, self.penalty) for hypotheses in ranks]
        if not alignments:
            return Translation.of(n_best)
        written = [self.vocabulary.target.decode(found.hypotheses[0].tokens) for _, found in results]
        return Translation.of(n_best, joined_alignment(texts, written, [found.alignment for _, found in results]))


def is_unicode(text: str) -> bool:
    """Whether all of a text is characters; Python's strings may have halves of them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _ignore(number: int, text: str) -> None:
    """The warnings of those who do not ask for them; what fails says so in its translation, too."""
