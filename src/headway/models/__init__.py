"""The parts assembled: encoder-decoder, encoder-only and decoder-only, built from settings.

`start` and `step` are how search reaches a model that writes; `states` is how a loss does.
"""

from headway.models.build import Model, build_model
from headway.models.cost import Description, describe
from headway.models.decoder_only import DecoderOnly
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.encoder_only import EncoderOnly
from headway.models.outputs import AttentionMaps, DecodingState

__all__ = [
    "AttentionMaps",
    "DecoderOnly",
    "DecodingState",
    "Description",
    "EncoderDecoder",
    "EncoderOnly",
    "Model",
    "build_model",
    "describe",
]
