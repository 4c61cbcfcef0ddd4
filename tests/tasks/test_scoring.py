from math import exp, isnan, log

import pytest
import torch

from headway.config import ModelConfig, SearchConfig
from headway.models import build_model
from headway.search.torch_engine import TorchEngine
from headway.search.translator import Translator
from headway.tasks.scoring import Likelihood, score_pairs
from headway.text.learn import learn_tokenizer
from headway.text.vocabulary import Vocabulary

BOTH = learn_tokenizer(["one two three", "three two"], "bpe", 300)
SIZES = {"layers": 1, "d_model": 16, "heads": 2, "d_ff": 32}


def small_translator(**settings: object) -> Translator:
    torch.manual_seed(1)
    model = build_model(ModelConfig(**SIZES, vocabulary=len(BOTH), **settings)).eval()
    config = SearchConfig()
    return Translator(TorchEngine(model, config), Vocabulary(BOTH, BOTH), config, max_length=64)


def test_the_logarithm_is_the_sum_and_perplexity_its_mean() -> None:
    pairs = [("one two", "two one"), ("three", ""), ("", "one")]
    scored = list(score_pairs(small_translator(), pairs))
    total = Likelihood()
    for pair in scored:
        assert pair.log_probability == pytest.approx(sum(map(log, pair.probabilities)), rel=1e-5)
        total.add(pair)
    assert len(scored[1].probabilities) == 1  # that of the end alone
    assert total.pairs == 3
    assert total.tokens == sum(len(pair.tokens) + 1 for pair in scored)
    mean = sum(pair.log_probability for pair in scored) / total.tokens
    assert total.perplexity == pytest.approx(exp(-mean))
    assert "error" not in scored[0].as_json()


def test_a_pair_that_fails_is_told_and_does_not_count() -> None:
    told = []
    translator = small_translator(positions="learned", max_positions=8)
    pairs = [("one", "two"), ("one two " * 10, "two")]
    good, bad = score_pairs(translator, pairs, lambda number, text: told.append((number, text)))
    assert bad.error is not None
    assert told == [(2, bad.error)]
    assert isnan(bad.score)
    assert bad.as_json() == {"error": bad.error}
    total = Likelihood()
    total.add(bad)
    assert total.perplexity is None
    total.add(good)
    assert total.pairs == 1
