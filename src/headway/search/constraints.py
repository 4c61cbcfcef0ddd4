"""Outputs that must contain given phrases, wherever they stand.

Left to itself a beam would put a phrase off for ever, since every phrase that the model did not think of costs
probability. So the beams of a sentence are shared out by how many tokens of its phrases they already have (Post and
Vilar, 2018): those with most are served first, then those with one fewer, and so on, one place each in turn. An output
may end only when it has all phrases, and where the room left is no more than they need, nothing else may be written:
so every output has them.

A phrase may have several spellings, of which one must appear: with the space before it that it has inside a sentence,
and without.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from headway.nn.masks import real_tokens
from headway.search.candidates import Candidates
from headway.search.rules import Rules
from headway.text.specials import EOS

Phrase = Sequence[Sequence[int]]
"""The token sequences of which one must appear."""


@dataclass(frozen=True)
class Progress:
    """How far an output is with its phrases."""

    missing: int
    """Most tokens that the phrases not yet there can take, each begun anew."""
    begun: int
    """How many tokens of one of them stand at the end of the output."""
    next_tokens: list[int]
    """The tokens that go on with one of them or begin one, the one most advanced first."""

    @classmethod
    def of(cls, written: list[int], phrases: Sequence[Phrase]) -> "Progress":
        """The progress of the tokens written so far."""
        unmet = [phrase for phrase in phrases if not any(contains(written, spelling) for spelling in phrase)]
        ways = [(begun_part(written, spelling), spelling) for phrase in unmet for spelling in phrase]
        ways.sort(key=lambda way: -way[0])
        return cls(
            missing=room_for(unmet),
            begun=ways[0][0] if ways else 0,
            next_tokens=list(dict.fromkeys(spelling[begun] for begun, spelling in ways)),
        )


class Way(NamedTuple):
    """A way to go on with one of the beams of a sentence."""

    score: float
    parent: int
    token: int
    left: int
    """How many tokens of phrases would then still be to write."""
    is_complete: bool
    """Whether its beam had all phrases before."""


@dataclass(frozen=True)
class Demand:
    """What one sentence asks of its beams at one step."""

    row: int
    """Of the sentence in the batch as it is now."""
    phrases: Sequence[Phrase]
    written: list[list[int]]
    """The tokens of each beam."""
    progress: list[Progress]
    """Of each beam."""

    def apply(self, log_probabilities: Tensor, rules: Rules) -> None:
        """Make impossible, in place (B, N, V), what leaves no room for the phrases."""
        for beam, (tokens, progress) in enumerate(zip(self.written, self.progress, strict=True)):
            is_in_prefix = len(tokens) < int(real_tokens(rules.prefixes[self.row]).sum())
            has_room = progress.missing < int(rules.longest[self.row]) - len(tokens)
            if progress.missing and not has_room and not is_in_prefix:
                values = log_probabilities[self.row, beam]  # (V,)
                token = progress.next_tokens[0]
                value = float(values[token])
                values.fill_(-torch.inf)
                values[token] = value

    def choose(self, log_probabilities: Tensor, scores: Tensor, ending: Candidates, going_on: Candidates) -> None:
        """Put this sentence's own choice, in place, of what ends and what goes on (B, N) for that of plain search."""
        size = going_on.scores.size(1)
        ways = sorted(self._ways(log_probabilities[self.row], scores[self.row], 2 * size), reverse=True)
        complete = [way for way in ways if way.is_complete][: ending.scores.size(1)]
        _write(ending, self.row, [way for way in complete if way.token == EOS])
        _write(going_on, self.row, sorted(_in_turn([way for way in ways if way.token != EOS], size), reverse=True))

    def _ways(self, log_probabilities: Tensor, scores: Tensor, count: int) -> Iterable[Way]:
        """For each beam its best tokens, and those that its phrases ask for."""
        likely = log_probabilities.topk(min(count, log_probabilities.size(1)), dim=1).indices.tolist()
        for beam, score in enumerate(scores.tolist()):
            before = self.progress[beam]
            for token in dict.fromkeys([*likely[beam], *before.next_tokens]):
                total = score + float(log_probabilities[beam, token])
                if total > -torch.inf:
                    after = Progress.of([*self.written[beam], token], self.phrases)
                    yield Way(total, beam, token, after.missing - after.begun, not before.missing)


@dataclass(frozen=True)
class Constraints:
    """The phrases of each sentence of a batch; most sentences may have none."""

    phrases: Sequence[Sequence[Phrase]]

    def make_room(self, rules: Rules) -> Rules:
        """The rules with outputs long enough for prefix, phrases and EOS."""
        needed = torch.tensor([room_for(phrases) + 1 for phrases in self.phrases], device=rules.longest.device)
        return replace(rules, longest=torch.maximum(rules.longest, real_tokens(rules.prefixes).sum(1) + needed))

    def at(self, tokens: Tensor, sentences: Tensor) -> list[Demand]:
        """The demands on beams that have written `tokens` (B, N, 1 + T), for the sentences (B,) that have any."""
        demands = []
        for row, sentence in enumerate(sentences.tolist()):
            if phrases := self.phrases[sentence]:
                written = tokens[row, :, 1:].tolist()
                progress = [Progress.of(each, phrases) for each in written]
                demands.append(Demand(row, phrases, written, progress))
        return demands


def room_for(phrases: Iterable[Phrase]) -> int:
    """Most tokens that phrases take."""
    return sum(max(map(len, phrase)) for phrase in phrases)


def contains(written: Sequence[int], spelling: Sequence[int]) -> bool:
    """Whether the tokens of a phrase stand in the output, one after the other."""
    size = len(spelling)
    return any(list(written[at : at + size]) == list(spelling) for at in range(len(written) - size + 1))


def begun_part(written: Sequence[int], spelling: Sequence[int]) -> int:
    """How many tokens of a phrase that is not there stand at the end of the output."""
    sizes = range(min(len(spelling) - 1, len(written)), 0, -1)
    return next((size for size in sizes if list(written[-size:]) == list(spelling[:size])), 0)


def _in_turn(ways: list[Way], count: int) -> list[Way]:
    """The best way of those with the fewest tokens left, of those with more, and so on, until there are `count`."""
    banks: dict[int, list[Way]] = {}
    for way in ways:
        banks.setdefault(way.left, []).append(way)
    rounds = [(turn, left, way) for left, bank in banks.items() for turn, way in enumerate(bank)]
    return [way for _, _, way in sorted(rounds, key=lambda each: each[:2])[:count]]


def _write(candidates: Candidates, row: int, ways: list[Way]) -> None:
    candidates.scores[row] = -torch.inf
    for place, way in enumerate(ways):
        candidates.scores[row, place] = way.score
        candidates.parents[row, place] = way.parent
        candidates.tokens[row, place] = way.token
