"""Greedy search and sampling, token by token."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from toys import TableModel, letters_of, rules_of, sources

from headway.config import SearchConfig
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.rules import NEVER_WRITTEN, Rules
from headway.search.sampling import keep_most_probable, keep_nucleus, look_up, probabilities, sample
from headway.text.specials import EOS

NO_PENALTY = LengthPenalty("gnmt", 0.0)


def test_greedy_search_takes_the_best_token_at_each_step() -> None:
    model, source = TableModel(), sources(*range(30))
    for kind, output in enumerate(greedy_search(model, source, rules_of(source, 9), NO_PENALTY)):
        written: list[int] = []
        while len(written) < 9 and EOS not in written:
            options = {
                token: model.log_probabilities(kind, [*written, token])[-1] for token in (EOS, *letters_of(model))
            }
            written.append(max(options, key=lambda token: options[token]))
        assert output.tokens == [token for token in written if token != EOS]
        assert output.finished == (EOS in written)
        assert output.log_probability == pytest.approx(sum(model.log_probabilities(kind, written)))


@settings(max_examples=20)
@given(st.lists(st.integers(0, 29), min_size=1, max_size=20), st.integers(1, 3), st.integers(0, 5), st.data())
def test_walks_are_the_same_alone_and_in_any_batch(
    kinds: list[int], n_best: int, shortest: int, data: st.DataObject
) -> None:
    model, source = TableModel(), sources(*kinds)
    config = SearchConfig(method="sampling", n_best=n_best)
    longest = data.draw(st.lists(st.integers(1, 12), min_size=len(kinds), max_size=len(kinds)))
    begun = st.lists(st.sampled_from(letters_of(model)), max_size=6)
    prefixes = data.draw(st.lists(begun, min_size=len(kinds), max_size=len(kinds)))
    table = torch.tensor([prefix + [0] * (6 - len(prefix)) for prefix in prefixes])
    rules = Rules(torch.tensor(longest), table, shortest)
    keys = [(7, number) for number in range(len(kinds))]
    sampled = sample(model, source, rules, config, keys)
    greedy = greedy_search(model, source, rules, NO_PENALTY)
    for row in range(len(kinds)):
        one, rule = source[row : row + 1], rules.select(torch.tensor([row]))
        assert sample(model, one, rule, config, keys[row : row + 1]) == sampled[row : row + 1]
        assert greedy_search(model, one, rule, NO_PENALTY) == greedy[row : row + 1]
        for output in (*sampled[row], greedy[row]):
            assert min(shortest, longest[row]) <= len(output.tokens)
            assert len(output.tokens) + output.finished <= longest[row]
            assert set(output.tokens) <= set(letters_of(model))
            assert output.tokens[: len(prefixes[row])] == prefixes[row][: longest[row]]


def test_sampling_among_one_token_is_greedy_search() -> None:
    model, source = TableModel(), sources(*range(30))
    rules, keys = rules_of(source, 9), [(number,) for number in range(30)]
    greedy = [[each] for each in greedy_search(model, source, rules, LengthPenalty("gnmt", 0.6))]
    assert sample(model, source, rules, SearchConfig(method="sampling", top_k=1), keys) == greedy
    assert sample(model, source, rules, SearchConfig(method="sampling", top_p=1e-6), keys) == greedy
    assert sample(model, source, rules, SearchConfig(method="sampling", temperature=1e-3), keys) == greedy


def test_seed_and_key_decide_what_is_drawn() -> None:
    model, source = TableModel(10), sources(*[3] * 20)
    rules, keys = rules_of(source, 9), [(number,) for number in range(20)]
    first = sample(model, source, rules, SearchConfig(method="sampling"), keys)
    assert first == sample(model, source, rules, SearchConfig(method="sampling"), keys)
    assert first != sample(model, source, rules, SearchConfig(method="sampling", seed=2), keys)
    assert len({tuple(only.tokens) for (only,) in first}) > 10, "one sentence, other keys"


def test_samples_are_as_frequent_as_they_are_probable() -> None:
    model, source = TableModel(), sources(*[5] * 4000)
    outputs = sample(model, source, rules_of(source, 1), SearchConfig(method="sampling"), [(n,) for n in range(4000)])
    firsts = [EOS if only.finished else only.tokens[0] for (only,) in outputs]
    chances = model.table[5, (1 + 1) % 97].exp()
    chances[NEVER_WRITTEN] = 0
    for token in (EOS, *letters_of(model)):
        assert firsts.count(token) / 4000 == pytest.approx(float(chances[token] / chances.sum()), abs=0.03)


def test_what_is_drawn_from() -> None:
    log_probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    sharper = probabilities(log_probabilities, SearchConfig(method="sampling", temperature=0.5))
    assert sharper.tolist() == pytest.approx([x * x / 0.365 for x in (0.5, 0.3, 0.15, 0.05)])
    chances = log_probabilities.exp()
    assert keep_most_probable(chances, 2).tolist() == pytest.approx([0.5, 0.3, 0, 0])
    assert keep_most_probable(chances, 9).tolist() == pytest.approx([0.5, 0.3, 0.15, 0.05])
    assert keep_nucleus(chances, 0.5).tolist() == pytest.approx([0.5, 0, 0, 0])
    assert keep_nucleus(chances, 0.51).tolist() == pytest.approx([0.5, 0.3, 0, 0])
    assert keep_nucleus(chances.flip(0), 0.9).tolist() == pytest.approx([0, 0.15, 0.3, 0.5])


def test_a_number_finds_the_token_whose_share_it_falls_into() -> None:
    chances = torch.tensor([0.0, 0.25, 0.0, 0.5, 0.0]).expand(1, 4, 5)
    drawn = torch.tensor([[0.0, 0.33, 0.34, 0.999999]], dtype=torch.float64)
    assert look_up(chances, drawn).tolist() == [[1, 1, 3, 3]]
