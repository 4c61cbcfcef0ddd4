"""Settings -> model. Every choice among parts is one `match`, here and nowhere else."""

from torch import nn

from headway.config import ModelConfig
from headway.models.decoder_only import DecoderOnly
from headway.models.encoder_decoder import EncoderDecoder
from headway.models.encoder_only import EncoderOnly, SentenceHead, TokenHead
from headway.models.layers import Decoder, DecoderLayer, Encoder, EncoderLayer
from headway.nn.attention import MultiHeadAttention
from headway.nn.embedding import Embedding, InputLayer
from headway.nn.feedforward import FeedForward
from headway.nn.masks import Band, Full, Pattern, TopK
from headway.nn.positions import LearnedPositions, NoPositions, Positions, Sinusoids
from headway.nn.residual import LayerNorm, MaskedBatchNorm, Norm, PostNorm, PreNorm, Residual
from headway.nn.scores import Additive, Dot, Gaussian, General, ScaledDot, Score

Model = EncoderDecoder | EncoderOnly | DecoderOnly


def build_model(config: ModelConfig) -> Model:
    """The model that the settings describe, with fresh weights from torch's current random state."""
    match config.family:
        case "encoder-decoder":
            return build_encoder_decoder(config)
        case "encoder-only":
            return build_encoder_only(config)
        case "decoder-only":
            return build_decoder_only(config)


def build_encoder_decoder(config: ModelConfig) -> EncoderDecoder:
    """The paper's model."""
    target_vocabulary = config.target_vocabulary or config.vocabulary
    source = Embedding(config.vocabulary, config.d_model)
    shares_all = config.share_embeddings == "all"
    target = source if shares_all else Embedding(target_vocabulary, config.d_model)
    return EncoderDecoder(
        build_input(config, source),
        build_encoder(config, causal=False),
        build_input(config, target),
        build_decoder(config),
        build_output(config, target_vocabulary, target),
    )


def build_encoder_only(config: ModelConfig) -> EncoderOnly:
    """The BERT-like model with the head that the settings name."""
    embedding = Embedding(config.vocabulary, config.d_model)
    head: TokenHead | SentenceHead
    match config.head:
        case "masked-tokens":
            head = TokenHead(build_output(config, config.vocabulary, embedding))
        case "tagging":
            head = TokenHead(nn.Linear(config.d_model, config.labels))
        case "classification":
            head = SentenceHead(nn.Linear(config.d_model, config.labels))
    return EncoderOnly(build_input(config, embedding), build_encoder(config, causal=False), head)


def build_decoder_only(config: ModelConfig) -> DecoderOnly:
    """The GPT-like model."""
    embedding = Embedding(config.vocabulary, config.d_model)
    return DecoderOnly(
        build_input(config, embedding),
        build_encoder(config, causal=True),
        build_output(config, config.vocabulary, embedding),
    )


def build_encoder(config: ModelConfig, *, causal: bool) -> Encoder:
    """A stack of self-attention and feed-forward layers."""
    layers = (
        EncoderLayer(
            build_attention(config, build_pattern(config, layer, causal=causal)),
            build_feed_forward(config),
            lambda: build_residual(config),
        )
        for layer in range(config.layers)
    )
    return Encoder(layers, build_final_norm(config))


def build_decoder(config: ModelConfig) -> Decoder:
    """A stack of causal layers that attend to a memory, all of it."""
    layers = (
        DecoderLayer(
            build_attention(config, build_pattern(config, layer, causal=True)),
            build_attention(config, Full()),
            build_feed_forward(config),
            lambda: build_residual(config),
        )
        for layer in range(config.decoder_layers or config.layers)
    )
    return Decoder(layers, build_final_norm(config))


def build_input(config: ModelConfig, embedding: Embedding) -> InputLayer:
    """Embedding, positions, dropout."""
    dropout = config.dropout if config.embedding_dropout is None else config.embedding_dropout
    return InputLayer(embedding, build_positions(config), dropout)


def build_output(config: ModelConfig, vocabulary: int, embedding: Embedding) -> nn.Linear:
    """States -> logits: the embedding's own matrix, or one for itself."""
    output = nn.Linear(config.d_model, vocabulary, bias=False)
    if config.share_embeddings == "none":
        nn.init.normal_(output.weight, std=config.d_model**-0.5)
    else:
        output.weight = embedding.weight
    return output


def build_attention(config: ModelConfig, pattern: Pattern) -> MultiHeadAttention:
    """Multi-head attention with its score function."""
    return MultiHeadAttention(
        config.d_model,
        config.heads,
        config.query_width,
        config.value_width,
        score=build_score(config),
        pattern=pattern,
        bias=config.attention_bias,
        dropout=config.attention_dropout,
    )


def build_score(config: ModelConfig) -> Score:
    """How queries and keys are compared."""
    match config.score:
        case "scaled-dot":
            return ScaledDot()
        case "dot":
            return Dot()
        case "general":
            return General(config.heads, config.query_width)
        case "additive":
            return Additive(config.heads, config.query_width)
        case "gaussian":
            return Gaussian()


def build_pattern(config: ModelConfig, layer: int, *, causal: bool) -> Pattern:
    """Which positions the self-attention of a layer, counted from 0, may look at."""
    match config.pattern:
        case "full":
            return Full(causal)
        case "window":
            return Band(config.window, causal=causal)
        case "dilated":
            return Band(config.window, dilation=2**layer, causal=causal)
        case "strided":
            return Band(config.window, config.stride, config.global_positions, causal)
        case "top-k":
            return TopK(config.top_k, causal)


def build_positions(config: ModelConfig) -> Positions:
    """Where tokens stand."""
    match config.positions:
        case "sinusoidal":
            return Sinusoids(config.d_model, "interleaved")
        case "sinusoidal-concatenated":
            return Sinusoids(config.d_model, "concatenated")
        case "sinusoidal-concatenated-t2t":
            return Sinusoids(config.d_model, "concatenated-t2t")
        case "learned":
            return LearnedPositions(config.d_model, config.max_positions)
        case "none":
            return NoPositions()


def build_residual(config: ModelConfig) -> Residual:
    """What surrounds a sub-layer."""
    match config.norm_place:
        case "post":
            return PostNorm(build_norm(config), config.dropout)
        case "pre":
            return PreNorm(build_norm(config), config.dropout)


def build_final_norm(config: ModelConfig) -> Norm | None:
    """What closes a pre-norm stack."""
    return build_norm(config) if config.norm_place == "pre" else None


def build_norm(config: ModelConfig) -> Norm:
    """Normalisation of D features."""
    match config.norm:
        case "layer":
            return LayerNorm(config.d_model, eps=config.norm_epsilon)
        case "batch":
            return MaskedBatchNorm(config.d_model, config.norm_epsilon)


def build_feed_forward(config: ModelConfig) -> FeedForward:
    """The position-wise network."""
    return FeedForward(config.d_model, config.d_ff, config.activation, config.ff_dropout)
