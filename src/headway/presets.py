"""Settings that have a name: the paper's two models, smaller ones, and every row of its Table 3.

A preset says only where it departs from the defaults of `config.py`, which are the paper's base model.
"""

from typing import Any, NamedTuple

from headway.errors import UserError, did_you_mean


class Preset(NamedTuple):
    """A named choice of settings."""

    summary: str
    settings: dict[str, dict[str, Any]]


def _model(summary: str, **settings: Any) -> Preset:
    return Preset(summary, {"model": settings})


PRESETS: dict[str, Preset] = {
    "base": _model("the paper's base model"),
    "big": Preset(
        "the paper's big model (English-French used dropout 0.1)",
        {
            "model": {"d_model": 1024, "d_ff": 4096, "heads": 16, "dropout": 0.3},
            "train": {"steps": 300_000},
        },
    ),
    "small": Preset(
        "between tiny and base, for up to 2 million pairs",
        {
            "model": {"layers": 3, "d_model": 256, "d_ff": 1024, "heads": 4},
            "train": {
                "steps": 50_000,
                "batch_tokens": 8192,
                "schedule": "inverse-sqrt",
                "warmup": 2000,
                "peak_rate": 0.001,
                "validate_every": 500,
                "save_every": 500,
                "patience": 10,
            },
        },
    ),
    "tiny": Preset(
        "for up to 300,000 pairs, on any computer",
        {
            "model": {
                "layers": 4,
                "d_model": 128,
                "d_ff": 256,
                "heads": 4,
                "dropout": 0.3,
                "norm_place": "pre",
            },
            "train": {
                "steps": 9000,
                "batch_tokens": 2048,
                "mix": 8,
                "schedule": "cosine",
                "warmup": 1000,
                "peak_rate": 0.004,
                "optimizer": "adamw",
                "weight_decay": 0.1,
                "validate_every": 1000,
                "save_every": 1000,
                "average": 0,  # the cosine has come to rest
                "select_by": "perplexity",  # greedy BLEU of 500 sentences is too uneven
            },
        },
    ),
    "demo": Preset(
        "what headway demo trains: some minutes on a laptop",
        {
            "model": {
                "layers": 3,
                "decoder_layers": 2,
                "d_model": 128,
                "d_ff": 256,
                "heads": 4,
                "norm_place": "pre",
                "dropout": 0.0,  # in a few minutes nothing is learned by heart
            },
            "tokenizer": {"size": 3000},
            "train": {
                "steps": 1600,
                "batch_tokens": 1024,
                "schedule": "cosine",
                "warmup": 160,
                "peak_rate": 0.003,
                "select_by": "perplexity",
                "validate_every": 800,
                "valid_sentences": 100,
                "save_every": 800,
                "average": 0,
            },
        },
    ),
    "parsing": _model("section 6.3: 4 layers, trained on WSJ only", layers=4, d_model=1024, vocabulary=16_000),
    "A-h1": _model("Table 3 A: 1 head of width 512", heads=1),
    "A-h4": _model("Table 3 A: 4 heads of width 128", heads=4),
    "A-h16": _model("Table 3 A: 16 heads of width 32", heads=16),
    "A-h32": _model("Table 3 A: 32 heads of width 16", heads=32),
    "B-dk16": _model("Table 3 B: d_k = 16", d_k=16),
    "B-dk32": _model("Table 3 B: d_k = 32", d_k=32),
    "C-N2": _model("Table 3 C: 2 layers", layers=2),
    "C-N4": _model("Table 3 C: 4 layers", layers=4),
    "C-N8": _model("Table 3 C: 8 layers", layers=8),
    "C-d256": _model("Table 3 C: d_model = 256, d_k = d_v = 32", d_model=256),
    "C-d1024": _model("Table 3 C: d_model = 1024, d_k = d_v = 128", d_model=1024),
    "C-ff1024": _model("Table 3 C: d_ff = 1024", d_ff=1024),
    "C-ff4096": _model("Table 3 C: d_ff = 4096", d_ff=4096),
    "D-drop0": _model("Table 3 D: no dropout", dropout=0.0),
    "D-drop0.2": _model("Table 3 D: dropout 0.2", dropout=0.2),
    "D-ls0": Preset("Table 3 D: no label smoothing", {"train": {"label_smoothing": 0.0}}),
    "D-ls0.2": Preset("Table 3 D: label smoothing 0.2", {"train": {"label_smoothing": 0.2}}),
    "E-learned": _model("Table 3 E: learned positions instead of sinusoids", positions="learned"),
}


TINY_UP_TO, SMALL_UP_TO = 300_000, 2_000_000
"""Pairs; on small corpora a small model is not only faster but better (Wu et al., 2021, on 29,000 pairs)."""


def choose_preset(pairs: int) -> tuple[str, str]:
    """The preset that suits a corpus of that many pairs, and why."""
    if pairs <= TINY_UP_TO:
        return "tiny", f"{pairs:,} pairs, and up to {TINY_UP_TO:,} a small model learns more than a large one"
    if pairs <= SMALL_UP_TO:
        return "small", f"{pairs:,} pairs, between {TINY_UP_TO:,} and {SMALL_UP_TO:,}"
    return "base", f"{pairs:,} pairs, more than {SMALL_UP_TO:,}"


def choose_steps(pairs: int) -> int:
    """How long `tiny` learns from so many pairs: 9,000 steps at 30,000, then with the root of their number."""
    steps = 9000 * (pairs / 30_000) ** 0.5
    return min(max(round(steps / 500) * 500, 1000), 25_000)


def find_preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise UserError(f"unknown preset {name}{did_you_mean(name, PRESETS)}")
    return PRESETS[name]
