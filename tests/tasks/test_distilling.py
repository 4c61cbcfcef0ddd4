"""A student learns from its teacher: which settings and words it has, what it learns from, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from random_runs import make_run
from shown_runs import LINES, corpus, train

import headway
from headway.data.prepared import Prepared
from headway.errors import UserError
from headway.models import describe
from headway.store.run import Run
from headway.tasks.distilling import Distillation, smaller
from headway.tasks.setting_up import read_samples
from headway.tasks.teaching import REVERSE, TRANSLATIONS, Listener, Teacher
from headway.tasks.training import Observer
from headway.train.events import Updated


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(tmp_path_factory.mktemp("runs") / "teacher")


@pytest.fixture(scope="module")
def texts(teacher: Path) -> tuple[Path, Path]:
    return corpus(teacher.parent)


@pytest.fixture(scope="module")
def distilled(teacher: Path, texts: tuple[Path, Path]) -> Distillation:
    found = headway.distill(teacher, teacher.parent / "student", source=texts[0])
    assert found is not None
    return found


def test_a_student_is_a_smaller_teacher_with_the_same_words(distilled: Distillation, teacher: Path) -> None:
    first, second = Run.open(teacher), distilled.outcome.run
    assert (second.config.model.layers, second.config.model.decoder_layers) == (2, 1)
    assert second.config.train == first.config.train.model_copy(update={"select_by": "bleu"})
    assert second.vocabulary.fingerprint == first.vocabulary.fingerprint
    assert distilled.sides is not None
    of_teacher, of_student = distilled.sides
    assert of_student.parameters < of_teacher.parameters
    assert set(json.loads(json.dumps(distilled.as_json()))) >= {"run", "scores", "teacher", "student", "speed_ratio"}


def test_the_card_names_the_teacher(distilled: Distillation, teacher: Path, texts: tuple[Path, Path]) -> None:
    chosen = Run.open(teacher).chosen()
    named = distilled.outcome.run.card["teacher"]
    assert (named["run"], named["checkpoint"]) == (str(teacher), chosen.path.name)
    assert named["fingerprint"] == chosen.state()["sha256"]["model.safetensors"]
    assert list(named["texts"]) == [str(texts[0])]


def test_a_student_with_fewer_layers_begins_with_the_teachers_weights(
    distilled: Distillation, teacher: Path, texts: tuple[Path, Path]
) -> None:
    chosen = Run.open(teacher).chosen()
    named = distilled.outcome.run.card["init"]
    assert (named["run"], named["checkpoint"]) == (str(teacher), chosen.path.name)
    settings = ["train.steps=1", "train.peak_rate=1e-30", "train.weight_decay=0", "train.average=0"]
    for changes, begins_so in (([], True), (["model.d_ff=8"], False)):
        out = teacher.parent / f"begins-{begins_so}"
        found = headway.distill(teacher, out, source=texts[0], settings=[*settings, *changes])
        assert found is not None
        name = "encoder.layers.1.attention.to_query.weight"
        weights = (run.chosen().weights()[name] for run in (found.outcome.run, Run.open(teacher)))
        assert torch.allclose(*weights) == begins_so
        assert ("init" in found.outcome.run.card) == begins_so


def test_what_the_teacher_was_validated_with_is_not_learned_from(
    distilled: Distillation, teacher: Path, texts: tuple[Path, Path]
) -> None:
    held_out = {pair.source for pair in read_samples(Run.open(teacher))}
    rest = [line for line in texts[0].read_text().splitlines() if line not in held_out]
    assert len(rest) < LINES
    assert Prepared(distilled.outcome.run.data / "train").report.read == len(rest)
    assert read_samples(distilled.outcome.run) == read_samples(Run.open(teacher))


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    distilled: Distillation, teacher: Path, texts: tuple[Path, Path]
) -> None:
    out = teacher.parent / "stopped"
    steps: list[int] = []
    observer = Observer(
        watch=lambda event: steps.append(event.step) if isinstance(event, Updated) else None,
        should_stop=lambda: bool(steps),
    )
    stopped = headway.distill(teacher, out, source=texts[0], observer=observer)
    assert stopped is not None
    assert (stopped.outcome.result, stopped.sides) == (None, None)
    with pytest.raises(UserError, match="stopped has a run already; go on with it by --resume"):
        headway.distill(teacher, out, source=texts[0])
    done = headway.distill(teacher, out, resume=True)
    assert done is not None
    weights = [each.outcome.run.checkpoints.steps()[-1].state()["sha256"] for each in (done, distilled)]
    assert weights[0] == weights[1]


def test_a_kill_before_the_first_step_is_made_good(
    distilled: Distillation, teacher: Path, texts: tuple[Path, Path], tmp_path: Path
) -> None:
    first, out = distilled.outcome.run, tmp_path / "killed"
    out.mkdir()
    for name in ("config.toml", "tokenizer.json", "distilled.json", TRANSLATIONS):
        shutil.copy(first.path / name, out)
    card = {name: fact for name, fact in first.card.items() if name != "teacher"}
    (out / "card.json").write_text(json.dumps(card), encoding="utf-8")
    done = headway.distill(teacher, out, source=texts[0])
    assert done is not None
    assert done.outcome.run.card["teacher"] == first.card["teacher"]
    assert done.outcome.run.vocabulary.fingerprint == first.vocabulary.fingerprint


def test_kept_translations_serve_another_student(teacher: Path, texts: tuple[Path, Path], tmp_path: Path) -> None:
    validation = {"valid_source": texts[0], "valid_target": texts[1]}
    settings = ["model.d_ff=8", "tokenizer.size=290"]
    options = {"source": texts[0], "settings": settings, "new_vocabulary": True, **validation}
    with pytest.raises(UserError, match=r"tokenizer\.size = 290, but the student has the vocabulary of .*it is 300"):
        headway.distill(teacher, tmp_path / "out", **{**options, "new_vocabulary": False})
    found = headway.distill(teacher, tmp_path / "out", **options)
    assert found is not None
    run = found.outcome.run
    assert run.config.model.d_ff == 8
    assert run.vocabulary.fingerprint != Run.open(teacher).vocabulary.fingerprint
    assert Prepared(run.data / "train").report.read == LINES, "other validation texts were given"
    (tmp_path / "again").mkdir()
    for name in ("distilled.json", TRANSLATIONS):
        (tmp_path / "again" / name).write_bytes((run.path / name).read_bytes())
    started: list[tuple[int, int]] = []
    listener = Listener(lambda *facts: started.append(facts))
    headway.distill(teacher, tmp_path / "again", listener=listener, **{**options, "settings": ["model.layers=1"]})
    assert started == [(LINES, LINES)]


def test_what_cannot_be_finished_is_refused_at_once(teacher: Path, texts: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    random = make_run(tmp_path / "random").path
    (tmp_path / "short").write_text("un\n")
    misaligned = {"valid_source": texts[0], "valid_target": tmp_path / "short"}
    learns_texts = ["model.family=decoder-only", "train.objective=language-model"]
    for message, run, options in (
        ("no texts were given", teacher, {}),
        ("teacher has a run already, which was not distilled", teacher, {"out": teacher, "source": texts[0]}),
        ("random kept no validation sentences; give some by --valid-source", random, {"source": texts[0]}),
        ("source has 60 lines but .*short has 1", teacher, {"source": texts[0], **misaligned}),
        ("would learn language-model", teacher, {"source": texts[0], "preset": "tiny", "settings": learns_texts}),
        ("model.vocabulary = 9, but the student", teacher, {"source": texts[0], "settings": ["model.vocabulary=9"]}),
        ("unknown setting model.haeds", teacher, {"source": texts[0], "settings": ["model.haeds=2"]}),
    ):
        with pytest.raises(UserError, match=message):
            headway.distill(run, **{"out": out, **options})
    assert not out.exists()


def test_a_student_has_one_teacher(distilled: Distillation, tmp_path: Path) -> None:
    stranger = make_run(tmp_path / "stranger").path
    with pytest.raises(UserError, match=r"was distilled from other weights .*than those of .*stranger"):
        headway.distill(stranger, distilled.outcome.run.path, resume=True)


def test_a_reverse_teacher_makes_three_corpora_of_one(teacher: Path, texts: tuple[Path, Path], tmp_path: Path) -> None:
    other = train(teacher.parent / "other", train__seed=7)  # the texts of both sides are of the same words
    options = {"source": texts[0], "target": texts[1], "settings": ["train.steps=2"], "reverse": other}
    found = headway.distill(teacher, tmp_path / "out", **options)
    assert found is not None
    run = found.outcome.run
    files = run.path / TRANSLATIONS, run.path / REVERSE / TRANSLATIONS
    forward, backward = ([json.loads(line) for line in file.read_bytes().splitlines()] for file in files)
    assert [each["source"] for each in backward] == texts[1].read_text().splitlines()
    held_out = read_samples(run)
    sources, targets = {pair.source for pair in held_out}, {pair.target for pair in held_out}
    expected = sum(1 + len(each["more"]) for each in forward if each["source"] not in sources)
    expected += sum(each["source"] not in targets for each in backward)
    assert Prepared(run.data / "train").report.read == expected
    named = run.card["reverse_teacher"]
    assert (named["run"], named["fingerprint"]) == (str(other), Teacher.open(other).facts()["fingerprint"])

    again = {"resume": True, "reverse": teacher}
    with pytest.raises(UserError, match=r"was distilled from other weights \(.*other"):
        headway.distill(teacher, run.path, **again)
    for message, wrong in (
        ("is to translate targets into sources; give the targets by --target", {"target": ()}),
        ("has the weights of the teacher, so it cannot be the reverse", {"reverse": teacher}),
    ):
        with pytest.raises(UserError, match=message):
            headway.distill(teacher, tmp_path / "wrong", **{**options, **wrong})
    assert not (tmp_path / "wrong").exists()


def test_several_runs_teach_together(teacher: Path, texts: tuple[Path, Path], tmp_path: Path) -> None:
    other = train(teacher.parent / "second", train__seed=9)
    options = {"settings": ["train.steps=2"], "ensemble": [other]}
    found = headway.distill(teacher, tmp_path / "out", source=texts[0], **options)
    assert found is not None
    assert found.sides is not None
    both = f"{teacher} + {other}"
    assert (found.outcome.run.card["teacher"]["run"], found.sides[0].run) == (both, both)
    parameters = describe(Run.open(teacher).config).parameters["total"]
    assert found.sides[0].parameters == 2 * parameters
    assert headway.distill(teacher, tmp_path / "out", resume=True, ensemble=[other]) is not None
    with pytest.raises(UserError, match="was distilled from other weights"):
        headway.distill(teacher, tmp_path / "out", resume=True)


def test_a_student_without_a_reverse_teacher_has_none_later(distilled: Distillation, teacher: Path) -> None:
    other = train(teacher.parent / "stranger", train__seed=8)
    with pytest.raises(UserError, match="student was distilled without a reverse teacher; leave it out"):
        headway.distill(teacher, distilled.outcome.run.path, resume=True, reverse=other)


def test_one_process_distils(
    teacher: Path, texts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="headway distill is one process"):
        headway.distill(teacher, tmp_path / "out", source=texts[0])


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ({"layers": 6}, "model.decoder_layers=1"),
        ({"layers": 6, "decoder_layers": 1, "d_ff": 64}, "model.d_ff=32"),
        ({"family": "decoder-only", "layers": 6}, "model.layers=3"),
        ({"family": "decoder-only", "layers": 1, "d_ff": 64}, "model.d_ff=32"),
    ],
)
def test_the_default_student(model: dict, expected: str) -> None:
    assert smaller(headway.ModelConfig(**model)) == [
        expected,
        "train.select_by=bleu",
        "search.beam=1",
        "search.n_best=1",
    ]
