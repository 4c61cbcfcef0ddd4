"""Writing token by token, each chosen as soon as it can be: what greedy search and sampling have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.steps import StepModel, rows_to_keep
from headway.text.specials import EOS

Choose = Callable[[Tensor, Tensor, int], Tensor]
"""Log-probabilities (B, N, V), the numbers of the sentences (B,) and the length so far -> tokens (B, N)."""


@dataclass
class Path:
    """An output in the making."""

    longest: int
    tokens: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Whether nothing may follow."""
        return len(self.tokens) == self.longest or self.tokens[-1:] == [EOS]

    def add(self, token: int, log_probability: float) -> None:
        """Write one more token, unless the output is over."""
        if not self.is_over:
            self.tokens.append(token)
            self.log_probabilities.append(log_probability)


@torch.no_grad()
def walk(
    model: StepModel, source: Tensor, rules: Rules, choose: Choose, penalty: LengthPenalty, count: int = 1
) -> list[list[Hypothesis]]:
    """Write `count` outputs for each of the sources (B, S), independently of each other."""
    paths = [[Path(longest) for _ in range(count)] for longest in rules.longest.tolist()]
    sentences = torch.arange(len(source), device=source.device)
    newest = source.new_full((len(source), count), rules.first)
    state = model.start(source)
    if count > 1:
        state = state.branch(torch.zeros_like(newest))
    length = 0
    while len(sentences):
        log_probabilities, state = model.step(newest, state)
        rules.apply(log_probabilities, length)
        newest = choose(log_probabilities, sentences, length)
        chosen = log_probabilities.gather(-1, newest[..., None])[..., 0]
        length += 1
        live = [paths[number] for number in sentences.tolist()]
        for row, tokens, values in zip(live, newest.tolist(), chosen.tolist(), strict=True):
            for path, token, value in zip(row, tokens, values, strict=True):
                path.add(token, value)
        is_over = torch.tensor([all(path.is_over for path in row) for row in live], device=source.device)
        if (keep := rows_to_keep(is_over)) is not None:
            sentences, newest, rules, state = sentences[keep], newest[keep], rules.select(keep), state.select(keep)
    return [[Hypothesis.of(path.tokens, path.log_probabilities, penalty) for path in row] for row in paths]
