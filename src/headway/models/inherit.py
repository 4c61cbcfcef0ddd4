"""A model that begins as a part of a larger one: some of its layers, and all that is around them.

A student that is cut out of its teacher knows much of what the teacher knows from the start (Shleifer & Rush 2020).
"""

import re
from collections.abc import Mapping

from torch import Tensor

from headway.config import ModelConfig
from headway.errors import UserError

OF_A_LAYER = re.compile(r"(encoder|decoder|stack)\.layers\.(\d+)\.(.+)")
FREE = {"vocabulary", "target_vocabulary", "layers", "decoder_layers"} | {
    name for name in ModelConfig.model_fields if name.endswith("dropout")
}
"""Settings in which a part may differ from the whole; sizes of vocabularies follow from the words, not from them."""


def is_part_of(smaller: ModelConfig, larger: ModelConfig) -> bool:
    """Whether a model is like another one but for fewer layers."""
    if any(getattr(smaller, name) != getattr(larger, name) for name in ModelConfig.model_fields.keys() - FREE):
        return False
    mine, theirs = depths(smaller), depths(larger)
    return mine != theirs and all(mine[stack] <= theirs[stack] for stack in mine)


def inherit(weights: Mapping[str, Tensor], larger: ModelConfig, smaller: ModelConfig) -> dict[str, Tensor]:
    """The weights of a larger model that a smaller one begins with, by the names that they have there."""
    theirs = depths(larger)
    chosen = {stack: evenly_spread(count, theirs[stack]) for stack, count in depths(smaller).items() if stack in theirs}
    found = {}
    for name, weight in weights.items():
        match = OF_A_LAYER.fullmatch(name)
        if match is None:
            found[name] = weight
            continue
        stack, number, part = match.groups()
        if int(number) in (numbers := chosen.get(stack, [])):
            found[f"{stack}.layers.{numbers.index(int(number))}.{part}"] = weight
    return found


def depths(config: ModelConfig) -> dict[str, int]:
    """How many layers each stack has."""
    if config.family == "encoder-decoder":
        return {"encoder": config.layers, "decoder": config.decoder_layers or config.layers}
    return {"stack": config.layers}


def evenly_spread(count: int, layers: int) -> list[int]:
    """So many layers, by their numbers from 0: the first, the last, and others between them; one alone is the first."""
    if count > layers:
        raise UserError(f"a stack of {layers} layers cannot begin one of {count}")
    return [round(place * (layers - 1) / max(count - 1, 1)) for place in range(count)]
