"""Given outputs, several models, other choices: what `start` and `step` can also be asked."""

import math

import pytest
import torch
from toys import TableModel, letters_of, sources

from headway.config import SearchConfig
from headway.errors import UserError
from headway.search.alternatives import alternatives
from headway.search.ensemble import Ensemble
from headway.search.forced import score_targets
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules
from headway.text.specials import EOS


def test_forced_scores_are_those_of_the_table() -> None:
    model = TableModel()
    targets = [[5, 6, 7, 5], [], [7]]
    values = score_targets(model, sources(3, 4, 5), targets)
    for kind, target, row in zip((3, 4, 5), targets, values, strict=True):
        assert row == pytest.approx(model.log_probabilities(kind, [*target, EOS]))


def test_an_ensemble_has_the_mean_of_the_probabilities() -> None:
    models = [TableModel(seed=seed) for seed in (1, 2, 3)]
    values = score_targets(Ensemble(models), sources(3, 4), [[5, 6], [7]])
    for kind, target, row in zip((3, 4), ([5, 6], [7]), values, strict=True):
        each = [model.log_probabilities(kind, [*target, EOS]) for model in models]
        means = [math.log(sum(map(math.exp, column)) / 3) for column in zip(*each, strict=True)]
        assert row == pytest.approx(means, abs=1e-5)


def test_models_of_an_ensemble_have_one_vocabulary() -> None:
    ensemble = Ensemble([TableModel(3), TableModel(4)])
    with pytest.raises(UserError, match="vocabularies of 8, 9 tokens"):
        score_targets(ensemble, sources(1), [[5]])
    with pytest.raises(UserError, match="at least one"):
        Ensemble([])


def test_alternatives_are_the_best_tokens_and_how_they_go_on() -> None:
    model, config = TableModel(), SearchConfig(extra_length=6)
    found = alternatives(model, sources(3), [6, 5], 3, config)
    options = {token: model.log_probabilities(3, [6, 5, token])[-1] for token in (EOS, *letters_of(model))}
    best = sorted(options, key=lambda token: -options[token])[:3]
    assert [each.token for each in found] == best
    for each in found:
        assert each.log_probability == pytest.approx(options[each.token])
        assert each.output.tokens[:3] == ([6, 5] if each.token == EOS else [6, 5, each.token])
        written = [*each.output.tokens, *([EOS] if each.output.finished else [])]
        assert each.output.token_log_probabilities == pytest.approx(model.log_probabilities(3, written))
    assert len(alternatives(model, sources(3), [], 100, config)) == 4, "special tokens are no alternatives"


@pytest.mark.parametrize(("name", "expected"), [("gnmt", (45 / 15) ** 0.6), ("power", 4**0.6)])
def test_the_two_penalties(name: str, expected: float) -> None:
    penalty = LengthPenalty.of(SearchConfig(penalty=name))
    assert penalty(40) / penalty(10) == pytest.approx(expected)
    assert LengthPenalty(name, 0.0)(17) == 1.0


def test_the_end_counts_for_the_penalty_and_is_no_token() -> None:
    finished = Hypothesis.of([7, 8, EOS], [-1.0, -2.0, -3.0], LengthPenalty("power", 1.0))
    assert (finished.tokens, finished.finished, finished.log_probability, finished.score) == ([7, 8], True, -6.0, -2.0)
    cut = Hypothesis.of([7, 8], [-1.0, -2.0], LengthPenalty("power", 1.0))
    assert (cut.tokens, cut.finished, cut.score) == ([7, 8], False, -1.5)


def test_outputs_may_be_longer_than_their_source_by_what_is_set() -> None:
    source = torch.tensor([[7, 8, 9, EOS], [7, EOS, 0, 0]])
    assert Rules.of(source, SearchConfig()).longest.tolist() == [54, 52]
    prefixes = [[5], [5, 6, 7, 8]]
    assert Rules.of(source, SearchConfig(extra_length=3), prefixes).longest.tolist() == [7, 8]


def test_more_outputs_than_beams_are_refused() -> None:
    with pytest.raises(ValueError, match=r"set search\.beam to at least 5"):
        SearchConfig(n_best=5)
    assert SearchConfig(n_best=5, method="sampling").n_best == 5
