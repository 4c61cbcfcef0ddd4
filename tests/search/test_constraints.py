"""Outputs contain their phrases, whatever the model would rather write."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import TableModel, all_outputs, letters_of, rules_of, sources

from headway.config import SearchConfig
from headway.search.beam import beam_search
from headway.search.constraints import Constraints, Progress, begun_part, contains
from headway.search.rules import Rules


def spellings(model: TableModel) -> st.SearchStrategy[list[list[list[int]]]]:
    """A few phrases with one or two spellings."""
    tokens = st.lists(st.sampled_from(letters_of(model)), min_size=1, max_size=3)
    return st.lists(st.lists(tokens, min_size=1, max_size=2), max_size=3)


@settings(max_examples=60)
@given(st.data(), st.integers(1, 6), st.integers(0, 4))
def test_phrases_and_prefixes_are_always_honoured(data: st.DataObject, beam: int, extra: int) -> None:
    model, config = TableModel(), SearchConfig(beam=beam, n_best=beam, extra_length=extra)
    phrases = data.draw(st.lists(spellings(model), min_size=1, max_size=4))
    letters = st.sampled_from(letters_of(model))
    prefixes = data.draw(st.lists(st.lists(letters, max_size=4), min_size=len(phrases), max_size=len(phrases)))
    source = sources(*range(1, len(phrases) + 1))
    constraints = Constraints(phrases)
    rules = constraints.make_room(Rules.of(source, config, prefixes))
    results = beam_search(model, source, rules, config, constraints)
    for wanted, prefix, outputs, longest in zip(phrases, prefixes, results, rules.longest.tolist(), strict=True):
        assert outputs
        for output in outputs:
            assert output.tokens[: len(prefix)] == prefix
            assert len(output.tokens) + output.finished <= longest
            for phrase in wanted:
                assert any(contains(output.tokens, spelling) for spelling in phrase)


@settings(max_examples=20)
@given(st.integers(0, 29), st.sampled_from([[5], [6, 7], [7, 7, 5]]))
def test_a_wide_beam_finds_the_best_output_with_the_phrase(kind: int, phrase: list[int]) -> None:
    model, config = TableModel(), SearchConfig(beam=300)
    source = sources(kind)
    (found,) = beam_search(model, source, rules_of(source, 5), config, Constraints([[[phrase]]]))
    best = next(each for each in all_outputs(model, kind, 5, config) if contains(each.tokens, phrase))
    assert found[0].tokens == best.tokens
    assert found[0].score == pytest.approx(best.score)


def test_sentences_without_phrases_are_searched_as_ever() -> None:
    model, config = TableModel(), SearchConfig(beam=3, n_best=3)
    source = sources(*range(10))
    rules = rules_of(source, 8)
    plain = beam_search(model, source, rules, config)
    constrained = beam_search(model, source, rules, config, Constraints([[[[5, 6, 7]]], *[[] for _ in range(9)]]))
    assert constrained[1:] == plain[1:]
    assert constrained[0] != plain[0]


def test_phrases_are_written_before_there_is_no_room_for_anything_else() -> None:
    """What is improbable would be put off to the end, were the beams not shared out by progress."""
    model, config = TableModel(20, spread=3.0), SearchConfig(beam=6)
    source = sources(*range(20))
    outputs = beam_search(model, source, rules_of(source, 60), config, Constraints([[[[5, 6]]]] * 20))
    places = [next(at for at in itertools.count() if each.tokens[at : at + 2] == [5, 6]) for (each,) in outputs]
    assert max(places) < 20


def test_progress() -> None:
    phrases = [[[5, 6, 7], [6]], [[7, 7]]]
    assert Progress.of([], phrases) == Progress(missing=5, begun=0, next_tokens=[5, 6, 7])
    assert Progress.of([7, 5], phrases) == Progress(missing=5, begun=1, next_tokens=[6, 7])
    assert Progress.of([6, 5, 7], phrases) == Progress(missing=2, begun=1, next_tokens=[7])
    assert Progress.of([6, 7, 7], phrases) == Progress(missing=0, begun=0, next_tokens=[])


def test_what_is_begun() -> None:
    assert begun_part([5, 5, 6], [5, 6, 7]) == 2
    assert begun_part([5, 6, 5], [5, 6, 7]) == 1
    assert begun_part([6], [5, 6, 7]) == 0
    assert begun_part([], [5]) == 0


def test_room_is_made_for_prefix_and_phrases() -> None:
    rules = rules_of(sources(1, 2), 4, prefixes=torch.tensor([[5, 6, 0], [5, 5, 5]]))
    roomy = Constraints([[[[5, 6], [7]], [[8]]], []]).make_room(rules)
    assert roomy.longest.tolist() == [6, 4]
