"""Every setting, with its one default and its one explanation. The defaults are the paper's base model.

The docstring under a field is what `--help` and docs/config.md print. Values come in through
`headway.settings.load_config`; the rules that tie several fields together are checked here.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

Count = Annotated[int, Field(ge=1)]
Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]

Family = Literal["encoder-decoder", "encoder-only", "decoder-only"]
ObjectiveName = Literal["translation", "language-model", "masked-tokens", "infilling", "span-corruption", "tagging"]
ScoreName = Literal["scaled-dot", "dot", "general", "additive", "gaussian"]
PatternName = Literal["full", "window", "dilated", "strided", "top-k"]
PositionsName = Literal["sinusoidal", "sinusoidal-concatenated", "sinusoidal-concatenated-t2t", "learned", "none"]


OBJECTIVES: dict[Family, tuple[ObjectiveName, ...]] = {
    "encoder-decoder": ("translation", "infilling", "span-corruption"),
    "decoder-only": ("translation", "language-model"),
    "encoder-only": ("masked-tokens", "tagging"),
}
"""What each family can learn; the first is what it learns by default."""


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
    embedding_dropout: Rate | None = None
    """Dropout on the sums of embeddings and positions, where it is not to be that of the sub-layers."""
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

    source_column: Count | None = None
    """Column of the source text in a TSV file, counted from 1 as by cut -f. By default there are two columns, and the \
first is the source."""
    target_column: Count | None = None
    """Column of the target text in a TSV file, counted from 1. Give both columns or none."""
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

    def broken_rules(self) -> Iterator[str]:
        """Of two columns, none can be guessed from the other."""
        if (self.source_column is None) != (self.target_column is None):
            shown = [column or "unset" for column in (self.source_column, self.target_column)]
            yield f"data.source_column is {shown[0]} and data.target_column is {shown[1]}; set both or neither"


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

    objective: ObjectiveName | None = None
    """What is learned: translation (by default), infilling or span-corruption by an encoder-decoder; translation (by \
default) or language-model by a decoder; masked-tokens (by default) or tagging, a target token a source token, by an \
encoder. Those that need one text only read the source side."""
    steps: Count = 100_000
    """Number of updates."""
    batch_tokens: Count = 25_000
    """About how many source tokens, and about how many target tokens, one update sees, on all ranks together."""
    mix: Count = 1
    """How many batches, each of sentences of like length, are mixed, so that an update learns from so many lengths. \
1 leaves them as they are, as in the paper."""
    accumulate: Count = 1
    """In how many parts a rank works through its share of an update, one after the other, to need less memory. \
The gradient stays that of the whole."""
    schedule: Literal["noam", "inverse-sqrt", "cosine", "constant"] = "noam"
    """How the learning rate moves: the paper's formula (noam), or up to peak_rate and then down or flat."""
    warmup: Count = 4000
    """Updates during which the learning rate rises; with cosine, at most half of all."""
    rate_factor: Positive = 1.0
    """What noam's formula is multiplied with. The paper: 1; tensor2tensor's later settings: 2."""
    peak_rate: Positive = 7e-4
    """Highest learning rate of the other schedules, reached at the end of the warm-up."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """Adam as in the paper, or with decoupled weight decay."""
    beta1: Rate = 0.9
    """Decay of Adam's mean of gradients."""
    beta2: Rate = 0.98
    """Decay of Adam's mean of squared gradients."""
    epsilon: Positive = 1e-9
    """Added to the root of that mean before dividing."""
    weight_decay: NotNegative = 0.0
    """Of matrices, not of biases and norms. The paper has none."""
    clip: NotNegative = 0.0
    """Largest norm of the gradient; longer ones are shortened to it. 0 leaves them as they are, as in the paper."""
    label_smoothing: Rate = 0.1
    """eps_ls: the probability taken from the right token and spread over the others."""
    smoothing: Literal["paper", "torch"] = "paper"
    """Who gets it: eps/(V-1) for each other token, as the paper's code has it, or eps/V for every token, as torch."""
    r_drop: NotNegative = 0.0
    """R-Drop: weight of the divergence between two passes with different dropout. Helps small corpora, costs a pass."""
    ema: Rate = 0.0
    """Decay of a moving average of the weights, which is then what is validated, kept and used. 0 keeps none."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Decides about first weights, order of the data and dropout."""
    validate_every: Count = 1000
    """Updates between two validations."""
    valid_pairs: Count = 1000
    """How many pairs are held out when no validation corpus is given, but at most a tenth of the corpus."""
    valid_sentences: Annotated[int, Field(ge=0)] = 500
    """How many validation sentences are really translated, for BLEU. 0 leaves it at perplexity."""
    select_by: Literal["bleu", "perplexity"] = "bleu"
    """What makes one checkpoint better than another; perplexity if nothing is translated."""
    patience: Annotated[int, Field(ge=0)] = 0
    """Stop when so many validations in a row have brought nothing better. 0 never stops early."""
    save_every: Count = 1000
    """Updates between two checkpoints."""
    save_minutes: Positive = 10.0
    """Minutes between two checkpoints, whatever their number of updates. The paper: 10."""
    keep: Count = 5
    """How many of the last regular checkpoints are kept, beside the best one."""
    average: Annotated[int, Field(ge=0)] = 5
    """How many of the last regular checkpoints are averaged at the end. The paper: 5 (base), 20 (big)."""
    on_nonfinite: Literal["stop", "skip", "rollback"] = "stop"
    """When a loss or gradient is not a finite number: stop, leave the batch out, or also go back to the last \
regular checkpoint."""
    log_every: Count = 50
    """Updates between two lines of metrics.jsonl."""
    tensorboard: bool = False
    """Write the curves for TensorBoard as well, to RUN/tensorboard."""


class MachineConfig(Section):
    """What a run computes on, and how precisely. Two runs that differ here learn the same, but not bit for bit."""

    device: str = "auto"
    """cpu, cuda, cuda:1, mps; auto takes a GPU if there is one."""
    threads: Count | None = None
    """Threads of the CPU; by default as many as there are cores."""
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    """Type of the matrix products; weights stay fp32. bf16 and fp16 need a GPU, or a CPU that has them."""
    allocator: Literal["default", "tcmalloc"] = "default"
    """Memory allocator of headway train; tcmalloc can make training on a CPU faster. Linux only, if it is installed."""
    tf32: bool = False
    """Let GPUs round the factors of fp32 products to 19 bits, which is faster."""
    compile: bool = False
    """Compile the model with torch.compile; if that fails, training goes on without it and says so."""
    recompute: bool = False
    """Compute activations of a layer again in the backward pass instead of keeping them: less memory, more time."""
    parallel: Literal["ddp", "fsdp"] = "ddp"
    """Under torchrun: each rank has all weights (ddp), or they are spread over the ranks (fsdp)."""
    timeout_minutes: Positive = 30.0
    """Under torchrun: how long ranks wait for each other before the run ends with a message."""


class SearchConfig(Section):
    """How a trained model writes. The defaults are the paper's (section 6.1)."""

    method: Literal["beam", "sampling"] = "beam"
    """Look for the most probable output, or draw one at random as the model's probabilities have it."""
    beam: Count = 4
    """How many partial outputs are kept side by side. 1 is greedy search: the most probable token at each step."""
    penalty: Literal["gnmt", "power"] = "gnmt"
    """What log-probabilities are divided by, so that long outputs can win: gnmt ((5+L)/6)^alpha, as in the paper, \
tensor2tensor, Joey NMT and OpenNMT's wu; or power L^alpha, as in fairseq, Marian, HF, CTranslate2 and Sockeye. \
L counts the end of sentence. The same alpha favours long outputs more with power."""
    alpha: NotNegative = 0.6
    """Strength of the length penalty; 0 is none. The paper: 0.6 with gnmt."""
    patience: Positive | None = None
    """Stop once this many times search.beam outputs have ended; CTranslate2, fairseq and Marian stop with 1. That is \
faster, and may miss the best. By default the search stops when nothing better can come, as the paper's code does; the \
engine ctranslate2, which cannot do that, then stops with 2."""
    extra_length: Annotated[int, Field(ge=0)] = 50
    """How many tokens longer than its source an output may be."""
    min_length: Annotated[int, Field(ge=0)] = 0
    """Fewest tokens of an output."""
    n_best: Count = 1
    """How many outputs of each sentence are wanted, best first; when sampling, how many are drawn."""
    temperature: Positive = 1.0
    """Sampling: below 1 probable tokens become more probable, above 1 less."""
    top_k: Count | None = None
    """Sampling: draw only among this many most probable tokens."""
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    """Sampling: draw only among the most probable tokens that together have this probability."""
    seed: Annotated[int, Field(ge=0)] = 1
    """Sampling: decides, together with the number of the line, about what is drawn."""
    batch_tokens: Count | None = None
    """How many source tokens are translated at once, padding included; by default as many as the engine likes best. \
Changes speed and memory, not the output."""
    window: Count = 4096
    """How many lines are read ahead and sorted by length, at first fewer. Changes speed and memory, not the output or \
its order; 1: each line is answered before the next is read."""
    long_lines: Literal["split", "whole"] = "split"
    """Lines with more tokens than data.max_length, longer than any that were trained on: translated in parts, cut at \
sentence ends, or whole. A part that is still too long is translated with a warning; nothing is ever left out."""
    alignment_layer: Count | None = None
    """Layer of the decoder whose attention gives word alignments, counted from 1; by default the last but one, \
after Garg et al. (2019)."""

    @property
    def enough(self) -> float:
        """After how many ended outputs of a sentence its search stops: as patience has it, but no fewer than wanted."""
        return math.inf if self.patience is None else max(math.ceil(self.patience * self.beam), self.n_best)

    def broken_rules(self) -> Iterator[str]:
        """No more outputs than beams."""
        if self.method == "beam" and self.n_best > self.beam:
            yield (
                f"search.n_best = {self.n_best} is more than search.beam = {self.beam} can find; "
                f"set search.beam to at least {self.n_best}"
            )


class Config(Section):
    """All settings of a run."""

    model: ModelConfig = ModelConfig()
    data: DataConfig = DataConfig()
    tokenizer: TokenizerConfig = TokenizerConfig()
    train: TrainConfig = TrainConfig()
    machine: MachineConfig = MachineConfig()
    search: SearchConfig = SearchConfig()

    @property
    def objective(self) -> ObjectiveName:
        """What is learned: what the settings name, or what suits the family."""
        return self.train.objective or OBJECTIVES[self.model.family][0]

    def broken_rules(self) -> Iterator[str]:
        """What is learned must fit what learns it."""
        family, objective = self.model.family, self.objective
        if objective not in OBJECTIVES[family]:
            yield (
                f"train.objective = {objective} is not for model.family = {family}, which learns "
                f"{' or '.join(OBJECTIVES[family])}"
            )
        if objective == "tagging" and self.tokenizer.dropout:
            yield "train.objective = tagging pairs tokens one by one, so tokenizer.dropout must be 0"


def _divisors(number: int) -> str:
    return ", ".join(str(n) for n in range(1, number + 1) if number % n == 0)
