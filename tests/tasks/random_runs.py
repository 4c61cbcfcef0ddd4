"""Runs that were never trained: their weights are random, and all else is as it should be."""

from pathlib import Path

from headway.config import TokenizerConfig
from headway.models import build_model
from headway.settings import parse_config
from headway.store.card import make_card
from headway.store.run import Run
from headway.store.tensors import model_tensors
from headway.text.corpus import Pair
from headway.text.vocabulary import Vocabulary, learn_vocabulary

TEXTS = ["one two three", "three two", "two one one"]
SIZES = {"layers": 1, "d_model": 16, "heads": 2, "d_ff": 32}


def vocabulary(texts: list[str]) -> Vocabulary:
    pairs = [Pair(text, text) for text in texts]
    return learn_vocabulary(lambda: pairs, len(pairs), TokenizerConfig(size=300))


def make_run(path: Path, texts: list[str] = TEXTS, **sections: dict) -> Run:
    """A run with two checkpoints of random weights; the first is the one to use."""
    learned = vocabulary(texts)
    model = {**SIZES, "vocabulary": len(learned.source), **sections.pop("model", {})}
    config = parse_config({"model": model, **sections})
    run = Run.create(path, config, learned, make_card(["headway"], 1, {}, learned.fingerprint))
    for step in (1, 2):
        run.checkpoints.write(f"step-{step:08d}", model_tensors(build_model(config.model)), None, {"step": step})
    run.write_result({"checkpoint": "step-00000001"})
    return run
