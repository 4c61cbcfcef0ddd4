"""Small models for the tests."""

import torch

from headway.config import ModelConfig
from headway.models import Model, build_model
from headway.models.encoder_decoder import EncoderDecoder

VOCABULARY = 20


def small_config(**settings) -> ModelConfig:
    sizes = {"vocabulary": VOCABULARY, "layers": 2, "d_model": 16, "d_ff": 32, "heads": 2, "dropout": 0.0}
    narrow = {"window": 4, "stride": 2, "top_k": 3, "max_positions": 300}
    return ModelConfig(**{**sizes, **narrow, **settings})


def small_model(**settings) -> Model:
    return build_model(small_config(**settings))


def random_ids(rows: int, length: int) -> torch.Tensor:
    return torch.randint(1, VOCABULARY, (rows, length))


def states_of(model: Model, *sides: torch.Tensor) -> torch.Tensor:
    """The states for tokens, the same on both sides where only one is given."""
    if isinstance(model, EncoderDecoder):
        return model.states(sides[0], sides[-1])[0]
    return model.states(sides[-1])[0]
