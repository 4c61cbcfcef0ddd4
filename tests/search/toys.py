"""Models that are tables of probabilities, and search by trying everything."""

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import NEVER_WRITTEN, Rules
from headway.text.specials import BOS, EOS, SPECIAL_TOKENS

CODES = 97


@dataclass(frozen=True)
class TableState:
    kinds: Tensor  # (B,), which table
    codes: Tensor  # (B, N), all that has been written, in one number

    def select(self, rows: Tensor) -> "TableState":
        return TableState(self.kinds[rows], self.codes[rows])

    def branch(self, parents: Tensor) -> "TableState":
        return TableState(self.kinds, self.codes.gather(1, parents))


class TableModel:
    """The next token depends on the first token of the source and on all tokens written, by a table of chance."""

    def __init__(self, letters: int = 3, *, seed: int = 1, spread: float = 2.0, kinds: int = 30) -> None:
        self.vocabulary = len(SPECIAL_TOKENS) + letters
        generator = torch.Generator().manual_seed(seed)
        values = spread * torch.randn(kinds, CODES, self.vocabulary, generator=generator)
        values[..., NEVER_WRITTEN] += 3  # tempting, but never written
        self.table = values.log_softmax(-1)

    def start(self, source: Tensor) -> TableState:
        return TableState(source[:, 0] % len(self.table), torch.zeros(len(source), 1, dtype=torch.long))

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        codes = (state.codes * 31 + tokens + 1) % CODES
        return self.table[state.kinds[:, None], codes], TableState(state.kinds, codes)

    def log_probabilities(self, kind: int, tokens: list[int]) -> list[float]:
        """Of each of the tokens, by the table."""
        code, values = 0, []
        for before, token in itertools.pairwise([BOS, *tokens]):
            code = (code * 31 + before + 1) % CODES
            values.append(float(self.table[kind, code, token]))
        return values


def letters_of(model: TableModel) -> range:
    return range(len(SPECIAL_TOKENS), model.vocabulary)


def sources(*kinds: int) -> Tensor:
    return torch.tensor([[kind] for kind in kinds])


def rules_of(source: Tensor, longest: int, **more) -> Rules:
    none = torch.zeros(len(source), 0, dtype=torch.long)
    return Rules(torch.full((len(source),), longest), **{"prefixes": none, **more})


def all_outputs(model: TableModel, kind: int, longest: int, config: SearchConfig) -> list[Hypothesis]:
    """Every finished output of at most `longest` tokens, EOS counted, best first."""
    found = []
    for size in range(longest):
        for tokens in itertools.product(letters_of(model), repeat=size):
            written = [*tokens, EOS]
            values = model.log_probabilities(kind, written)
            found.append(Hypothesis.of(written, values, LengthPenalty.of(config)))
    return sorted(found, key=lambda each: -each.score)
