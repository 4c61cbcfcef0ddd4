"""Our own engine: a model of ours on a device, and our own search."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from headway.config import SearchConfig
from headway.data.objectives import padded
from headway.search.alignment import chosen_layer
from headway.search.alternatives import Alternative, alternatives
from headway.search.beam import beam_search
from headway.search.constraints import Constraints
from headway.search.engine import BATCH_TOKENS, Part, Wish
from headway.search.forced import score_targets
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.search.sampling import sample
from headway.search.steps import StepModel
from headway.text.specials import BOS, EOS


@runtime_checkable
class ShowsAttention(Protocol):
    """A model with an encoder that tells where in the source it looked."""

    def encode(self, source: Tensor) -> Any:
        """Read sources (B, S): what tells this model from those that have no attention to a source."""

    def states(self, source: Tensor, target: Tensor, *, with_weights: bool) -> tuple[Tensor, Any]:
        """States, and maps whose `cross` has the weights (B, H, T, S) of each layer, for targets (B, T)."""


class TorchEngine:
    """A model of ours, or anything else that can be stepped, and how to search it.

    `quick` is the same model with quicker steps, if there are such.
    """

    name = "torch"
    workers = 0

    def __init__(
        self,
        model: StepModel,
        config: SearchConfig,
        device: torch.device | str = "cpu",
        *,
        quick: StepModel | None = None,
    ) -> None:
        self.model = model
        self.steps = quick or model
        self.config = config
        self.device = torch.device(device)
        self.penalty = LengthPenalty.of(config)
        self.batch_tokens = config.batch_tokens or BATCH_TOKENS

    def cannot(self, wish: Wish) -> str | None:
        """Phrases need beams, alignments an encoder."""
        match wish:
            case "phrases" if self.config.method != "beam":
                return f"phrases need search.method = beam; it is {self.config.method}"
            case "alignments" if not isinstance(self.model, ShowsAttention):
                return (
                    f"word alignments are read from a model's attention to the source, and {type(self.model).__name__} "
                    "shows none; take a single encoder-decoder, or leave the alignments out"
                )
        return None

    def decode(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The outputs of parts, as the settings have it."""
        source = self._sources(parts)
        rules = Rules.of(source, self.config, [part.prefix for part in parts])
        if any(part.phrases for part in parts):
            constraints = Constraints([part.phrases for part in parts])
            return beam_search(self.steps, source, constraints.make_room(rules), self.config, constraints)
        if self.config.method == "sampling":
            return sample(self.steps, source, rules, self.config, [(part.number, part.place) for part in parts])
        if self.config.beam == 1:
            return [[only] for only in greedy_search(self.steps, source, rules, self.penalty)]
        return beam_search(self.steps, source, rules, self.config)

    def score(self, parts: Sequence[Part]) -> list[list[Hypothesis]]:
        """The given targets of parts as hypotheses."""
        targets = [part.target or [] for part in parts]
        values = score_targets(self.steps, self._sources(parts), targets)
        return [
            [Hypothesis.of([*target, EOS], each, self.penalty)] for target, each in zip(targets, values, strict=True)
        ]

    @torch.no_grad()
    def cross_attention(self, parts: Sequence[Part], written: Sequence[Sequence[int]]) -> Tensor:
        """The weights (B, H, T, S) with which the tokens written look at the sources, in the layer that is set."""
        assert isinstance(self.model, ShowsAttention)
        target = padded([np.asarray([BOS, *tokens]) for tokens in written]).to(self.device)
        _, maps = self.model.states(self._sources(parts), target, with_weights=True)
        return chosen_layer(maps.cross, self.config.alignment_layer)

    def alternatives(self, part: Part, before: Sequence[int], count: int) -> list[Alternative]:
        """The best `count` tokens after the beginning `before` of an output, and how each goes on."""
        return alternatives(self.steps, self._sources([part]), before, count, self.config)

    def close(self) -> None:
        """It has nothing but memory."""

    def _sources(self, parts: Sequence[Part]) -> Tensor:
        """The sources of parts (B, S), with EOS."""
        return padded([np.asarray([*part.source, EOS]) for part in parts]).to(self.device)
