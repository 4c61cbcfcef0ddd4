"""Small runs for the tests: a copy task of a few dozen lines, and models that learn it in seconds."""

import random
from functools import cache
from pathlib import Path

import torch

from headway.config import Config
from headway.data.prepared import Prepared, Rules, prepare
from headway.models import Model, build_model
from headway.settings import parse_config
from headway.store.card import make_card
from headway.store.run import Run
from headway.text.corpus import Pair
from headway.text.vocabulary import Vocabulary, learn_vocabulary
from headway.train.trainer import Trainer

CPU = torch.device("cpu")
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
SIZES = {"layers": 1, "d_model": 16, "heads": 2, "d_ff": 32, "norm_place": "pre"}
RECIPE = {
    "steps": 12,
    "batch_tokens": 60,
    "schedule": "constant",
    "warmup": 1,
    "peak_rate": 1e-2,
    "validate_every": 4,
    "save_every": 4,
    "log_every": 2,
}


@cache
def sentences() -> list[Pair]:
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(2, 6))) for _ in range(60)]
    return [Pair(text, text) for text in texts]


@cache
def vocabulary() -> Vocabulary:
    settings = Config().tokenizer.model_copy(update={"size": 300})
    return learn_vocabulary(sentences, len(sentences()), settings)


def small_config(
    model: dict | None = None, machine: dict | None = None, tokenizer: dict | None = None, **train
) -> Config:
    return parse_config(
        {
            "model": {**SIZES, "vocabulary": len(vocabulary().source), **(model or {})},
            "tokenizer": {"size": 300, **(tokenizer or {})},
            "machine": machine or {},
            "train": {**RECIPE, **train},
        }
    )


def create_run(path: Path, config: Config) -> Run:
    card = make_card(["headway"], config.train.seed, {}, vocabulary().fingerprint)
    return Run.create(path, config, vocabulary(), card)


def fresh_model(config: Config) -> Model:
    torch.manual_seed(config.train.seed)
    return build_model(config.model)


def prepared(path: Path, pairs: list[Pair]) -> Prepared:
    tokenizers = (vocabulary().source, vocabulary().target)
    return prepare(pairs, tokenizers, path, Rules(64), origin={}, processes=1)


def trainer_of(run: Run, **options) -> Trainer:
    """A trainer as a new process would make it."""
    train = prepared(run.data / "train", sentences()[:50])
    valid = prepared(run.data / "valid", sentences()[50:])
    return Trainer(run, fresh_model(run.config), train, valid, CPU, **options)


def new_trainer(path: Path, config: Config, **options) -> Trainer:
    return trainer_of(create_run(path, config), **options)
