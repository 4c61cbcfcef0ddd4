"""Beam search (section 6.1): the most probable beginnings are kept side by side, and grow until they cannot win.

At each step the best 2 N ways to continue the N beams of a sentence are looked at. Those that end among the best N are
finished outputs; the best N that do not end are the beams of the next step. (tensor2tensor lets those end that are
among the best 2 N; then a beam of one is not greedy search.) Of the finished outputs the best `n_best` are kept.

A sentence is over when its best beam could not beat the worst output that is kept, even if all its further tokens had
probability 1 and it grew to the greatest length: going on would change nothing. With `patience` it is over sooner,
once so many outputs have ended. It is over, too, at the greatest length; what is then missing of `n_best` is filled
with the best beams, unfinished. Sentences that are over leave the batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.search.candidates import Candidates, best_candidates
from headway.search.constraints import Constraints
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import State, StepModel, rows_to_keep
from headway.text.specials import EOS


@dataclass(frozen=True)
class Beams:
    """The beams of B sentences, all of one length T."""

    tokens: Tensor
    """(B, N, 1 + T), what the model was given first included."""
    log_probabilities: Tensor
    """Of each of these tokens (B, N, 1 + T); 0 for the first."""
    scores: Tensor
    """Their sums (B, N), in double precision; -inf where there is no beam."""
    state: State
    """What the model remembers of the beams."""
    rules: Rules
    """For these sentences."""
    sentences: Tensor
    """The numbers of the sentences in the batch (B,)."""
    is_over: Tensor
    """Which of them only wait to leave (B,)."""
    kept: tuple[tuple[Hypothesis, ...], ...]
    """The best outputs so far, best first, of all sentences of the batch, those that have left included."""
    ended: tuple[int, ...]
    """How many outputs of each of these sentences have ended, kept or not."""

    @property
    def length(self) -> int:
        """T, how many tokens have been written."""
        return self.tokens.size(2) - 1


@torch.no_grad()
def beam_search(
    model: StepModel, source: Tensor, rules: Rules, config: SearchConfig, constraints: Constraints | None = None
) -> list[list[Hypothesis]]:
    """The best `n_best` outputs, best first, for each of the sources (B, S)."""
    beams = begin(model, source, rules)
    while not should_stop(beams):
        beams = grow(beams, model, config, constraints)
    return finish(beams)


def begin(model: StepModel, source: Tensor, rules: Rules) -> Beams:
    """One beam a sentence, with nothing written."""
    tokens = source.new_full((len(source), 1, 1), rules.first)
    return Beams(
        tokens=tokens,
        log_probabilities=torch.zeros(tokens.shape, device=source.device),
        scores=torch.zeros(len(source), 1, dtype=torch.float64, device=source.device),
        state=model.start(source),
        rules=rules,
        sentences=torch.arange(len(source), device=source.device),
        is_over=torch.zeros(len(source), dtype=torch.bool, device=source.device),
        kept=((),) * len(source),
        ended=(0,) * len(source),
    )


def should_stop(beams: Beams) -> bool:
    """Whether every sentence has left."""
    return len(beams.sentences) == 0


def grow(beams: Beams, model: StepModel, config: SearchConfig, constraints: Constraints | None = None) -> Beams:
    """Write one more token."""
    log_probabilities, state = model.step(beams.tokens[:, :, -1], beams.state)
    beams.rules.apply(log_probabilities, beams.length)
    demands = constraints.at(beams.tokens, beams.sentences) if constraints else []
    for demand in demands:
        demand.apply(log_probabilities, beams.rules)
    ending, going_on = part(best_candidates(log_probabilities, beams.scores, 2 * config.beam), config.beam)
    for demand in demands:
        demand.choose(log_probabilities, beams.scores, ending, going_on)
    penalty = LengthPenalty.of(config)
    beams = keep(beams, ending, log_probabilities, penalty, config.n_best)
    grown = replace(continued(beams, going_on, log_probabilities), state=state.branch(going_on.parents))
    return leave(close(grown, penalty, config))


def finish(beams: Beams) -> list[list[Hypothesis]]:
    """What was kept."""
    return [list(outputs) for outputs in beams.kept]


def part(best: Candidates, beam: int) -> tuple[Candidates, Candidates]:
    """Those that end among the best `beam`, the others of which are made impossible; and the best that go on."""
    first = Candidates(*(each[:, :beam] for each in best))
    ending = first._replace(scores=first.scores.where(first.tokens == EOS, -torch.inf))
    going_on = best._replace(scores=best.scores.where(best.tokens != EOS, -torch.inf))
    places = going_on.scores.topk(min(beam, going_on.scores.size(1)), dim=1).indices
    return ending, going_on.take(places)


def keep(beams: Beams, ending: Candidates, log_probabilities: Tensor, penalty: LengthPenalty, n_best: int) -> Beams:
    """The beams with the outputs that end now, of which the best of each sentence are kept."""
    rows, places = (ending.scores.isfinite() & ~beams.is_over[:, None]).nonzero(as_tuple=True)
    if not len(rows):
        return beams
    parents = ending.parents[rows, places]
    lasts = log_probabilities[rows, parents, EOS]
    kept, ended = list(beams.kept), list(beams.ended)
    numbers = (each.tolist() for each in (rows, beams.sentences[rows], parents, lasts))
    for row, sentence, beam, last in zip(*numbers, strict=True):
        kept[sentence] = with_output(kept[sentence], output(beams, row, beam, penalty, (EOS, last)), n_best)
        ended[sentence] += 1
    return replace(beams, kept=tuple(kept), ended=tuple(ended))


def continued(beams: Beams, going_on: Candidates, log_probabilities: Tensor) -> Beams:
    """The beams with the tokens, their log-probabilities and sums of the next step; the state is left as it was."""
    scores, parents, tokens = going_on
    history = parents[..., None].expand(-1, -1, beams.tokens.size(2))  # (B, N, 1 + T)
    values = log_probabilities.flatten(1).gather(1, parents * log_probabilities.size(2) + tokens)  # (B, N)
    return replace(
        beams,
        tokens=torch.cat([beams.tokens.gather(1, history), tokens[..., None]], dim=2),
        log_probabilities=torch.cat([beams.log_probabilities.gather(1, history), values[..., None]], dim=2),
        scores=scores,
    )


def close(beams: Beams, penalty: LengthPenalty, config: SearchConfig) -> Beams:
    """The beams with the sentences marked that are over now."""
    n_best, enough = config.n_best, config.enough
    kept, is_over = list(beams.kept), beams.is_over.tolist()
    best = beams.scores[:, 0].tolist()
    longest = beams.rules.longest.tolist()
    for row, sentence in enumerate(beams.sentences.tolist()):
        if is_over[row]:
            continue
        worst = kept[sentence][-1].score if len(kept[sentence]) == n_best else -torch.inf
        is_over[row] = (
            best[row] / penalty(longest[row]) <= worst
            or beams.ended[sentence] >= enough
            or beams.length == longest[row]
        )
        if is_over[row]:
            kept[sentence] = (*kept[sentence], *unfinished(beams, row, penalty))[:n_best]
    return replace(beams, kept=tuple(kept), is_over=torch.tensor(is_over, device=beams.is_over.device))


def leave(beams: Beams) -> Beams:
    """The beams of the sentences that are not over, once it pays to let the others go."""
    rows = rows_to_keep(beams.is_over)
    if rows is None:
        return beams
    return replace(
        beams,
        tokens=beams.tokens[rows],
        log_probabilities=beams.log_probabilities[rows],
        scores=beams.scores[rows],
        state=beams.state.select(rows),
        rules=beams.rules.select(rows),
        sentences=beams.sentences[rows],
        is_over=beams.is_over[rows],
    )


def unfinished(beams: Beams, row: int, penalty: LengthPenalty) -> Iterator[Hypothesis]:
    """The beams of a sentence as they stand, best first."""
    for beam in beams.scores[row].isfinite().nonzero()[:, 0].tolist():
        yield output(beams, row, beam, penalty)


def output(
    beams: Beams, row: int, beam: int, penalty: LengthPenalty, last: tuple[int, float] | None = None
) -> Hypothesis:
    """A beam as a hypothesis, perhaps with one last token."""
    tokens = beams.tokens[row, beam, 1:].tolist()
    values = beams.log_probabilities[row, beam, 1:].tolist()
    if last is not None:
        tokens, values = [*tokens, last[0]], [*values, last[1]]
    return Hypothesis.of(tokens, values, penalty)


def with_output(kept: tuple[Hypothesis, ...], new: Hypothesis, n_best: int) -> tuple[Hypothesis, ...]:
    """The best `n_best`, best first; of equal ones the older stays before the newer."""
    return tuple(sorted((*kept, new), key=lambda each: -each.score)[:n_best])
