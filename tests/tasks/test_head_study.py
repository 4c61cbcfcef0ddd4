"""Heads are studied on all sentences of a file, whatever the family, and nothing is lost unsaid."""

import json
from pathlib import Path

import pytest
import torch
from shown_runs import LINES, corpus, train

from headway.errors import UserError
from headway.show.heads import head_off, head_statistics
from headway.tasks.head_study import (
    Sentences,
    sentences_of_files,
    sentences_of_run,
    study_heads,
    text_rows,
)
from headway.tasks.loading import load
from headway.tasks.showing import Trained
from headway.text.corpus import Pair
from headway.train.batches import batches_of

KINDS = ("encoder", "decoder", "cross")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return Trained.load(train(tmp_path_factory.mktemp("runs") / "run"))


def test_all_sentences_count_and_the_first_are_ablated(trained: Trained, tmp_path: Path) -> None:
    told: list[tuple[int, int | None, str]] = []
    study = study_heads(trained, sentences_of_files(trained, *corpus(tmp_path)), 10, lambda *facts: told.append(facts))
    assert study.kinds == KINDS
    assert (study.statistics.sentences, study.ablation_sentences, study.left_out) == (LINES, 10, 0)
    assert (LINES, LINES, "sentences looked at") in told
    assert told[-1] == (12, 12, "heads switched off")
    assert json.loads(json.dumps(study.as_json()))["ablation"]["sentences"] == 10


def test_numbers_are_those_of_the_sentences_one_by_one(trained: Trained) -> None:
    pairs = [Pair("one two", "two one"), Pair("three four one two", "two one four three")]
    study = study_heads(trained, Sentences("both", pairs), 2)
    encode = trained.run.vocabulary.source.encode
    ids = [(torch.tensor(encode(pair.source)).numpy(), torch.tensor(encode(pair.target)).numpy()) for pair in pairs]
    batches = [batches_of(trained.config)([each], [(0,)]) for each in ids]
    plain = head_statistics(trained.model, batches)
    for found, expected in zip(study.statistics.heads, plain.heads, strict=True):
        assert found.entropy == pytest.approx(expected.entropy, abs=1e-5)
    total = tokens = 0.0
    with torch.no_grad(), head_off(trained.model.decoder.layers[1].cross_attention, 1):
        for source, target, answer in batches:
            of_answer = trained.model(source, target).log_softmax(-1).gather(2, answer[..., None])
            total, tokens = total - float(of_answer.sum()), tokens + answer.numel()
    assert study.ablation is not None
    assert study.ablation.heads[-1].without == pytest.approx(total / tokens, abs=1e-5)


def test_without_targets_the_model_translates(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "texts").write_text("one two\n\nfour three one\n")
    studied = sentences_of_files(trained, tmp_path / "texts")
    lines = ["one two", "", "four three one"]
    translations = load(trained.run.path).translate(lines)
    expected = [Pair(line, each.text) for line, each in zip(lines, translations, strict=True)]
    assert list(studied.pairs) == expected


def test_what_training_would_leave_out_is_counted(trained: Trained) -> None:
    long = "one " * 300
    pairs = [Pair("one two", "two one"), Pair("", "two"), Pair(long, "one"), Pair("one", " ")]
    study = study_heads(trained, Sentences("these", pairs), 5)
    assert (study.statistics.sentences, study.ablation_sentences, study.left_out) == (1, 1, 3)
    with pytest.raises(UserError, match="these has no sentence to look at; 3 are empty"):
        study_heads(trained, Sentences("these", pairs[1:]), 5)


def test_no_ablation_is_made_if_none_is_wanted(trained: Trained) -> None:
    study = study_heads(trained, sentences_of_run(trained), 0)
    assert study.statistics.sentences == 4
    assert study.ablation is None
    assert study.as_json()["ablation"] is None


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"model__family": "decoder-only"}, "decoder"),
        ({"model__family": "decoder-only", "train__objective": "language-model"}, "decoder"),
        ({"model__family": "encoder-only"}, "encoder"),
        ({"train__objective": "infilling"}, None),
    ],
)
def test_every_family_has_a_study(settings: dict, kind: str | None, tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", **settings))
    study = study_heads(trained, sentences_of_files(trained, corpus(tmp_path)[0]), 20)
    assert study.kinds == ((kind,) if kind else KINDS)
    assert study.statistics.sentences + study.left_out == LINES, "a model may write nothing"
    assert study.statistics.sentences > LINES // 2
    assert study.ablation is not None
    assert study.ablation.whole > 0
    if not trained.learns_from_pairs:
        with pytest.raises(UserError, match="takes one text; leave out --target-file"):
            sentences_of_files(trained, *corpus(tmp_path))


def test_tags_must_be_given(tmp_path: Path) -> None:
    tags = {"model__family": "encoder-only", "model__head": "tagging", "train__objective": "tagging"}
    trained = Trained.load(train(tmp_path / "run", **tags, tokenizer__kind="word"))
    with pytest.raises(UserError, match=r"trained for tagging; give what belongs to .*source by --target-file"):
        sentences_of_files(trained, corpus(tmp_path)[0])
    assert study_heads(trained, sentences_of_files(trained, *corpus(tmp_path)), 5).kinds == ("encoder",)


def test_texts_of_a_language_model_do_not_look_at_each_other() -> None:
    rows = text_rows([torch.tensor([7, 8]).numpy(), torch.tensor([9]).numpy()])
    assert rows.tokens.tolist() == [[2, 7, 8], [2, 9, 0]]
    assert rows.answer.tolist() == [[7, 8, 2], [9, 2, 0]]


def test_a_run_that_kept_no_sentences_asks_for_a_file(tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", train__valid_sentences=0))
    with pytest.raises(UserError, match="kept no validation sentences; give some by --file"):
        sentences_of_run(trained)


def test_sentences_in_which_nothing_is_asked_are_told(tmp_path: Path) -> None:
    trained = Trained.load(train(tmp_path / "run", model__family="encoder-only"))
    with pytest.raises(UserError, match="in 1 sentences nothing was hidden"):
        study_heads(trained, Sentences("one", [Pair("one", "one")]), 1)
