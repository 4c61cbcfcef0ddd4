"""Conversions on disk: compared with torch, kept, made again when the checkpoint changes, refused when they differ."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from convertible import SHARED, config_for, copying_run, part_of, random_model, run_of, samples, save

from headway.errors import UserError
from headway.export import comparing
from headway.export.comparing import compare, is_tie, read_samples
from headway.export.conversions import FACTS, MODEL, converted, keep_conversion, make_conversion, refusal_of
from headway.export.ctranslate2 import convert
from headway.export.engine import Ctranslate2Engine
from headway.models import EncoderDecoder
from headway.search.torch_engine import TorchEngine
from headway.store.run import Run
from headway.text.specials import EOS


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return copying_run(tmp_path / "run")


def facts_of(directory: Path) -> dict:
    return json.loads((directory / FACTS).read_text(encoding="utf-8"))


def retrain(run: Run, step: int) -> None:
    """Give the run a newer checkpoint, with other weights."""
    save(run, step, random_model(run.config))


def test_a_conversion_is_checked_and_says_so(run: Run) -> None:
    conversion = converted(run)
    assert conversion.directory == run.path / "ctranslate2" / "float32"
    assert conversion.is_new
    found = conversion.agreement
    assert (found.sentences, found.greedy_equal, found.first_difference) == (30, 1.0, None)
    assert (found.beam, found.penalty, found.alpha) == (4, "gnmt", 0.6)
    assert found.beam_equal > 0.9
    assert found.bleu_torch == found.bleu_ctranslate2 > 30
    facts = facts_of(conversion.directory)
    assert facts["checkpoint"] == "step-00000001"
    assert facts["sha256"] == run.chosen().state()["sha256"]["model.safetensors"]
    assert facts["agreement"] == found.as_json()


def test_it_is_made_once_and_again_when_the_checkpoint_changes(run: Run) -> None:
    first = converted(run)
    written = (first.directory / "model.bin").stat().st_mtime_ns
    again = converted(Run.open(run.path))
    assert not again.is_new
    assert again.agreement == first.agreement
    assert (first.directory / "model.bin").stat().st_mtime_ns == written
    retrain(run, 2)
    third = converted(run)
    assert third.is_new
    assert facts_of(third.directory)["checkpoint"] == "step-00000002"
    assert sorted(path.name for path in (run.path / "ctranslate2").iterdir()) == ["float32"]
    retrain(run, 2)
    assert converted(run).is_new, "the same name, but other weights"


def test_a_conversion_that_was_cut_short_is_made_again(run: Run) -> None:
    first = converted(run)
    (first.directory / FACTS).write_text("{")
    assert converted(run).is_new
    (first.directory / MODEL).write_bytes((first.directory / MODEL).read_bytes()[:-1])
    assert converted(run).is_new
    assert not converted(run).is_new


def test_of_two_that_convert_at_once_the_first_is_used(run: Run) -> None:
    first = converted(run)
    written = (first.directory / MODEL).stat().st_mtime_ns
    assert keep_conversion(run, "float32", run.chosen()) == first.agreement
    assert (first.directory / MODEL).stat().st_mtime_ns == written
    assert [path.name for path in first.directory.parent.iterdir()] == ["float32"]


def test_a_process_that_fails_to_convert_is_told(run: Run) -> None:
    (run.path / "ctranslate2").write_text("in the way")
    with pytest.raises(UserError, match=r"cannot write to .*float32"):
        converted(run)


def test_int8_is_told_apart_and_measured(run: Run) -> None:
    conversion = converted(run, "int8")
    assert conversion.directory == run.path / "ctranslate2" / "int8"
    assert 0.5 < conversion.agreement.greedy_equal <= 1
    assert conversion.agreement.bleu_ctranslate2 == pytest.approx(conversion.agreement.bleu_torch, abs=20)
    assert facts_of(conversion.directory)["quantization"] == "int8"


def test_what_does_not_write_the_same_is_refused_with_the_first_sentence(run: Run, tmp_path: Path) -> None:
    convert(run, tmp_path / "other")
    retrain(run, 2)
    model = run.load_model()
    assert isinstance(model, EncoderDecoder)
    agreement = compare(run, model, tmp_path / "other")
    assert agreement.greedy_equal < 0.5
    refusal = refusal_of(run, agreement, "float32") or ""
    assert re.search(r"is not used: \d+ of 30 sentences differ, the first is .*torch writes", refusal)
    assert repr(read_samples(run)[0].part.text) in refusal
    assert refusal_of(run, agreement, "int8") is None


def test_a_refusal_is_remembered(run: Run) -> None:
    directory = converted(run).directory
    facts = facts_of(directory)
    facts["agreement"] |= {"greedy_equal": 0.9, "first_difference": "'one': torch writes 'un', CTranslate2 'une'"}
    (directory / FACTS).write_text(json.dumps(facts), encoding="utf-8")
    made: list[None] = []
    with pytest.raises(UserError, match="3 of 30 sentences differ, the first is 'one'"):
        converted(run, on_make=lambda: made.append(None))
    assert not made
    retrain(run, 2)
    assert converted(run, on_make=lambda: made.append(None)).is_new
    assert made


def test_a_conversion_that_is_refused_is_not_made_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    differing = replace(converted(run).agreement, greedy_equal=0.9, first_difference="'one'")
    retrain(run, 2)
    with monkeypatch.context() as patch:
        patch.setattr(comparing, "compare", lambda *_: differing)
        assert keep_conversion(run, "float32", run.chosen()) == differing
    assert not (run.path / "ctranslate2" / "float32" / MODEL).exists()
    made: list[None] = []
    with pytest.raises(UserError, match="3 of 30 sentences differ, the first is 'one'"):
        converted(run, on_make=lambda: made.append(None))
    assert not made


def test_a_run_without_validation_sentences_is_checked_on_made_up_ones(tmp_path: Path) -> None:
    run = copying_run(tmp_path / "run", with_data=False)
    agreement = make_conversion(run, tmp_path / "out").agreement
    assert agreement.sentences == 50
    assert agreement.greedy_equal == 1
    assert agreement.bleu_torch is None
    retrain(run, 2)
    model = run.load_model()
    assert isinstance(model, EncoderDecoder)
    assert compare(run, model, tmp_path / "out").greedy_equal < 0.5


def test_refused_models_leave_nothing_behind(tmp_path: Path) -> None:
    config = config_for()
    run = run_of(tmp_path / "run", random_model(config), config)
    run.write_config(config_for(score="additive"))
    with pytest.raises(UserError, match="no score function additive"):
        converted(Run.open(run.path))
    with pytest.raises(UserError, match="unknown quantization int4"):
        converted(run, "int4")
    assert not (run.path / "ctranslate2").exists()


def test_validation_sentences_that_cannot_be_read(run: Run) -> None:
    (run.data / "valid.jsonl").write_text('{"source": "no target"}')
    with pytest.raises(UserError, match=r"cannot read .*valid\.jsonl"):
        converted(run)


def test_a_tie_is_where_both_tokens_are_as_probable(run: Run) -> None:
    model = run.load_model()
    assert isinstance(model, EncoderDecoder)
    engine, sentence = TorchEngine(model, run.config.search), part_of([270, 271, 272])
    assert is_tie(engine, sentence, [270, 280, EOS], [270, 280, 281, EOS]) is False
    weight = model.output.weight.detach()
    weight[301] = weight[300]
    assert is_tie(engine, sentence, [270, 300, EOS], [270, 301, EOS]) is True


def test_a_conversion_can_be_used(run: Run) -> None:
    engine = Ctranslate2Engine(converted(run).directory, SHARED, run.config.search, workers=1)
    sentences = samples(20)
    copied = [output.tokens == each.source for each, (output,) in zip(sentences, engine.decode(sentences), strict=True)]
    assert sum(copied) >= 10
