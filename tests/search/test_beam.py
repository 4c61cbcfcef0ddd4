"""Beam search against trying everything, against greedy search, and against itself in other batches."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from toys import TableModel, TableState, all_outputs, letters_of, rules_of, sources

from headway.config import SearchConfig
from headway.search.beam import beam_search, begin, grow, should_stop
from headway.search.forced import score_targets
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.rules import Rules

LONGEST = 5
ALL = 200  # more than there are beginnings of LONGEST letters


class CountedModel(TableModel):
    """Counts the beams that it was asked about."""

    rows = 0

    def step(self, tokens: Tensor, state: TableState) -> tuple[Tensor, TableState]:
        self.rows += tokens.numel()
        return super().step(tokens, state)


def penalties() -> st.SearchStrategy[dict]:
    return st.fixed_dictionaries(
        {"penalty": st.sampled_from(["gnmt", "power"]), "alpha": st.sampled_from([0.0, 0.6, 2.0])}
    )


@settings(max_examples=30)
@given(st.integers(0, 29), penalties(), st.integers(1, 5))
def test_a_beam_as_wide_as_all_outputs_finds_the_best_of_all(kind: int, penalty: dict, n_best: int) -> None:
    model, config = TableModel(), SearchConfig(beam=ALL, n_best=n_best, **penalty)
    source = sources(kind)
    (found,) = beam_search(model, source, rules_of(source, LONGEST), config)
    expected = all_outputs(model, kind, LONGEST, config)[:n_best]
    assert [each.tokens for each in found] == [each.tokens for each in expected]
    assert [each.score for each in found] == pytest.approx([each.score for each in expected])
    assert all(each.finished for each in found)


@pytest.mark.parametrize("vocabulary", [3, 100])
def test_a_beam_of_one_is_greedy_search(vocabulary: int) -> None:
    model, config = TableModel(vocabulary), SearchConfig(beam=1, alpha=0.0)
    source = sources(*range(30))
    rules = rules_of(source, 12)
    greedy = greedy_search(model, source, rules, LengthPenalty.of(config))
    assert [only for (only,) in beam_search(model, source, rules, config)] == greedy
    assert {each.finished for each in greedy} == {True, False}


@settings(max_examples=30)
@given(st.lists(st.integers(0, 29), min_size=1, max_size=20), st.integers(1, 6), penalties(), st.data())
def test_a_sentence_is_searched_the_same_alone_and_in_any_batch(
    kinds: list[int], beam: int, penalty: dict, data: st.DataObject
) -> None:
    patience = data.draw(st.none() | st.sampled_from([0.3, 1.0, 2.0]))
    n_best = data.draw(st.integers(1, beam))
    model, config = TableModel(), SearchConfig(beam=beam, n_best=n_best, patience=patience, **penalty)
    source = sources(*kinds)
    longest = torch.tensor(data.draw(st.lists(st.integers(1, 15), min_size=len(kinds), max_size=len(kinds))))
    rules = Rules(longest, torch.zeros(len(kinds), 0, dtype=torch.long))
    together = beam_search(model, source, rules, config)
    for row in range(len(kinds)):
        only = torch.tensor([row])
        assert together[row] == beam_search(model, source[only], rules.select(only), config)[0]


def test_sentences_that_wait_to_leave_the_batch_are_done() -> None:
    model, config = TableModel(), SearchConfig(beam=3, n_best=3, penalty="power", alpha=2.0)  # longer ones look better
    source = sources(*range(30))
    rules = Rules(torch.tensor([2, 2] + [12] * 28), torch.zeros(30, 0, dtype=torch.long), shortest=2)
    together = beam_search(model, source, rules, config)
    assert together[:2] == beam_search(model, source[:2], rules.select(torch.tensor([0, 1])), config)
    assert all(len(output.tokens) == 2 for outputs in together[:2] for output in outputs)


def test_the_score_of_an_output_is_its_forced_score() -> None:
    model, config = TableModel(8), SearchConfig(n_best=4)
    source = sources(*range(30))
    for row, outputs in enumerate(beam_search(model, source, rules_of(source, 12), config)):
        for output in outputs:
            (forced,) = score_targets(model, source[row : row + 1], [output.tokens])
            values = forced if output.finished else forced[:-1]
            assert output.token_log_probabilities == pytest.approx(values)
            assert output.log_probability == pytest.approx(sum(values))
            assert output.score == pytest.approx(sum(values) / ((5 + len(values)) / 6) ** 0.6)


def test_stopping_early_changes_nothing() -> None:
    """Sentences that are over are searched on to the greatest length, and nothing better comes."""
    config = SearchConfig(n_best=2)
    model, source = TableModel(), sources(*range(30))
    rules = rules_of(source, 12)
    early = 0
    for row, outputs in enumerate(beam_search(model, source, rules, config)):
        beams = begin(model, source[row : row + 1], rules.select(torch.tensor([row])))
        last = None
        while not should_stop(beams):
            last, beams = beams, grow(beams, model, config)
        assert last is not None
        early += last.length + 1 < 12
        worst = outputs[-1].score
        best_possible = float(last.scores.max()) / LengthPenalty.of(config)(12)
        assert last.length + 1 == 12 or best_possible > worst, "a step before, it could still have been beaten"
    assert early > 5


@settings(max_examples=30)
@given(st.integers(0, 29), st.integers(1, 5), st.sampled_from([0.1, 0.5, 1.0, 1.5, 3.0]), st.data())
def test_patience_ends_a_search_after_so_many_outputs(
    kind: int, beam: int, patience: float, data: st.DataObject
) -> None:
    """It finds what the search without patience has found when so many outputs have ended."""
    model, exact = TableModel(), SearchConfig(beam=beam, n_best=data.draw(st.integers(1, beam)), alpha=2.0)
    source = sources(kind)
    rules = rules_of(source, 12)
    (found,) = beam_search(model, source, rules, exact.model_copy(update={"patience": patience}))
    beams = begin(model, source, rules)
    while not should_stop(beams) and beams.ended[0] < max(patience * beam, exact.n_best):
        beams = grow(beams, model, exact)
    assert found[: len(beams.kept[0])] == list(beams.kept[0])


def test_patience_saves_steps_and_may_miss_the_best() -> None:
    model, source, exact = CountedModel(), sources(*range(30)), SearchConfig(alpha=2.0)
    rules = rules_of(source, 12)
    best = [outputs[0].score for outputs in beam_search(model, source, rules, exact)]
    patient, model.rows = model.rows, 0
    found = [
        outputs[0].score for outputs in beam_search(model, source, rules, exact.model_copy(update={"patience": 1}))
    ]
    assert model.rows < patient
    assert all(one <= other for one, other in zip(found, best, strict=True))
    assert found != best


def test_outputs_that_do_not_end_are_cut_at_the_greatest_length_and_come_last() -> None:
    model, config = TableModel(), SearchConfig(beam=3, n_best=3, min_length=3)
    source = sources(*range(30))
    outputs = beam_search(model, source, rules_of(source, 4, shortest=3), config)
    for each in outputs:
        assert len(each) == 3
        assert [output.finished for output in each] == sorted((output.finished for output in each), reverse=True)
        for finished in (True, False):
            scores = [output.score for output in each if output.finished == finished]
            assert scores == sorted(scores, reverse=True)
        assert all(len(output.tokens) == (3 if output.finished else 4) for output in each)
    assert {output.finished for each in outputs for output in each} == {True, False}


@settings(max_examples=30)
@given(st.integers(0, 29), st.integers(1, 5), st.integers(0, 8), st.integers(1, 10))
def test_lengths_are_honoured_and_special_tokens_never_written(
    kind: int, beam: int, shortest: int, longest: int
) -> None:
    model, config = TableModel(), SearchConfig(beam=beam, n_best=beam)
    source = sources(kind)
    (outputs,) = beam_search(model, source, rules_of(source, longest, shortest=shortest), config)
    assert outputs
    for output in outputs:
        assert len(output.tokens) + output.finished <= longest
        assert len(output.tokens) >= min(shortest, longest)
        assert set(output.tokens) <= set(letters_of(model))


@settings(max_examples=30)
@given(st.data(), st.integers(1, 5))
def test_prefixes_are_always_honoured(data: st.DataObject, beam: int) -> None:
    model, config = TableModel(), SearchConfig(beam=beam, n_best=beam, extra_length=3)
    letters = st.sampled_from(letters_of(model))
    prefixes = data.draw(st.lists(st.lists(letters, max_size=6), min_size=1, max_size=6))
    source = sources(*range(1, len(prefixes) + 1))
    rules = Rules.of(source, config, prefixes)
    greedy = [[each] for each in greedy_search(model, source, rules, LengthPenalty.of(config))]
    for outputs in (beam_search(model, source, rules, config), greedy):
        for kind, (prefix, row) in enumerate(zip(prefixes, outputs, strict=True), start=1):
            for output in row:
                assert output.tokens[: len(prefix)] == prefix
                written = [*output.tokens, *([2] if output.finished else [])]
                assert output.token_log_probabilities == pytest.approx(model.log_probabilities(kind, written))
