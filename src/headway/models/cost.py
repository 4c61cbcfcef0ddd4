"""What a model costs before it is trained: parameters, arithmetic, memory.

Parameters are counted on the model itself, built without storage. The arithmetic is that of the matrix products,
two operations a multiply-add; a training step takes three times the forward pass. The memory that the forward
pass keeps for the backward pass is measured on shallow copies of the model and extended to its depth.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from headway.config import Config, ModelConfig
from headway.models.build import Model, build_model
from headway.models.encoder_decoder import EncoderDecoder
from headway.nn.attention import MultiHeadAttention
from headway.nn.embedding import Embedding
from headway.nn.feedforward import FeedForward
from headway.nn.masks import Band
from headway.nn.positions import LearnedPositions
from headway.nn.residual import LayerNorm, MaskedBatchNorm
from headway.nn.scores import General
from headway.text.specials import MASK

_BYTES = 4  # of a number in fp32
_MEASURED = 128  # tokens of the longest sequence that is really run
_ADAM_COPIES = 4  # weight, gradient, and Adam's two moments


@dataclass(frozen=True)
class Description:
    """The costs of a model."""

    parameters: dict[str, int]
    """Numbers to learn: `total`, and each part's."""
    length: int
    """Tokens of source and of target for which the following were computed."""
    flops: dict[str, float]
    """Operations a token (a source token with its target token): `forward`, each part's, `training`, and
    `training_run`, for all the updates of the recipe."""
    memory: dict[str, int]
    """Bytes: `weights`; `training_state`, the weights with gradients and Adam's moments; `activations`, what
    a training step of `train.batch_tokens` keeps for its backward pass."""

    def as_json(self) -> dict[str, Any]:
        """The fields as nested dictionaries."""
        return asdict(self)


def describe(config: Config, length: int = 32) -> Description:
    """The costs of the model that the settings describe, for sequences of `length` tokens."""
    with torch.device("meta"):
        model = build_model(config.model)
    parameters = count_parameters(model)
    flops = count_flops(model, length)
    forward = sum(flops.values())
    return Description(
        parameters={"total": sum(parameters.values()), **parameters},
        length=length,
        flops={
            "forward": forward,
            **flops,
            "training": 3 * forward,
            "training_run": 3.0 * forward * config.train.batch_tokens * config.train.steps,
        },
        memory={
            "weights": _BYTES * sum(parameters.values()),
            "training_state": _ADAM_COPIES * _BYTES * sum(parameters.values()),
            "activations": activation_bytes(config.model, length) * config.train.batch_tokens,
        },
    )


def count_parameters(model: Model) -> dict[str, int]:
    """Numbers to learn by part; what is shared counts once, where it comes first."""
    counted: set[Tensor] = set()
    parts: dict[str, int] = {}
    for label, module in parts_of(model):
        new = set(module.parameters()) - counted
        counted |= new
        parts[label] = parts.get(label, 0) + sum(p.numel() for p in new)
    assert counted == set(model.parameters()), "every parameter belongs to a part"
    return {label: count for label, count in parts.items() if count}


def count_flops(model: Model, length: int) -> dict[str, float]:
    """Operations of the forward pass a token, by part."""
    parts: dict[str, float] = {}
    for label, module in parts_of(model):
        products = [m for m in module.modules() if isinstance(m, nn.Linear | General)]
        work: float = sum(2 * m.weight.numel() for m in products)
        if isinstance(module, MultiHeadAttention):
            work += mixing_flops(module, length)
        parts[label] = parts.get(label, 0) + work
    return {label: count for label, count in parts.items() if count}


def parts_of(model: Model) -> Iterator[tuple[str, nn.Module]]:
    """The parts that have parameters, each with the name that it is counted under."""
    for name, module in model.named_modules():
        stack = name.partition(".")[0]
        match module:
            case Embedding():
                yield "embeddings", module
            case LearnedPositions():
                yield "positions", module
            case MultiHeadAttention():
                yield f"{stack} {'cross' if name.endswith('cross_attention') else 'self'}-attention", module
            case FeedForward():
                yield f"{stack} feed-forward", module
            case LayerNorm() | MaskedBatchNorm():
                yield f"{stack} norms", module
            case nn.Linear() if stack in ("output", "head"):
                yield "output", module


def mixing_flops(attention: MultiHeadAttention, length: int) -> float:
    """Operations that a query spends on scores and on the sum of values, the mean over its positions."""
    pattern = attention.pattern
    seen = (length + 1) / 2 if pattern.causal else length
    if isinstance(pattern, Band):
        seen = min(seen, pattern.width + pattern.global_positions)
    return 2 * seen * (attention.to_query.out_features + attention.to_output.in_features)


def activation_bytes(config: ModelConfig, length: int) -> int:
    """What the forward pass keeps for the backward pass, a token of a sequence of `length`.

    Without blocks of a band, that is a constant and a share that grows with the length: a long sequence is reckoned
    from two short ones, or else a description could need more memory than the training that it describes.
    """
    if length > _MEASURED and (config.score == "additive" or config.pattern in ("full", "top-k")):
        shorter, longer = (activation_bytes(config, n) for n in (_MEASURED // 2, _MEASURED))
        return longer + (longer - shorter) * (length - _MEASURED) // (_MEASURED - _MEASURED // 2)
    is_pair = config.family == "encoder-decoder"
    shallow = config.model_copy(
        update={
            "vocabulary": MASK + 1,
            "target_vocabulary": None,
            "layers": 1,
            "decoder_layers": 1 if is_pair else None,
        }
    )
    kept = _saved_bytes(shallow, length)
    for name, depth in (
        ("layers", config.layers),
        ("decoder_layers", config.decoder_layers or config.layers),
    ):
        if name == "layers" or is_pair:
            deeper = _saved_bytes(shallow.model_copy(update={name: 2}), length)
            kept += (depth - 1) * (deeper - _saved_bytes(shallow, length))
    return kept // length


def _saved_bytes(config: ModelConfig, length: int) -> int:
    """Bytes that autograd holds after the forward pass of one sequence, the weights themselves not counted."""
    with torch.device("meta"):
        model = build_model(config)
    model.to_empty(device="cpu").train()  # what the weights are does not matter
    held = {p.untyped_storage().data_ptr(): 0 for p in model.parameters()}

    def hold(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        held.setdefault(storage.data_ptr(), storage.nbytes())
        return tensor

    sides = 2 if isinstance(model, EncoderDecoder) else 1
    tokens = [torch.full((1, length), MASK)] * sides
    with (
        torch.random.fork_rng(devices=[]),
        torch.enable_grad(),
        torch.autograd.graph.saved_tensors_hooks(hold, lambda tensor: tensor),
    ):
        states, _ = model.states(*tokens)
    assert states.requires_grad  # and so the graph, and every address in it, was alive while we counted
    return sum(held.values())
