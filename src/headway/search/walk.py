"""Writing token by token, each chosen as soon as it can be: what greedy search and sampling have in common."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel, rows_to_keep
from headway.text.specials import EOS, PAD

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""Log-probabilities (B, N, V), the numbers of the sentences (B,) and the length so far -> tokens (B, N)."""
Written = tuple[Tensor, Tensor, Tensor]
"""Of a step: the numbers of the sentences (B,), their tokens (B, N) and the log-probabilities of these (B, N)."""
Path = tuple[list[int], list[float]]
"""The tokens of an output, and their log-probabilities."""


@torch.no_grad()
def walk(
    model: StepModel, source: Tensor, rules: Rules, choose: Choose, penalty: LengthPenalty, count: int = 1
) -> list[list[Hypothesis]]:
    """Write `count` outputs for each of the sources (B, S), independently of each other."""
    longest = rules.longest.tolist()
    sentences = torch.arange(len(source), device=source.device)
    newest = source.new_full((len(source), count), rules.first)
    is_over = torch.zeros_like(newest, dtype=torch.bool)
    state = model.start(source)
    if count > 1:
        state = state.branch(torch.zeros_like(newest))
    written: list[Written] = []
    while len(sentences):
        log_probabilities, state = model.step(newest, state)
        rules.apply(log_probabilities, len(written))
        newest = choose(log_probabilities, sentences, len(written))
        written.append((sentences, newest, log_probabilities.gather(-1, newest[..., None])[..., 0]))
        is_over = is_over | (newest == EOS) | (rules.longest == len(written))[:, None]
        if (keep := rows_to_keep(is_over.all(dim=1))) is not None:
            sentences, newest, is_over = sentences[keep], newest[keep], is_over[keep]
            rules, state = rules.select(keep), state.select(keep)
    return [
        [Hypothesis.of(tokens, values, penalty) for tokens, values in row] for row in collected(written, longest, count)
    ]


def collected(written: Sequence[Written], longest: Sequence[int], count: int) -> Iterator[list[Path]]:
    """The outputs of each sentence, which may have so many tokens at most, from what was written step by step.

    What follows an end was written while others of the batch were not over, and is left out.
    """
    tokens = torch.full((len(longest), count, len(written)), PAD)
    values = torch.zeros(tokens.shape, dtype=torch.float64)
    for place, (rows, newest, chosen) in enumerate(written):
        tokens[rows.cpu(), :, place] = newest.cpu()
        values[rows.cpu(), :, place] = chosen.double().cpu()
    for paths, theirs, most in zip(tokens.tolist(), values.tolist(), longest, strict=True):
        ends = [min(path.index(EOS) + 1 if EOS in path else most, most) for path in paths]
        yield [(path[:end], each[:end]) for path, each, end in zip(paths, theirs, ends, strict=True)]
