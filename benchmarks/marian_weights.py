"""A run's weights -> a directory that Hugging Face's MarianMTModel reads, so that both decode the same model."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from headway.errors import UserError
from headway.export.ctranslate2 import position_table
from headway.models import EncoderDecoder
from headway.models.layers import DecoderLayer, EncoderLayer
from headway.nn.attention import MultiHeadAttention
from headway.store.run import Run
from headway.text.specials import BOS, EOS, MASK, PAD, UNK

SAME = {
    "family": "encoder-decoder",
    "share_embeddings": "all",
    "norm": "layer",
    "norm_place": "post",
    "activation": "relu",
    "score": "scaled-dot",
    "pattern": "full",
    "attention_bias": False,
}
"""What a model must be for Marian to hold it as it is written here."""


def write_marian(run: Run, directory: Path) -> None:
    """Write the run's model, which must be one that Marian has."""
    settings = run.config.model
    if other := [name for name, value in SAME.items() if getattr(settings, name) != value]:
        raise UserError(f"Marian has no model with the {', '.join(f'model.{name}' for name in other)} of {run.path}")
    model = run.load_model()
    assert isinstance(model, EncoderDecoder)
    positions = torch.from_numpy(position_table(model.source_input.positions, run.config))
    weights = {
        "model.shared.weight": model.output.weight,
        "final_logits_bias": torch.zeros(1, settings.vocabulary),
        "model.encoder.embed_positions.weight": positions,
        "model.decoder.embed_positions.weight": positions.clone(),
    }
    for name, stack in (("encoder", model.encoder), ("decoder", model.decoder)):
        for number, layer in enumerate(stack.layers):
            weights |= {f"model.{name}.layers.{number}.{key}": value for key, value in layer_weights(layer).items()}
    directory.mkdir(parents=True)
    save_file({name: value.detach().contiguous() for name, value in weights.items()}, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(marian_settings(run, len(positions))), encoding="utf-8")


def marian_settings(run: Run, positions: int) -> dict[str, object]:
    settings = run.config.model
    sides: dict[str, object] = {}
    for side, layers in (("encoder", settings.layers), ("decoder", settings.decoder_layers or settings.layers)):
        sides |= {
            f"{side}_layers": layers,
            f"{side}_ffn_dim": settings.d_ff,
            f"{side}_attention_heads": settings.heads,
        }
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        **sides,
        "vocab_size": settings.vocabulary,
        "d_model": settings.d_model,
        "activation_function": settings.activation,
        "scale_embedding": True,
        "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True,
        "max_position_embeddings": positions,
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
        "suppress_tokens": [PAD, BOS, UNK, MASK],
    }


def layer_weights(layer: nn.Module) -> dict[str, Tensor]:
    """The weights of a layer of either stack, by Marian's names."""
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    weights: dict[str, Tensor] = {}
    if isinstance(layer, EncoderLayer):
        weights |= attention_weights("self_attn", layer.attention)
        weights |= named("self_attn_layer_norm", layer.attention_residual.norm)
    else:
        weights |= attention_weights("self_attn", layer.self_attention)
        weights |= named("self_attn_layer_norm", layer.self_residual.norm)
        weights |= attention_weights("encoder_attn", layer.cross_attention)
        weights |= named("encoder_attn_layer_norm", layer.cross_residual.norm)
    weights |= named("fc1", layer.feed_forward.widen)
    weights |= named("fc2", layer.feed_forward.narrow)
    return weights | named("final_layer_norm", layer.feed_forward_residual.norm)


def attention_weights(name: str, attention: MultiHeadAttention) -> dict[str, Tensor]:
    """Four projections, whose biases are zeros: ours have none."""
    keys, values = attention.to_key_value.weight.split([attention.key_width, attention.to_output.in_features])
    parts = {
        "q_proj": attention.to_query.weight,
        "k_proj": keys,
        "v_proj": values,
        "out_proj": attention.to_output.weight,
    }
    weights = {f"{name}.{key}.weight": weight for key, weight in parts.items()}
    return weights | {f"{name}.{key}.bias": torch.zeros(len(weight)) for key, weight in parts.items()}


def named(name: str, module: nn.Module) -> dict[str, Tensor]:
    """The weight and the bias of a module."""
    return {f"{name}.{key}": value for key, value in module.state_dict().items()}
