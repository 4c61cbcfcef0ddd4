"""CTranslate2 as an engine writes what our own search writes, by the same rules."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from convertible import (
    SHARED,
    config_for,
    convert_model,
    copying_model,
    copying_run,
    part_of,
    random_model,
    samples,
    sources_of,
)

from headway.config import SearchConfig
from headway.errors import UserError
from headway.export.ctranslate2 import convert
from headway.export.engine import Ctranslate2Engine, Written, ranked
from headway.models import EncoderDecoder
from headway.search.beam import beam_search
from headway.search.engine import BATCH_TOKENS, Part
from headway.search.greedy import greedy_search
from headway.search.penalties import LengthPenalty
from headway.search.results import Hypothesis
from headway.search.rules import Rules


def searched(model: EncoderDecoder, sentences: list[Part], config: SearchConfig) -> list[list[Hypothesis]]:
    """What our own search finds."""
    source = sources_of(sentences)
    rules = Rules.of(source, config, [sentence.prefix for sentence in sentences])
    if config.beam == 1:
        return [[only] for only in greedy_search(model, source, rules, LengthPenalty.of(config))]
    return beam_search(model, source, rules, config)


def assert_same(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    assert [[each.tokens for each in row] for row in found] == [[each.tokens for each in row] for row in expected]
    for row, wanted in zip(found, expected, strict=True):
        for one, other in zip(row, wanted, strict=True):
            assert one.finished == other.finished
            assert one.token_log_probabilities == pytest.approx(other.token_log_probabilities, abs=1e-4)
            assert one.score == pytest.approx(other.score, abs=1e-4)


@pytest.fixture(scope="module", params=["post", "pre"])
def copying(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[EncoderDecoder, Path]:
    directory = tmp_path_factory.mktemp("copying")
    convert(copying_run(directory / "run", request.param), directory / "converted")
    return copying_model(request.param), directory / "converted"


def engine_of(directory: Path, *, workers: int = 1, with_probabilities: bool = True, **search) -> Ctranslate2Engine:
    config = SearchConfig(**search)
    return Ctranslate2Engine(directory, SHARED, config, workers=workers, with_probabilities=with_probabilities)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_place": "pre", "activation": "gelu"},
        {"positions": "sinusoidal-concatenated", "attention_bias": True},
        {"norm_place": "pre", "share_embeddings": "none"},
    ],
    ids=str,
)
@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 3, "n_best": 3}], ids=str)
def test_random_models(settings: dict, search: dict, tmp_path: Path) -> None:
    config = config_for(**settings)
    model = random_model(config)
    engine = engine_of(convert_model(tmp_path, model, config), extra_length=2, **search)
    sentences = samples(12)
    assert_same(engine.decode(sentences), searched(model, sentences, engine.config))


@pytest.mark.parametrize(
    "search",
    [
        {"beam": 1},
        {},
        {"penalty": "power", "alpha": 1.0},
        {"alpha": 0.0},
        {"beam": 1, "min_length": 8},
        {"beam": 1, "extra_length": 0},
    ],
    ids=str,
)
def test_trained_models(copying: tuple[EncoderDecoder, Path], search: dict) -> None:
    model, directory = copying
    engine = engine_of(directory, **search)
    sentences = samples(20)
    assert_same(engine.decode(sentences), searched(model, sentences, engine.config))


@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 4}], ids=str)
def test_a_prefix_begins_the_output_and_counts(copying: tuple[EncoderDecoder, Path], search: dict) -> None:
    model, directory = copying
    engine = engine_of(directory, **search)
    sentences = [replace(each, prefix=[270, 271][:size]) for each, size in zip(samples(6), [0, 1, 2] * 2, strict=True)]
    found = engine.decode(sentences)
    assert [output.tokens[: len(each.prefix)] for each, (output,) in zip(sentences, found, strict=True)] == [
        each.prefix for each in sentences
    ]
    assert_same(found, searched(model, sentences, engine.config))


@pytest.mark.parametrize("batch_tokens", [20, 2000])
@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 1, "min_length": 12}, {"beam": 4, "n_best": 2}], ids=str)
def test_neighbours_and_workers_change_nothing(tmp_path: Path, search: dict, batch_tokens: int) -> None:
    config = config_for()
    directory = convert_model(tmp_path, random_model(config), config)
    engine = engine_of(directory, extra_length=3, workers=2, batch_tokens=batch_tokens, **search)
    alone = engine_of(directory, extra_length=3, **search)
    sentences = samples(12)
    together = engine.decode(sentences)
    assert_same(together, [row for each in sentences for row in alone.decode([each])])
    for each, outputs in zip(sentences, together, strict=True):
        assert max(len(output.token_log_probabilities) for output in outputs) <= len(each.source) + 1 + 3


def test_weights_of_8_bits_are_asked_for_less_at_once(tmp_path: Path) -> None:
    run, directories = copying_run(tmp_path / "run", "pre"), [tmp_path / kind for kind in ("fp32", "int8")]
    for directory in directories:
        convert(run, directory, quantization=directory.name)
    exact, small = (engine_of(directory).batch_tokens for directory in directories)
    assert exact == BATCH_TOKENS > small > 0
    assert [engine_of(directory, batch_tokens=700).batch_tokens for directory in directories] == [700, 700]


@pytest.mark.parametrize("beam", [1, 3])
def test_what_runs_on_is_as_long_as_its_own_source_allows(tmp_path: Path, beam: int) -> None:
    config = config_for()
    engine = engine_of(convert_model(tmp_path, random_model(config), config), extra_length=3, beam=beam)
    long, short = replace(part_of([270, 271, 272]), prefix=[*range(270, 278)]), part_of([273, 274, 275])  # one batch
    sentences = [long, short, short]
    found = engine.decode(sentences)
    assert [output.length for (output,) in found] == [8 + 1 + 3, 3 + 1 + 3, 3 + 1 + 3]
    assert_same(found, [row for each in sentences for row in engine.decode([each])])


@pytest.mark.parametrize("search", [{}, {"patience": 1}, {"patience": 0.5}, {"patience": 0.1, "n_best": 3}], ids=str)
def test_outputs_that_end_early_end_the_search_only_if_asked_for(search: dict, tmp_path: Path) -> None:
    """A model that is often in doubt: stopped at as many outputs as beams, the best of some sentences is not found."""
    config = config_for(d_model=32, d_ff=64, norm_place="pre", dropout=0.0)
    model = copying_model("pre", updates=100)
    engine = engine_of(convert_model(tmp_path, model, config), **search)
    torch.manual_seed(5)
    sentences = samples(400)
    found, expected = engine.decode(sentences), searched(model, sentences, engine.config)
    assert [best.tokens for best, *_ in found] == [best.tokens for best, *_ in expected]


def test_the_penalty_that_is_set_ranks_the_outputs(copying: tuple[EncoderDecoder, Path]) -> None:
    sentences = samples(10)
    for penalty in ("gnmt", "power"):
        engine = engine_of(copying[1], n_best=4, penalty=penalty, alpha=1.5)
        for outputs in engine.decode(sentences):
            finished = [output for output in outputs if output.finished]
            assert len(outputs) == 4
            assert outputs[: len(finished)] == sorted(finished, key=lambda output: -output.score)
            for output in outputs:
                divisor = LengthPenalty(penalty, 1.5)(len(output.token_log_probabilities))
                assert output.score == pytest.approx(output.log_probability / divisor)


def test_unfinished_outputs_come_last() -> None:
    penalty = LengthPenalty("gnmt", 0.6)
    cut, poor, good = Written(["a"], -0.1), Written(["a", "</s>"], -3.0), Written(["b", "</s>"], -2.0)
    assert ranked([cut, poor, good], penalty) == [good, poor, cut]


@pytest.mark.parametrize("search", [{"beam": 1}, {"n_best": 3}], ids=str)
def test_probabilities_of_tokens_can_be_left_out(tmp_path: Path, search: dict) -> None:
    config = config_for()
    directory = convert_model(tmp_path, random_model(config), config)
    sentences = samples(10)
    with_them = engine_of(directory, **search).decode(sentences)
    without = engine_of(directory, with_probabilities=False, **search).decode(sentences)
    for row, wanted in zip(without, with_them, strict=True):
        assert [each.tokens for each in row] == [each.tokens for each in wanted]
        for one, other in zip(row, wanted, strict=True):
            assert one.token_log_probabilities == []
            if search == {"beam": 1}:  # nothing to choose from, and so no score
                assert math.isnan(one.log_probability)
                assert math.isnan(one.score)
            else:
                assert one.log_probability == pytest.approx(other.log_probability, rel=1e-5)
                assert one.score == pytest.approx(other.score, rel=1e-5)


def test_what_it_cannot_do_is_refused(copying: tuple[EncoderDecoder, Path], tmp_path: Path) -> None:
    engine = engine_of(copying[1])
    with pytest.raises(UserError, match="CTranslate2 cannot promise phrases; use engine torch"):
        engine.decode([part_of([7], phrases=[[[8]]])])
    with pytest.raises(UserError, match=r"cannot sample as search\.seed has it.*use engine torch"):
        engine_of(copying[1], method="sampling")
    with pytest.raises(UserError, match="on cpu and cuda, not on mps"):
        Ctranslate2Engine(copying[1], SHARED, SearchConfig(), device="mps")
    with pytest.raises(UserError, match=r"cannot open .*nothing with CTranslate2"):
        engine_of(tmp_path / "nothing")


def test_what_is_longer_than_the_positions_is_refused_not_cut(copying: tuple[EncoderDecoder, Path]) -> None:
    engine = engine_of(copying[1], beam=1)
    for ask in (engine.decode, engine.score):
        with pytest.raises(UserError, match=r"CTranslate2: .*position.*; use engine torch"):
            ask([part_of([7] * 3000, target=[7])])


def test_all_of_a_long_source_is_read(copying: tuple[EncoderDecoder, Path]) -> None:
    engine = engine_of(copying[1], beam=1, with_probabilities=False)
    sentences = [part_of([270] * 1100 + [last]) for last in (271, 272)]
    (one,), (other,) = engine.decode(sentences)
    assert one.log_probability != other.log_probability
    (one,), (other,) = engine.score([replace(sentence, target=[270]) for sentence in sentences])
    assert one.log_probability != other.log_probability


def test_nothing_to_do(copying: tuple[EncoderDecoder, Path]) -> None:
    engine = engine_of(copying[1])
    assert engine.decode([]) == []
    assert engine.score([]) == []
