"""A run's weights -> a model of CTranslate2, which translates faster on CPUs, and in int8.

What comes in is a run directory; what goes out is a directory that `ctranslate2.Translator` reads: the weights, both
vocabularies and, so that others can cut text as the model wants it, the tokenizers. A model with a part that
CTranslate2 does not have is refused before anything is written.

The library is imported only when it is used: in one process with torch, the threads of the two get in each other's way.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.config import Config
from headway.errors import UserError
from headway.export.abilities import check_model, quantization_name
from headway.models import EncoderDecoder
from headway.models.layers import DecoderLayer, EncoderLayer
from headway.nn.attention import MultiHeadAttention
from headway.nn.feedforward import FeedForward
from headway.nn.positions import LearnedPositions, NoPositions, Positions, sinusoids
from headway.nn.residual import LayerNorm, Residual
from headway.nn.scores import Dot
from headway.store.checkpoints import Checkpoint
from headway.store.run import Run
from headway.text.specials import BOS, EOS, SPECIAL_TOKENS, UNK
from headway.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from ctranslate2.specs import TransformerSpec  # type: ignore[import-untyped]

POSITIONS = 2048
"""Fewest rows of a table of sinusoids. CTranslate2 cannot go on with it; what is longer is refused, not cut."""


def convert(
    run: Run, directory: Path, *, quantization: str | None = None, checkpoint: Checkpoint | None = None
) -> None:
    """Write a checkpoint, by default the run's chosen one, as a model of CTranslate2 into a new directory."""
    kind = quantization_name(quantization)
    check_model(run.config.model, str(run.path))
    model = run.load_model(checkpoint)
    assert isinstance(model, EncoderDecoder), "other families are refused"
    spec = to_spec(model, run.config, run.vocabulary)
    spec.validate()
    spec.optimize(kind)
    try:
        directory.mkdir(parents=True)
        spec.save(str(directory))
        _write_tokenizers(run.vocabulary, directory)
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}") from None


def to_spec(model: EncoderDecoder, config: Config, vocabulary: Vocabulary) -> "TransformerSpec":
    """The model as CTranslate2 describes models, with its weights."""
    from ctranslate2.specs import TransformerSpec, common_spec

    activations = common_spec.Activation
    settings = config.model
    spec = TransformerSpec.from_config(
        (len(model.encoder.layers), len(model.decoder.layers)),
        settings.heads,
        pre_norm=settings.norm_place == "pre",
        activation={"relu": activations.RELU, "gelu": activations.GELU, "swiglu": activations.SWISH}[
            settings.activation
        ],
        ffn_glu=settings.activation == "swiglu",
    )
    spec.encoder.embeddings[0].weight = _array(model.source_input.embedding.weight)
    spec.decoder.embeddings.weight = _array(model.target_input.embedding.weight)
    spec.decoder.projection.weight = _array(model.output.weight)
    for part, source in ((spec.encoder, model.source_input), (spec.decoder, model.target_input)):
        part.position_encodings.encodings = position_table(source.positions, config)
    for part, stack in ((spec.encoder, model.encoder), (spec.decoder, model.decoder)):
        if isinstance(stack.norm, LayerNorm):
            _set_norm(part.layer_norm, stack.norm)
        for layer_spec, layer in zip(part.layer, stack.layers, strict=True):
            _set_layer(layer_spec, layer)
    _describe_tokens(spec, vocabulary)
    spec.config.layer_norm_epsilon = settings.norm_epsilon
    return spec


def position_table(positions: Positions, config: Config) -> NDArray[np.float32]:
    """The encodings (T, D) that are added to embeddings; CTranslate2's own sinusoids have one layout only."""
    if isinstance(positions, LearnedPositions):
        return _array(positions.table)
    count = max(POSITIONS, 4 * config.data.max_length)
    if isinstance(positions, NoPositions):
        return np.zeros((count, config.model.d_model), np.float32)
    return _array(sinusoids(count, config.model.d_model, positions.layout))


def _describe_tokens(spec: "TransformerSpec", vocabulary: Vocabulary) -> None:
    """Set the vocabularies, and what begins and ends a sentence."""
    spec.register_source_vocabulary(vocabulary.source.names)
    spec.register_target_vocabulary(vocabulary.target.names)
    spec.config.unk_token = SPECIAL_TOKENS[UNK]
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL_TOKENS[BOS]
    spec.config.eos_token = SPECIAL_TOKENS[EOS]
    spec.config.add_source_eos = True


def _set_layer(spec: Any, layer: nn.Module) -> None:
    """Set the weights of a layer of either stack."""
    match layer:
        case EncoderLayer():
            _set_self_attention(spec.self_attention, layer.attention, layer.attention_residual)
        case DecoderLayer():
            _set_self_attention(spec.self_attention, layer.self_attention, layer.self_residual)
            _set_cross_attention(spec.attention, layer.cross_attention, layer.cross_residual)
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    _set_feed_forward(spec.ffn, layer.feed_forward, layer.feed_forward_residual)


def _set_self_attention(spec: Any, attention: MultiHeadAttention, residual: Residual) -> None:
    """Queries, keys and values are one matrix there."""
    queries, others = attention.to_query, attention.to_key_value
    spec.linear[0].weight = np.concatenate([_array(queries.weight), _array(others.weight)])
    if queries.bias is not None:
        spec.linear[0].bias = np.concatenate([_array(queries.bias), _array(others.bias)])
    _set_linear(spec.linear[1], attention.to_output)
    _set_scale_and_norm(spec, attention, residual)


def _set_cross_attention(spec: Any, attention: MultiHeadAttention, residual: Residual) -> None:
    """Queries are one matrix, keys and values another, as ours are."""
    projections = (attention.to_query, attention.to_key_value, attention.to_output)
    for part, projection in zip(spec.linear, projections, strict=True):
        _set_linear(part, projection)
    _set_scale_and_norm(spec, attention, residual)


def _set_scale_and_norm(spec: Any, attention: MultiHeadAttention, residual: Residual) -> None:
    if isinstance(attention.score, Dot):
        spec.queries_scale = np.float32(1.0)
    _set_norm(spec.layer_norm, residual.norm)


def _set_feed_forward(spec: Any, feed_forward: FeedForward, residual: Residual) -> None:
    """SwiGLU's gate and value are two matrices there."""
    weights, biases = _array(feed_forward.widen.weight), _array(feed_forward.widen.bias)
    if feed_forward.activation == "swiglu":
        weights, spec.linear_0_noact.weight = np.split(weights, 2)
        biases, spec.linear_0_noact.bias = np.split(biases, 2)
    spec.linear_0.weight, spec.linear_0.bias = weights, biases
    _set_linear(spec.linear_1, feed_forward.narrow)
    _set_norm(spec.layer_norm, residual.norm)


def _set_linear(spec: Any, linear: nn.Linear) -> None:
    spec.weight = _array(linear.weight)
    if linear.bias is not None:
        spec.bias = _array(linear.bias)


def _set_norm(spec: Any, norm: nn.Module) -> None:
    assert isinstance(norm, LayerNorm), "other norms are refused"
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(weight: Tensor) -> NDArray[np.float32]:
    return weight.detach().float().numpy()


def _write_tokenizers(vocabulary: Vocabulary, directory: Path) -> None:
    """Write each tokenizer as the `tokenizers` library reads it; one if both sides share it."""
    if vocabulary.is_shared:
        files = {"tokenizer.json": vocabulary.source}
    else:
        files = {"source_tokenizer.json": vocabulary.source, "target_tokenizer.json": vocabulary.target}
    for name, tokenizer in files.items():
        (directory / name).write_text(tokenizer.to_json(), encoding="utf-8")
