"""Every setting, with its one default and its one explanation. The defaults are the paper's base model.

The docstring under a field is what `--help` and docs/config.md print. Values come in through
`headway.settings.load_config`; the rules that tie several fields together are checked here.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(ge=0.0, lt=1.0)]

Family = Literal["encoder-decoder", "encoder-only", "decoder-only"]
ScoreName = Literal["scaled-dot", "dot", "general", "additive", "gaussian"]
PatternName = Literal["full", "window", "dilated", "strided", "top-k"]
PositionsName = Literal["sinusoidal", "sinusoidal-concatenated", "sinusoidal-concatenated-t2t", "learned", "none"]


class Section(BaseModel):
    """A group of settings: frozen, and unknown names are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False, strict=True
    )

    def broken_rules(self) -> Iterator[str]:
        """What is wrong between fields that are each right by themselves; each message names its fields."""
        yield from ()

    @model_validator(mode="after")
    def _check_rules(self) -> Self:
        if broken := list(self.broken_rules()):
            raise PydanticCustomError("rules", "{text}", {"text": "\n".join(broken)})
        return self


class ModelConfig(Section):
    """The network: what it is made of and how large it is."""

    family: Family = "encoder-decoder"
    """Which Transformer: the paper's encoder-decoder, or one of its relatives, encoder-only and decoder-only."""
    vocabulary: Count = 37000
    """V, the number of tokens (of the source side, if target_vocabulary is given)."""
    target_vocabulary: Count | None = None
    """Number of tokens of the target side, when the two sides do not share a vocabulary."""
    layers: Count = 6
    """N, the number of layers of each stack."""
    decoder_layers: Count | None = None
    """Number of layers of the decoder, when it is not that of the encoder."""
    d_model: Count = 512
    """D, the width of the embeddings and of every layer's output."""
    d_ff: Count = 2048
    """F, the inner width of the feed-forward layers."""
    heads: Count = 8
    """h, the number of attention heads."""
    d_k: Count | None = None
    """Width of the queries and keys of a head; by default d_model / heads (Table 3, rows B)."""
    d_v: Count | None = None
    """Width of the values of a head; by default d_model / heads."""
    dropout: Rate = 0.1
    """P_drop: on every sub-layer's output and on the sums of embeddings and positions (section 5.4)."""
    attention_dropout: Rate = 0.0
    """Dropout on the attention weights. Not in the paper's translation models."""
    ff_dropout: Rate = 0.0
    """Dropout inside the feed-forward layers, after the activation. Not in the paper."""
    score: ScoreName = "scaled-dot"
    """How a query is compared with a key. The paper: scaled-dot (section 3.2.1)."""
    pattern: PatternName = "full"
    """Which positions self-attention may look at. The paper: full; window is its section 4, 'restricted'."""
    window: Count = 128
    """r, the number of positions that window, dilated and strided self-attention look at."""
    stride: Count = 16
    """Distance between the positions that strided self-attention looks at."""
    global_positions: Annotated[int, Field(ge=0)] = 1
    """How many positions at the start strided self-attention always sees, and which see everything."""
    top_k: Count = 16
    """How many of the largest scores of a query top-k self-attention keeps."""
    attention_bias: bool = False
    """Biases in the four projections of multi-head attention. The paper's formulas have none."""
    positions: PositionsName = "sinusoidal"
    """Position encoding. Interleaved as in section 3.5, concatenated (as in HF Marian), concatenated with \
tensor2tensor's exponent, learned, or none."""
    max_positions: Count = 512
    """How many positions learned position embeddings have."""
    norm: Literal["layer", "batch"] = "layer"
    """Layer normalisation, or batch normalisation over the real tokens. In a causal stack, batch norm lets \
a position see the future while training."""
    norm_place: Literal["post", "pre"] = "post"
    """Normalise after adding the residual (the paper), or before each sub-layer and once at the end."""
    norm_epsilon: Annotated[float, Field(gt=0.0)] = 1e-6
    """Added to the variance before dividing."""
    activation: Literal["relu", "gelu", "swiglu"] = "relu"
    """Of the feed-forward layers. The paper: relu. swiglu has a third weight matrix."""
    share_embeddings: Literal["all", "target-output", "none"] = "all"
    """One matrix for source embedding, target embedding and output (section 3.4), for the last two, or none."""
    head: Literal["masked-tokens", "classification", "tagging"] = "masked-tokens"
    """What an encoder-only model predicts: the tokens hidden from it, a label a sentence, or a label a token."""
    labels: Annotated[int, Field(ge=2)] = 2
    """How many labels the classification and tagging heads tell apart."""

    @property
    def query_width(self) -> int:
        """E of queries and keys: d_k, or d_model / heads."""
        return self.d_k or self.d_model // self.heads

    @property
    def value_width(self) -> int:
        """E of values: d_v, or d_model / heads."""
        return self.d_v or self.d_model // self.heads

    def broken_rules(self) -> Iterator[str]:
        """The rules that tie several fields of the model together."""
        if self.d_model % self.heads and not (self.d_k and self.d_v):
            missing = " and ".join(f"model.{name}" for name in ("d_k", "d_v") if not getattr(self, name))
            yield (
                f"model.heads = {self.heads} does not divide model.d_model = {self.d_model}; "
                f"choose heads among {_divisors(self.d_model)}, or give {missing}"
            )
        if self.positions.startswith("sinusoidal") and self.d_model % 2:
            yield (
                f"model.positions = {self.positions} pairs sines with cosines and needs an even model.d_model; "
                f"got {self.d_model}"
            )
        if self.target_vocabulary is not None:
            yield from self._broken_vocabularies()
        if self.decoder_layers is not None and self.family != "encoder-decoder":
            yield (
                f"model.decoder_layers = {self.decoder_layers} belongs to the encoder-decoder; "
                f"model.family is {self.family}, whose one stack has model.layers"
            )

    def _broken_vocabularies(self) -> Iterator[str]:
        if self.family != "encoder-decoder":
            yield f"model.target_vocabulary needs model.family = encoder-decoder; it is {self.family}"
        elif self.share_embeddings == "all" and self.target_vocabulary != self.vocabulary:
            yield (
                f"model.target_vocabulary = {self.target_vocabulary} is not model.vocabulary = "
                f"{self.vocabulary}, so one matrix cannot serve both: set model.share_embeddings to "
                "target-output or none"
            )


class DataConfig(Section):
    """The corpus: how it is read, and which pairs are left out. Every prepared corpus says how many, and why."""

    source_field: str = "source"
    """Name of the source text in the objects of a JSON Lines file."""
    target_field: str = "target"
    """Name of the target text in the objects of a JSON Lines file."""
    source_language: str | None = None
    """Language code of the source in a TMX file, as in en or en-GB."""
    target_language: str | None = None
    """Language code of the target in a TMX file."""
    max_length: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Pairs with more tokens than this on one side are left out of training."""
    max_ratio: Annotated[float, Field(ge=1.0)] | None = None
    """Pairs with one side this many times longer than the other, in tokens, are left out of training."""


class TokenizerConfig(Section):
    """How text becomes tokens."""

    kind: Literal["bpe", "unigram", "wordpiece", "byte-level", "character", "word"] = "bpe"
    """How pieces are learned. Whatever the kind, text that has no piece is spelled in bytes, and nothing is lost."""
    size: Count | None = None
    """Most tokens a vocabulary may have; by default chosen from the size of the corpus, 8,000 for 30,000 pairs."""
    shared: bool = True
    """One vocabulary for both sides, as in the paper, or one each."""
    normalisation: Literal["nfc", "nfkc", "none"] = "nfc"
    """Unicode normalisation of all text."""
    dropout: Rate = 0.0
    """BPE dropout while training: the probability that a merge is left out, so that words are cut anew each time."""

    def broken_rules(self) -> Iterator[str]:
        """BPE dropout leaves out merges, and only BPE has them."""
        if self.dropout and self.kind not in ("bpe", "byte-level"):
            yield (
                f"tokenizer.dropout = {self.dropout} leaves out merges, and tokenizer.kind = {self.kind} has none; "
                "set tokenizer.kind to bpe or byte-level, or tokenizer.dropout to 0"
            )


class TrainConfig(Section):
    """The recipe: how the weights are found (section 5)."""

    steps: Count = 100_000
    """Number of updates."""
    batch_tokens: Count = 25_000
    """About how many source tokens, and about how many target tokens, one update sees."""
    warmup: Count = 4000
    """Updates during which the learning rate rises."""
    label_smoothing: Rate = 0.1
    """eps_ls: the probability taken from the right token and spread over the others."""


class Config(Section):
    """All settings of a run."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    train: TrainConfig = TrainConfig()


def _divisors(number: int) -> str:
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)
