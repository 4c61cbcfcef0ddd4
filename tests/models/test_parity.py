"""Our encoder-decoder against `torch.nn.Transformer` with the same weights: outputs and gradients."""

import pytest
import torch
from small import random_ids, small_config
from torch import nn

from headway.models.build import build_encoder_decoder
from headway.models.encoder_decoder import EncoderDecoder
from headway.nn.attention import MultiHeadAttention
from headway.nn.masks import real_tokens

D, F, HEADS, LAYERS = 16, 32, 2, 2


def build_theirs(norm_first: bool) -> nn.Transformer:
    """torch's model; its post-norm form ends without the extra norm that `nn.Transformer` adds by itself."""
    sizes = {"dim_feedforward": F, "dropout": 0.0, "batch_first": True, "norm_first": norm_first}
    norms = [nn.LayerNorm(D) if norm_first else None for _ in range(2)]
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, HEADS, **sizes), LAYERS, norms[0], enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, **sizes), LAYERS, norms[1])
    theirs = nn.Transformer(D, HEADS, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)
    for p in theirs.parameters():
        nn.init.normal_(p, std=0.3)
    return theirs


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    ours.to_query.weight.copy_(theirs.in_proj_weight[:D])
    ours.to_query.bias.copy_(theirs.in_proj_bias[:D])
    ours.to_key_value.weight.copy_(theirs.in_proj_weight[D:])
    ours.to_key_value.bias.copy_(theirs.in_proj_bias[D:])
    ours.to_output.load_state_dict(theirs.out_proj.state_dict())


@torch.no_grad()
def copy_weights(ours: EncoderDecoder, theirs: nn.Transformer) -> None:
    for mine, other in zip(ours.encoder.layers, theirs.encoder.layers, strict=True):
        copy_attention(mine.attention, other.self_attn)
        mine.attention_residual.norm.load_state_dict(other.norm1.state_dict())
        mine.feed_forward_residual.norm.load_state_dict(other.norm2.state_dict())
    for mine, other in zip(ours.decoder.layers, theirs.decoder.layers, strict=True):
        copy_attention(mine.self_attention, other.self_attn)
        copy_attention(mine.cross_attention, other.multihead_attn)
        mine.self_residual.norm.load_state_dict(other.norm1.state_dict())
        mine.cross_residual.norm.load_state_dict(other.norm2.state_dict())
        mine.feed_forward_residual.norm.load_state_dict(other.norm3.state_dict())
    for mine, other in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for layer, reference in zip(mine.layers, other.layers, strict=True):
            layer.feed_forward.widen.load_state_dict(reference.linear1.state_dict())
            layer.feed_forward.narrow.load_state_dict(reference.linear2.state_dict())
        if mine.norm is not None:
            mine.norm.load_state_dict(other.norm.state_dict())


@pytest.mark.parametrize("place", ["post", "pre"])
def test_the_same_weights_give_the_same_output_and_gradients(place: str) -> None:
    config = small_config(attention_bias=True, norm_epsilon=1e-5, norm_place=place)
    ours, theirs = build_encoder_decoder(config), build_theirs(place == "pre")
    copy_weights(ours, theirs)
    source, target = random_ids(3, 7), random_ids(3, 5)
    source[1, 4:] = 0
    target[2, 3:] = 0
    states, _ = ours.states(source, target)
    hidden = ~real_tokens(source)
    expected = theirs(
        ours.source_input(source),
        ours.target_input(target),
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
        tgt_is_causal=True,
    )
    real = real_tokens(target)  # what comes out for padding is nobody's business
    torch.testing.assert_close(states[real], expected[real], atol=1e-5, rtol=1e-5)
    gradient = torch.randn_like(states) * real[..., None]
    shared = ours.source_input.embedding.weight
    mine = torch.autograd.grad(states, shared, gradient)[0]
    other = torch.autograd.grad(expected, shared, gradient)[0]
    torch.testing.assert_close(mine, other, atol=1e-5, rtol=1e-4)
