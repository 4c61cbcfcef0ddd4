"""Search with real models: caches, shared beams, batches and padding change nothing."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from headway.config import ModelConfig, SearchConfig
from headway.models import Model, build_model
from headway.models.quick import QuickSteps, quickened
from headway.nn.products import fix_linears
from headway.search.beam import beam_search
from headway.search.ensemble import Ensemble
from headway.search.forced import score_targets
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rows import SeparateRows
from headway.search.rules import Rules
from headway.search.sampling import sample
from headway.text.specials import BOS, EOS

VOCABULARY = 150
PATTERNS = ["full", "window", "dilated", "strided", "top-k"]


def model_of(**settings) -> Model:
    sizes = {"vocabulary": VOCABULARY, "layers": 2, "d_model": 16, "d_ff": 32, "heads": 2}
    narrow = {"window": 4, "stride": 2, "top_k": 3}
    model = build_model(ModelConfig(**{**sizes, **narrow, **settings})).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)  # more certain than fresh weights are, so that nothing hangs on rounding
    return model


def some_sources(rows: int = 12) -> Tensor:
    source = torch.randint(5, VOCABULARY, (rows, 9))
    for row, length in enumerate(torch.randint(1, 9, (rows,)).tolist()):
        source[row, length] = EOS
        source[row, length + 1 :] = 0
    source[0, 8] = EOS
    return source


def assert_same(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.tokens for each in ours] == [each.tokens for each in theirs]
        assert [each.finished for each in ours] == [each.finished for each in theirs]
        for one, other in zip(ours, theirs, strict=True):
            assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities, abs=1e-4)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("score", ["scaled-dot", "additive", "gaussian"])
def test_beams_that_share_a_cache_find_what_separate_rows_find(pattern: str, score: str) -> None:
    # In double precision: the k-th largest of scores that are nearly equal hangs on rounding.
    model, source = model_of(pattern=pattern, score=score).double(), some_sources()
    config = SearchConfig(beam=5, n_best=5, extra_length=10)
    rules = Rules.of(source, config)
    shared = beam_search(model, source, rules, config)
    assert_same(shared, beam_search(SeparateRows(model), source, rules, config))
    assert len({len(output.tokens) for outputs in shared for output in outputs}) > 3


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_decoder_only_model_can_be_searched(pattern: str) -> None:
    model = model_of(family="decoder-only", pattern=pattern).double()
    prompt = torch.randint(5, VOCABULARY, (6, 4))
    config = SearchConfig(beam=4, n_best=4, extra_length=10)
    rules = Rules.of(prompt, config)
    found = beam_search(model, prompt, rules, config)
    assert_same(found, beam_search(SeparateRows(model), prompt, rules, config))


@pytest.mark.parametrize("large", [0, 1e9], ids=["packed", "plain"])
@pytest.mark.parametrize("family", ["encoder-decoder", "decoder-only"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_place": "pre"},
        {"attention_bias": True, "activation": "gelu", "positions": "learned"},
        {"norm_place": "pre", "activation": "swiglu", "share_embeddings": "none", "heads": 4},
    ],
    ids=lambda settings: " ".join(settings) or "paper",
)
def test_quick_steps_find_what_the_model_finds(
    family: str, settings: dict[str, Any], large: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headway.nn.products.LARGE", large)
    monkeypatch.setattr("headway.nn.processor.is_intel", lambda: False)  # there nothing is packed
    model = model_of(family=family, **settings)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or "bias" in name:
                parameter.add_(torch.randn_like(parameter) / 4)  # fresh ones are all 1 or 0
    source = some_sources() if family == "encoder-decoder" else torch.randint(5, VOCABULARY, (6, 4))
    fixed = deepcopy(model)
    fix_linears(fixed)  # as an engine has it
    quick = quickened(fixed)
    assert isinstance(quick, QuickSteps)
    config = SearchConfig(beam=5, n_best=5, extra_length=20)
    rules = Rules.of(source, config)
    assert_same(beam_search(quick, source, rules, config), beam_search(model, source, rules, config))
    greedy, expected = (greedy_search(each, source, rules, LengthPenalty.of(config)) for each in (quick, model))
    assert_same([[each] for each in greedy], [[each] for each in expected])
    targets = [each.tokens[:3] for each in greedy]
    for ours, theirs in zip(score_targets(quick, source, targets), score_targets(model, source, targets), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize(
    "settings", [{"pattern": "window"}, {"score": "additive"}, {"score": "dot"}, {"norm": "batch"}, {"d_v": 4}], ids=str
)
def test_a_model_with_other_parts_keeps_its_own_steps(settings: dict[str, Any]) -> None:
    model = model_of(**settings)
    assert quickened(model) is model


def test_the_reported_score_is_that_of_the_model_without_caches() -> None:
    model, source = model_of(), some_sources()
    config = SearchConfig(beam=4, n_best=4, extra_length=10)
    for row, outputs in enumerate(beam_search(model, source, Rules.of(source, config), config)):
        for output in outputs:
            target = [BOS, *output.tokens]
            answer = [*output.tokens, EOS]
            with torch.no_grad():
                logits = model(source[row : row + 1], torch.tensor([target]))
            values = logits[0].log_softmax(-1).gather(1, torch.tensor(answer)[:, None])[:, 0].tolist()
            size = len(output.token_log_probabilities)
            assert output.token_log_probabilities == pytest.approx(values[:size], abs=1e-4)
            (forced,) = score_targets(model, source[row : row + 1], [output.tokens])
            assert forced == pytest.approx(values, abs=1e-4)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_outputs_do_not_depend_on_the_batch(size: int) -> None:
    model, source = model_of(), some_sources(20)
    config = SearchConfig(beam=4, n_best=2, extra_length=10)
    order = torch.randperm(20)
    searches = {
        "beam": lambda rows: beam_search(model, source[rows], Rules.of(source[rows], config), config),
        "greedy": lambda rows: [
            [each]
            for each in greedy_search(model, source[rows], Rules.of(source[rows], config), LengthPenalty.of(config))
        ],
        "sampling": lambda rows: sample(
            model, source[rows], Rules.of(source[rows], config), config, [(row,) for row in rows.tolist()]
        ),
    }
    for search in searches.values():
        expected = search(torch.arange(20))
        found = [output for rows in order.split(size) for output in search(rows)]
        assert_same(found, [expected[row] for row in order])


def test_an_ensemble_can_be_searched_with_beams() -> None:
    source = some_sources()
    config = SearchConfig(beam=4, n_best=4, extra_length=10)
    rules = Rules.of(source, config)
    models = [model_of(), model_of(d_model=8)]
    found = beam_search(Ensemble(models), source, rules, config)
    assert_same(found, beam_search(Ensemble([SeparateRows(model) for model in models]), source, rules, config))
