import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from headway.config import Config, DataConfig, MachineConfig, ModelConfig, SearchConfig, TokenizerConfig, TrainConfig
from headway.errors import UserError
from headway.presets import PRESETS
from headway.reference import config_page, settings_help
from headway.settings import config_to_toml, load_config, parse_config

ROOT = Path(__file__).parent.parent


def test_the_defaults_are_the_base_model_of_the_paper() -> None:
    model, train = Config().model, Config().train
    assert (model.layers, model.d_model, model.d_ff, model.heads) == (6, 512, 2048, 8)
    assert (model.query_width, model.value_width, model.dropout) == (64, 64, 0.1)
    assert (train.steps, train.warmup, train.label_smoothing, train.batch_tokens) == (100_000, 4000, 0.1, 25_000)
    assert load_config("base") == Config()


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Config().model.heads = 3  # type: ignore[misc]


def test_later_sources_win(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text("[model]\nlayers = 2\nheads = 16\n")
    config = load_config("big", file, ["model.heads=4", "model.positions=learned", "train.label_smoothing=0"])
    assert config.model.d_model == 1024
    assert config.model.layers == 2
    assert config.model.heads == 4
    assert config.model.positions == "learned"
    assert config.train.label_smoothing == 0.0


def test_all_problems_of_a_file_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text('[model]\nhedas = 4\nheads = "eight"\n\n[train]\nlabel_smoothing = 1.5\n[trian]\nx = 1\n')
    with pytest.raises(UserError) as raised:
        load_config(file=file)
    assert str(raised.value).splitlines() == [
        f"model.heads must be a valid integer ({file}, line 3); got 'eight'",
        f"unknown setting model.hedas ({file}, line 2); did you mean model.heads?",
        f"train.label_smoothing must be less than 1 ({file}, line 6); got 1.5",
        f"unknown setting trian ({file}, line 7); did you mean train?",
    ]


@pytest.mark.parametrize(
    ("assignments", "message"),
    [
        (
            ["model.head=4"],
            "model.head must be 'masked-tokens', 'classification' or 'tagging' (--set model.head=4); got 4",
        ),
        (["model.hedas=4"], "unknown setting model.hedas (--set model.hedas=4); did you mean model.heads?"),
        (["model.zzz=4"], "unknown setting model.zzz (--set model.zzz=4); known are model.family, "),
        (["train.heads=4"], "unknown setting train.heads (--set train.heads=4); did you mean model.heads?"),
        (["heads=4"], "--set takes section.name=value, as in --set model.heads=4; got heads=4"),
        (["model.heads"], "--set takes section.name=value, as in --set model.heads=4; got model.heads"),
        (
            ["model.heads=7"],
            "model.heads = 7 does not divide model.d_model = 512; choose heads among 1, 2, 4, 8, 16, 32, 64, 128, "
            "256, 512, or give model.d_k and model.d_v",
        ),
        (["model.heads=7", "model.d_k=8"], "or give model.d_v"),
        (["model.d_model=9", "model.heads=3"], "needs an even model.d_model; got 9"),
        (["model.target_vocabulary=50"], "set model.share_embeddings to target-output or none"),
        (["model.target_vocabulary=50", "model.family=decoder-only"], "needs model.family = encoder-decoder"),
        (["model.decoder_layers=2", "model.family=encoder-only"], "model.family is encoder-only"),
        (["tokenizer.dropout=0.1", "tokenizer.kind=word"], "set tokenizer.kind to bpe or byte-level"),
        (["model.dropout=nan"], "model.dropout must be a finite number"),
        (["model.layers=0"], "model.layers must be greater than or equal to 1"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_possible(assignments: list[str], message: str) -> None:
    with pytest.raises(UserError) as raised:
        load_config(assignments=assignments)
    assert message in str(raised.value)


def test_all_broken_rules_are_reported_at_once() -> None:
    with pytest.raises(UserError) as raised:
        load_config(assignments=["model.d_model=9", "model.heads=2", "model.target_vocabulary=7"])
    assert len(str(raised.value).splitlines()) == 3


def test_a_section_must_be_a_table() -> None:
    with pytest.raises(UserError, match=r"model is a section of settings; give its settings by name, as in \[model\]"):
        parse_config({"model": 3})


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"[model\n", "is not valid TOML"), (b"\xff", "is not UTF-8 text (byte 0)"), (None, "No such file")],
)
def test_an_unreadable_file_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "broken.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError) as raised:
        load_config(file=file)
    assert str(file) in str(raised.value)
    assert message in str(raised.value)


def test_an_unknown_preset_is_named_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r"unknown preset bas; did you mean base\?"):
        load_config("bas")


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_valid_and_survive_toml(name: str) -> None:
    config = load_config(name)
    assert parse_config(tomllib.loads(config_to_toml(config))) == config


@pytest.mark.parametrize("family", ["encoder-only", "decoder-only"])
@pytest.mark.parametrize("name", PRESETS)
def test_presets_serve_all_families(name: str, family: str) -> None:
    assert load_config(name, assignments=[f"model.family={family}"]).model.decoder_layers is None
    assert "decoder_layers" in PRESETS["demo"].settings["model"], "nothing was taken from the preset itself"


def test_layers_that_are_set_are_those_of_both_stacks() -> None:
    assert load_config("demo", assignments=["model.d_ff=64"]).model.decoder_layers == 2
    assert load_config("demo", assignments=["model.layers=3"]).model.decoder_layers is None
    assert load_config("demo", assignments=["model.layers=3", "model.decoder_layers=1"]).model.decoder_layers == 1


def test_a_decoder_that_was_asked_for_is_refused_where_there_is_none() -> None:
    with pytest.raises(UserError, match=r"model\.decoder_layers = 3 belongs to the encoder-decoder"):
        load_config("tiny", assignments=["model.family=decoder-only", "model.decoder_layers=3"])


models = st.builds(
    ModelConfig,
    vocabulary=st.integers(1, 10**6),
    d_model=st.sampled_from([64, 128]),
    d_k=st.none() | st.integers(1, 99),
    dropout=st.floats(0, 1, exclude_max=True),
    norm_epsilon=st.floats(1e-12, 1e-3),
    attention_bias=st.booleans(),
    pattern=st.sampled_from(["full", "window", "dilated", "strided", "top-k"]),
)


@given(st.builds(Config, model=models, train=st.builds(TrainConfig, steps=st.integers(1, 10**9))))
def test_toml_loses_nothing(config: Config) -> None:
    assert parse_config(tomllib.loads(config_to_toml(config))) == config


def test_what_toml_leaves_out_is_unset_by_default() -> None:
    for section in (ModelConfig, DataConfig, TokenizerConfig, TrainConfig, MachineConfig, SearchConfig):
        for name, field in section.model_fields.items():
            may_be_unset = "None" in str(field.annotation)
            assert not may_be_unset or field.default is None, name


def test_every_setting_is_explained() -> None:
    for section in (ModelConfig, DataConfig, TokenizerConfig, TrainConfig, MachineConfig, SearchConfig):
        for name, field in section.model_fields.items():
            assert field.description, name


def test_the_settings_page_is_up_to_date() -> None:
    page = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    assert page == config_page(), "run `make docs`"


def test_help_shows_defaults_and_choices() -> None:
    text = settings_help()
    assert "model.global_positions = 1\n" in text
    assert "model.attention_bias = false\n" in text
    assert "Choices: relu, gelu, swiglu." in text
    of_search = settings_help(sections=["search"])
    assert of_search in text
    assert {line.partition(".")[0].strip() for line in of_search.splitlines() if " = " in line[:40]} == {"search"}
