"""Every combination of parts builds and learns; presets have the paper's sizes; sharing shares."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from small import VOCABULARY, random_ids, small_config, small_model

from headway import build_model, load_config
from headway.config import ModelConfig
from headway.models import DecoderOnly, EncoderDecoder, EncoderOnly, describe
from headway.nn.masks import Band

SCORES = ["scaled-dot", "dot", "general", "additive", "gaussian"]
PATTERNS = ["full", "window", "dilated", "strided", "top-k"]
POSITIONS = ["sinusoidal", "sinusoidal-concatenated", "sinusoidal-concatenated-t2t", "learned", "none"]
NORMS = list(itertools.product(["layer", "batch"], ["post", "pre"]))
FAMILIES = ["encoder-decoder", "encoder-only", "decoder-only"]

# PAPER, Table 3: parameters in millions, computed for vocabularies of 37,000 and of 41,000.
TABLE_3 = {
    "base": (63.05, 65.09),
    "A-h1": (63.05, 65.09),
    "A-h4": (63.05, 65.09),
    "A-h16": (63.05, 65.09),
    "A-h32": (63.05, 65.09),
    "B-dk16": (55.97, 58.02),
    "B-dk32": (58.33, 60.38),
    "C-N2": (33.64, 35.69),
    "C-N4": (48.35, 50.39),
    "C-N8": (77.75, 79.79),
    "C-d256": (26.82, 27.84),
    "C-d1024": (163.82, 167.91),
    "C-ff1024": (50.45, 52.50),
    "C-ff4096": (88.24, 90.28),
    "big": (214.17, 218.27),
}


def formula(config: ModelConfig) -> int:
    """Parameters of the paper's model: no attention biases, feed-forward biases, one shared matrix."""
    d, f, n, h = config.d_model, config.d_ff, config.layers, config.heads
    attention = d * h * (2 * config.query_width + 2 * config.value_width)
    feed_forward = 2 * d * f + f + d
    norm = 2 * d
    return config.vocabulary * d + n * (
        (attention + feed_forward + 2 * norm) + (2 * attention + feed_forward + 3 * norm)
    )


@pytest.mark.parametrize("vocabulary", [37_000, 41_000])
@pytest.mark.parametrize("preset", TABLE_3)
def test_presets_have_the_parameters_of_the_paper(preset: str, vocabulary: int) -> None:
    config = load_config(preset, assignments=[f"model.vocabulary={vocabulary}"])
    with torch.device("meta"):
        model = build_model(config.model)
    total = sum(p.numel() for p in model.parameters())
    assert total == formula(config.model)
    assert round(total / 1e6, 2) == TABLE_3[preset][vocabulary == 41_000]


def test_the_remaining_presets() -> None:
    tiny, small, parsing = (load_config(name).model for name in ("tiny", "small", "parsing"))
    assert (tiny.layers, tiny.d_model, tiny.d_ff, tiny.dropout, tiny.norm_place) == (4, 128, 256, 0.3, "pre")
    assert (small.layers, small.d_model, small.d_ff, small.heads) == (3, 256, 1024, 4)
    assert (parsing.layers, parsing.d_model) == (4, 1024)
    assert load_config("D-drop0").model.dropout == 0.0
    assert load_config("D-drop0.2").model.dropout == 0.2
    assert load_config("D-ls0").train.label_smoothing == 0.0
    assert load_config("D-ls0.2").train.label_smoothing == 0.2
    assert load_config("E-learned").model.positions == "learned"
    big = load_config("big")
    assert (big.model.dropout, big.train.steps) == (0.3, 300_000)


def loss_of(model, ids: torch.Tensor) -> torch.Tensor:
    logits = model(ids, ids) if isinstance(model, EncoderDecoder) else model(ids)
    return F.cross_entropy(logits.flatten(0, 1), ids.flatten(), ignore_index=0)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("score", SCORES)
def test_every_combination_builds_and_learns(score: str, pattern: str, family: str) -> None:
    ids = random_ids(2, 12)
    ids[1, 9:] = 0
    for positions, (norm, place) in itertools.product(POSITIONS, NORMS):
        model = small_model(
            family=family, score=score, pattern=pattern, positions=positions, norm=norm, norm_place=place, dropout=0.1
        )
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        loss = loss_of(model, ids)
        loss.backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert loss.isfinite()
        for name, p in model.named_parameters():
            assert p.isfinite().all(), name
        assert sum(not p.equal(before[name]) for name, p in model.named_parameters()) == len(before), "all parts learn"


@pytest.mark.parametrize("setting", [{"activation": "gelu"}, {"activation": "swiglu"}, {"attention_bias": True}])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_other_settings_build_too(family: str, setting: dict) -> None:
    model = small_model(family=family, **setting, attention_dropout=0.1, ff_dropout=0.1)
    loss = loss_of(model, random_ids(2, 12))
    loss.backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_the_dilated_window_grows_with_the_layer() -> None:
    model = small_model(pattern="dilated", layers=3)
    assert [layer.attention.pattern for layer in model.encoder.layers] == [Band(4, 1), Band(4, 2), Band(4, 4)]
    assert all(layer.self_attention.pattern.causal for layer in model.decoder.layers)


@pytest.mark.parametrize(("share", "matrices"), [("all", 1), ("target-output", 2), ("none", 3)])
def test_sharing_of_embeddings(share: str, matrices: int) -> None:
    model = small_model(share_embeddings=share)
    weights = [model.source_input.embedding.weight, model.target_input.embedding.weight, model.output.weight]
    assert len({id(weight) for weight in weights}) == matrices


def test_two_vocabularies() -> None:
    model = small_model(target_vocabulary=30, share_embeddings="target-output")
    logits = model(random_ids(2, 5), torch.tensor([[29], [28]]))
    assert logits.shape == (2, 1, 30)


def test_an_encoder_and_a_decoder_of_different_depth() -> None:
    model = small_model(layers=3, decoder_layers=1)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (3, 1)


def test_the_heads_of_an_encoder() -> None:
    ids = random_ids(2, 5)
    shapes = {
        head: tuple(small_model(family="encoder-only", head=head, labels=7)(ids).shape)
        for head in ("masked-tokens", "tagging", "classification")
    }
    assert shapes == {"masked-tokens": (2, 5, VOCABULARY), "tagging": (2, 5, 7), "classification": (2, 7)}


def test_families() -> None:
    classes = [type(small_model(family=family)) for family in FAMILIES]
    assert classes == [EncoderDecoder, EncoderOnly, DecoderOnly]


def test_fresh_weights_depend_on_the_seed_alone() -> None:
    models = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        models.append(small_model().state_dict())
    assert all(a.equal(b) for a, b in zip(models[0].values(), models[1].values(), strict=True))
    assert not models[0]["output.weight"].equal(models[2]["output.weight"])


def test_a_description_counts_what_is_there() -> None:
    config = load_config(assignments=["model.vocabulary=100", "model.positions=learned", "model.share_embeddings=none"])
    description = describe(config)
    total = sum(p.numel() for p in build_model(config.model).parameters())
    assert description.parameters["total"] == total
    assert sum(description.parameters.values()) == 2 * total
    assert description.parameters["output"] == 100 * 512
    assert description.parameters["positions"] == 2 * 512 * 512
    assert description.memory["weights"] == 4 * total


def test_small_config_is_what_the_tests_think() -> None:
    assert small_config().query_width == 8
