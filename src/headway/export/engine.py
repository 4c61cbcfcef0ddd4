"""CTranslate2 in place of our own search: token ids in, hypotheses out.

Its beam search grows beams as ours does but always stops after a number of outputs (`search.patience`), and it ranks
them by the power penalty only. So, if nothing is set, it is told to wait for twice as many outputs as there are beams,
all that it may give are asked for, and they are ranked here, by the penalty that is set.

An output may be as long as its own source allows. CTranslate2 knows one length for all sentences of a call, so what
reaches beyond its own is cut, or with beams searched again: the output does not depend on the neighbours.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, repeat
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

from headway.config import SearchConfig
from headway.errors import UserError
from headway.export.abilities import CANNOT, UnableError, check_search
from headway.processes import usable_cores
from headway.search.engine import BATCH_TOKENS, Part, Wish
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.text.specials import BOS, EOS, MASK, PAD, SPECIAL_TOKENS
from headway.text.vocabulary import Vocabulary

ITS_PENALTY = 1e-3
"""The power penalty that CTranslate2 is given: next to none, so that an output that never ends does not push out those
that do. With none at all it would stop at the first output."""
PATIENCE = 2
"""How many times as many outputs as beams are waited for if nothing is set. With 1, bad ones that end early would end
the search before the best is found."""
FEW_TOKENS = 600
"""How many source tokens are translated at once by weights of 8 bits: on CPUs they like smaller batches than others."""
END = SPECIAL_TOKENS[EOS]
NEVER_WRITTEN = [[SPECIAL_TOKENS[token]] for token in (PAD, BOS, MASK)]


class Written(NamedTuple):
    """An output as CTranslate2 gives it."""

    names: list[str]
    """Of its tokens; the last is that of EOS if the model has ended it."""
    log_probability: float

    @property
    def finished(self) -> bool:
        """Whether the model has ended it."""
        return self.names[-1:] == [END]


class Ctranslate2Engine:
    """A converted model, its vocabulary, and how to search.

    Several workers of one thread each are faster than one worker of several, but for a single sentence. Without
    `with_probabilities` hypotheses have no probabilities of single tokens, which have to be computed separately, and
    those of greedy search, which chooses between none, no score either: it is not a number.
    """

    name = "ctranslate2"

    def __init__(
        self,
        directory: Path,
        vocabulary: Vocabulary,
        config: SearchConfig,
        *,
        device: str = "cpu",
        workers: int | None = None,
        threads: int = 1,
        with_probabilities: bool = True,
    ) -> None:
        check_search(config)
        self.config = config
        self.penalty = LengthPenalty.of(config)
        self.workers = workers or (usable_cores() if device == "cpu" else 1)
        self.with_probabilities = with_probabilities
        self._has_scores = with_probabilities or config.beam > 1
        self._source_names = vocabulary.source.names
        self._target_names = vocabulary.target.names
        self._target_ids = {name: number for number, name in enumerate(self._target_names)}
        self._options = self._fixed_options()
        self._translator = open_model(directory, device, self.workers, threads)
        self.batch_tokens = config.batch_tokens or (
            FEW_TOKENS if self._translator.compute_type.startswith("int8") and device == "cpu" else BATCH_TOKENS
        )

    def cannot(self, wish: Wish) -> str | None:
        """Nothing of what is left to engines that can be looked into, and to search that can be steered."""
        return str(UnableError(CANNOT[wish]))

    def decode(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The best `n_best` outputs of each part, best first."""
        if any(part.phrases for part in parts):
            raise UnableError(CANNOT["phrases"])
        found = self._search(parts)
        # It neither counts the tokens of a prefix nor those that had to be other than EOS as the model does.
        is_forced = self.config.min_length > 0 or any(part.prefix for part in parts)
        if is_forced and self._has_scores:
            found = self._counted_again(parts, found)
        best = [ranked(outputs, self.penalty)[: self.config.n_best] for outputs in found]
        hypotheses = [[self._hypothesis(each) for each in outputs] for outputs in best]
        return self._with_probabilities(parts, hypotheses) if self.with_probabilities else hypotheses

    def score(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The given targets as hypotheses."""
        targets = [list(part.target or []) for part in parts]
        values = self._forced([part.source for part in parts], targets)
        return [
            [Hypothesis.of([*target, EOS], each, self.penalty)] for target, each in zip(targets, values, strict=True)
        ]

    def close(self) -> None:
        """It has nothing but memory and threads, which end with it."""

    def _search(self, parts: Sequence[Part]) -> list[list[Written]]:
        """All outputs that were found, each within the length that its part allows."""
        limits = [self._longest(part) for part in parts]
        most = max(limits, default=0)
        found = self._translate(parts, most)
        too_far = [
            place
            for place, outputs in enumerate(found)
            if limits[place] < most and any(len(output.names) >= limits[place] for output in outputs)
        ]
        if self.config.beam > 1:  # what is near the limit could have won other places in the beam
            for limit, alike in groupby(sorted(too_far, key=limits.__getitem__), limits.__getitem__):
                places = list(alike)
                for place, outputs in zip(places, self._translate([parts[p] for p in places], limit), strict=True):
                    found[place] = outputs
            return found
        if not too_far:
            return found
        cut = [[Written(output.names[: limits[place]], nan) for output in found[place]] for place in too_far]
        if self._has_scores:
            cut = self._counted_again([parts[place] for place in too_far], cut)
        for place, outputs in zip(too_far, cut, strict=True):
            found[place] = outputs
        return found

    def _longest(self, part: Part) -> int:
        """Most tokens of an output, EOS counted: as `search.rules` has it."""
        return max(len(part.source), len(part.prefix)) + 1 + self.config.extra_length

    def _counted_again(self, parts: Sequence[Part], found: list[list[Written]]) -> list[list[Written]]:
        """The same outputs with the log-probability that the model gives to each, whatever the search has found."""
        known = self._with_probabilities(parts, [[self._hypothesis(each) for each in outputs] for outputs in found])
        return [
            [Written(each.names, same.log_probability) for each, same in zip(outputs, again, strict=True)]
            for outputs, again in zip(found, known, strict=True)
        ]

    def _translate(self, parts: Sequence[Part], longest: int) -> list[list[Written]]:
        """All outputs of a search, of so many tokens at most; the most win against the fewest, as in our own search."""
        results = self._ask(
            self._translator.translate_batch,
            [part.source for part in parts],
            [part.prefix for part in parts],
            min_decoding_length=min(self.config.min_length, longest),
            max_decoding_length=longest,
            **self._options,
        )
        return [
            [
                Written(names, score * len(names) ** ITS_PENALTY)
                for names, score in zip(one.hypotheses, one.scores or repeat(nan), strict=False)
            ]
            for one in results
        ]

    def _fixed_options(self) -> dict[str, Any]:
        """What a search is told that is the same for all sentences."""
        beam = self.config.beam
        enough = PATIENCE * beam if self.config.patience is None else int(self.config.enough)
        return {
            "beam_size": beam,
            "patience": enough / beam,
            "num_hypotheses": min(enough, beam),
            "length_penalty": ITS_PENALTY,
            "disable_unk": True,
            "suppress_sequences": NEVER_WRITTEN,
            "return_end_token": True,
            "return_scores": self._has_scores,
        }

    def _hypothesis(self, output: Written) -> Hypothesis:
        """An output with its log-probability, without those of its tokens."""
        tokens = [self._target_ids[name] for name in output.names]
        total, finished = output.log_probability, output.finished
        return Hypothesis(tokens[:-1] if finished else tokens, total / self.penalty(len(tokens)), total, [], finished)

    def _with_probabilities(self, parts: Sequence[Part], found: list[list[Hypothesis]]) -> list[list[Hypothesis]]:
        """The same outputs with the log-probability that the model gives to each of their tokens."""
        sources = [part.source for part, outputs in zip(parts, found, strict=True) for _ in outputs]
        values = iter(self._forced(sources, [output.tokens for outputs in found for output in outputs]))
        return [[self._given(output, next(values)) for output in outputs] for outputs in found]

    def _given(self, output: Hypothesis, values: list[float]) -> Hypothesis:
        tokens = [*output.tokens, EOS] if output.finished else output.tokens
        return Hypothesis.of(tokens, values[: len(tokens)], self.penalty)

    def _forced(self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]]) -> list[list[float]]:
        """The log-probability of each token of the targets, then of EOS."""
        size = {"max_batch_size": self.batch_tokens, "batch_type": "tokens"}  # a source may have several targets
        return [list(one.log_probs) for one in self._ask(self._translator.score_batch, sources, targets, **size)]

    def _ask(
        self,
        method: Callable[..., list[Any]],
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        **options: Any,
    ) -> list[Any]:
        """The answers of CTranslate2 to sources and to what is given of their targets."""
        try:
            return method(
                [[self._source_names[token] for token in source] for source in sources],
                [[self._target_names[token] for token in target] for target in targets],
                max_input_length=0,  # nothing is cut
                **options,
            )
        except RuntimeError as error:
            raise UnableError(f"CTranslate2: {error}") from None


def ranked(outputs: Iterable[Written], penalty: LengthPenalty) -> list[Written]:
    """The best first; those that the model has not ended come last, as in our own search."""
    return sorted(outputs, key=lambda each: (not each.finished, -each.log_probability / penalty(len(each.names))))


def open_model(directory: Path, device: str, workers: int, threads: int) -> Any:
    """The converted model, in the memory of a device: cpu, cuda, or one of several as in cuda:1."""
    import ctranslate2  # type: ignore[import-untyped]

    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda"):
        raise UnableError(
            f"CTranslate2 computes on cpu and cuda, not on {device}", "choose one of them, or engine torch"
        )
    try:
        return ctranslate2.Translator(
            str(directory),
            device=kind,
            device_index=int(number or 0),
            inter_threads=workers,
            intra_threads=threads,
        )
    except (RuntimeError, ValueError) as error:
        raise UserError(f"cannot open {directory} with CTranslate2: {error}") from None
