"""Conversion: every part that CTranslate2 has computes there what it computes here; what it lacks is refused."""

import subprocess
import sys
from pathlib import Path

import pytest
from convertible import SEPARATE, SHARED, config_for, convert_model, part_of, random_model, run_of, samples, sources_of

from headway.config import SearchConfig
from headway.errors import UserError
from headway.export.abilities import QUANTIZATIONS, quantization_name, what_it_lacks
from headway.export.ctranslate2 import convert
from headway.export.engine import Ctranslate2Engine
from headway.search.forced import score_targets
from headway.text.vocabulary import Vocabulary

HELD = [
    {},
    {"norm_place": "pre"},
    {"positions": "sinusoidal-concatenated"},
    {"positions": "sinusoidal-concatenated-t2t", "norm_place": "pre"},
    {"positions": "learned", "max_positions": 32},
    {"positions": "none"},
    {"activation": "gelu"},
    {"activation": "swiglu"},
    {"attention_bias": True},
    {"score": "dot"},
    {"share_embeddings": "target-output"},
    {"share_embeddings": "none"},
    {"decoder_layers": 1},
    {"norm_epsilon": 0.01},
]


def assert_same_probabilities(path: Path, vocabulary: Vocabulary, **settings) -> None:
    config = config_for(vocabulary, **settings)
    model = random_model(config)
    sources = samples(8, range(5, len(vocabulary.source)))
    targets = [each.source for each in samples(8, range(5, len(vocabulary.target)))]
    expected = score_targets(model, sources_of(sources), targets)
    engine = Ctranslate2Engine(
        convert_model(path, model, config, vocabulary), vocabulary, SearchConfig(alpha=0.0), workers=1
    )
    pairs = [part_of(one.source, target=target) for one, target in zip(sources, targets, strict=True)]
    for (scored,), values in zip(engine.score(pairs), expected, strict=True):
        assert scored.token_log_probabilities == pytest.approx(values, abs=1e-4)
        assert scored.score == pytest.approx(sum(values), abs=1e-3)


@pytest.mark.parametrize("settings", HELD, ids=str)
def test_every_part_computes_the_same(settings: dict, tmp_path: Path) -> None:
    assert_same_probabilities(tmp_path, SHARED, **settings)


@pytest.mark.parametrize("settings", [{}, {"share_embeddings": "none"}], ids=str)
def test_two_vocabularies(settings: dict, tmp_path: Path) -> None:
    assert_same_probabilities(tmp_path, SEPARATE, **settings)
    written = {path.name for path in (tmp_path / "converted").iterdir()}
    assert {"source_vocabulary.json", "target_vocabulary.json"} <= written
    assert {"source_tokenizer.json", "target_tokenizer.json"} <= written


def test_tokens_are_named_by_their_ids() -> None:
    names = SHARED.source.names
    assert names[:5] == ["<pad>", "<s>", "</s>", "<unk>", "<mask>"]
    assert len(names) == len(SHARED.source)
    text = "The animal was too tired."
    assert "".join(names[token] for token in SHARED.source.encode(text)) == text


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"score": "additive"}, r"no score function additive \(model\.score\)"),
        ({"pattern": "window"}, r"no window attention \(model\.pattern\)"),
        ({"d_k": 4}, r"no heads of a width other than d_model / heads = 8"),
        ({"d_v": 4}, r"no heads of a width other than d_model / heads = 8"),
        ({"norm": "batch"}, r"no batch normalisation \(model\.norm\)"),
        ({"family": "decoder-only"}, r"no decoder-only model of ours"),
        ({"family": "encoder-only"}, r"no encoder-only model of ours"),
        ({"score": "gaussian", "pattern": "top-k"}, r"no score function gaussian .*, no top-k attention"),
    ],
)
def test_what_it_cannot_hold_is_refused_with_the_reasons(settings: dict, reason: str, tmp_path: Path) -> None:
    config = config_for()
    run = run_of(tmp_path / "run", random_model(config), config)
    run.write_config(config_for(**settings))
    again = type(run).open(run.path)
    with pytest.raises(UserError, match=f"run cannot be converted: CTranslate2 has {reason}.*engine torch"):
        convert(again, tmp_path / "converted")
    assert not (tmp_path / "converted").exists()


@pytest.mark.parametrize("settings", HELD, ids=str)
def test_what_it_can_hold_is_not_refused(settings: dict) -> None:
    assert list(what_it_lacks(config_for(**settings).model)) == []


def test_an_unknown_type_of_weights_is_refused(tmp_path: Path) -> None:
    config = config_for()
    run = run_of(tmp_path / "run", random_model(config), config)
    with pytest.raises(UserError, match="unknown quantization int9; did you mean int8"):
        convert(run, tmp_path / "converted", quantization="int9")
    assert not (tmp_path / "converted").exists()


def test_types_have_our_names_too() -> None:
    given = [None, "fp32", "float32", "fp16", "bf16", "int8"]
    assert list(map(quantization_name, given)) == ["float32", "float32", "float32", "float16", "bfloat16", "int8"]


@pytest.mark.parametrize("quantization", QUANTIZATIONS)
def test_all_types_of_weights_can_be_opened(quantization: str, tmp_path: Path) -> None:
    config = config_for()
    run = run_of(tmp_path / "run", random_model(config), config)
    convert(run, tmp_path / "converted", quantization=quantization)
    engine = Ctranslate2Engine(tmp_path / "converted", SHARED, SearchConfig(extra_length=3), workers=1)
    ((output,),) = engine.decode([part_of([10, 11])])
    assert len(output.token_log_probabilities) <= 2 + 1 + 3


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    config = config_for()
    run = run_of(tmp_path / "run", random_model(config), config)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot write to .*file"):
        convert(run, tmp_path / "file" / "converted")


def test_the_library_is_not_loaded_before_it_is_used() -> None:
    imports = "import sys, headway.export.conversions, headway.export.engine"
    code = f"{imports}; print({{'ctranslate2', 'torch'}} & {{*sys.modules}})"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
