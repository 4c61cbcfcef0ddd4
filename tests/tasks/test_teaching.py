"""A teacher's translations are all there, once, whatever interrupts it."""

import json
from itertools import count
from pathlib import Path

import pytest
from random_runs import make_run

from headway.errors import UserError
from headway.tasks.loading import load
from headway.tasks.teaching import REVERSE, TRANSLATIONS, Distilled, Lessons, Listener, Teacher, write_translations
from headway.text.corpus import Pair

LINES = ["one two", "", "three\u2028two", "two one one", "one " * 20, 'two "three"']
SETTINGS = ("search.extra_length=2", "search.beam=2", "search.window=2", "search.batch_tokens=20")


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def teacher(tmp_path: Path) -> Teacher:
    return Teacher.open(make_run(tmp_path / "teacher", data={"max_length": 8}).path, settings=SETTINGS)


@pytest.fixture
def lessons(tmp_path: Path) -> Lessons:
    return Lessons((write(tmp_path / "first", LINES[:2]), write(tmp_path / "second", LINES[2:])))


def records(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / TRANSLATIONS).read_bytes().splitlines()]


def stop_after(lines: int) -> Listener:
    seen = count()
    return Listener(should_stop=lambda: next(seen) + 1 >= lines)


def test_every_line_has_the_translation_that_the_run_gives_it(
    teacher: Teacher, lessons: Lessons, tmp_path: Path
) -> None:
    assert write_translations(teacher, lessons, tmp_path / "out")
    expected = load(teacher.run.path, settings=SETTINGS, engine="torch").translate(LINES)
    assert [record["source"] for record in records(tmp_path / "out")] == LINES
    assert [record["target"] for record in records(tmp_path / "out")] == [each.text for each in expected]


def test_several_teachers_write_what_they_write_together(teacher: Teacher, lessons: Lessons, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other", data={"max_length": 8}).path
    both = Teacher.open(teacher.run.path, settings=SETTINGS, ensemble=[other])
    assert write_translations(both, lessons, tmp_path / "out")
    expected = load(teacher.run.path, settings=SETTINGS, engine="torch", ensemble=[other]).translate(LINES)
    alone = load(teacher.run.path, settings=SETTINGS, engine="torch").translate(LINES)
    written = [record["target"] for record in records(tmp_path / "out")]
    assert written == [each.text for each in expected] != [each.text for each in alone]
    with pytest.raises(UserError, match="translations by another teacher"):
        write_translations(teacher, lessons, tmp_path / "out")


def test_what_was_interrupted_goes_on_where_it_was(teacher: Teacher, lessons: Lessons, tmp_path: Path) -> None:
    write_translations(teacher, lessons, tmp_path / "whole")
    whole = (tmp_path / "whole" / TRANSLATIONS).read_bytes()
    out = tmp_path / "out"
    assert not write_translations(teacher, lessons, out, listener=stop_after(3))
    file = out / TRANSLATIONS
    begun = file.read_bytes()
    assert begun == b"".join(whole.splitlines(keepends=True)[:3])
    file.write_bytes(begun[:-5])  # as a kill in the midst of a line leaves it
    told: list[tuple[int, int]] = []
    warned: list[int] = []
    listener = Listener(lambda *facts: told.append(facts), lambda number, _: warned.append(number))
    assert write_translations(teacher, lessons, out, listener=listener)
    assert file.read_bytes() == whole
    assert told == [(number, 6) for number in range(2, 7)]
    assert warned == [5], "lines are counted over all files, those of before included"
    assert write_translations(teacher, lessons, out)
    assert file.read_bytes() == whole


def test_only_the_same_goes_on(teacher: Teacher, lessons: Lessons, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_translations(teacher, lessons, out, listener=stop_after(1))
    before = (out / TRANSLATIONS).read_bytes()
    others = {
        "by another teacher": (Teacher.open(teacher.run.path, "step-00000002", SETTINGS), lessons),
        "with other search settings": (Teacher.open(teacher.run.path, settings=["search.beam=3"]), lessons),
        "of other texts": (teacher, Lessons(lessons.sources[:1])),
    }
    for difference, (who, what) in others.items():
        with pytest.raises(UserError, match=f"has 1 translations {difference}; ask for the same again"):
            write_translations(who, what, out)
    assert (out / TRANSLATIONS).read_bytes() == before
    faster = Teacher.open(teacher.run.path, settings=(*SETTINGS, "search.window=9"))
    assert write_translations(faster, lessons, out)


def test_several_translations_and_the_true_one_are_learned_from(teacher: Teacher, tmp_path: Path) -> None:
    sources = write(tmp_path / "source", ["one two", "two", "three"])
    (second,) = load(teacher.run.path, settings=SETTINGS, engine="torch").translate(["two"])
    targets = write(tmp_path / "target", ["UN DEUX", second.text, ""])
    several = Teacher.open(teacher.run.path, settings=(*SETTINGS, "search.n_best=2"))
    write_translations(several, Lessons((sources,), (targets,)), tmp_path / "out")
    found = records(tmp_path / "out")
    assert found[0]["more"][-1] == "UN DEUX"
    assert [len({each["target"], *each["more"]}) for each in found] == [1 + len(each["more"]) for each in found]
    assert second.text not in found[1]["more"]
    assert "" not in found[2]["more"]
    corpus = Distilled(tmp_path / "out")
    assert list(corpus)[: 1 + len(found[0]["more"])] == [
        Pair("one two", text) for text in (found[0]["target"], *found[0]["more"])
    ]
    without = Distilled(corpus.folder, frozenset([Pair("one two", "UN")]))
    assert {pair.source for pair in without} == {"two", "three"}
    assert without.fingerprint() != corpus.fingerprint()


def test_a_teacher_of_the_other_direction_writes_sources(teacher: Teacher, tmp_path: Path) -> None:
    lessons = Lessons((write(tmp_path / "source", ["un", "deux"]),), (write(tmp_path / "target", ["one two", "two"]),))
    write_translations(teacher, lessons, tmp_path / "out")
    forward = list(Distilled(tmp_path / "out"))
    write_translations(teacher, lessons.for_reverse(), tmp_path / "out" / REVERSE)
    both = Distilled(tmp_path / "out", has_reverse=True)
    made = [
        each.text for each in load(teacher.run.path, settings=SETTINGS, engine="torch").translate(["one two", "two"])
    ]
    assert list(both) == [*forward, Pair(made[0], "one two"), Pair(made[1], "two")]
    held_out = Distilled(both.folder, frozenset([Pair("deux", "two")]), has_reverse=True)
    assert {pair.source for pair in forward} == {"un", "deux"}
    assert list(held_out) == [*(pair for pair in forward if pair.source == "un"), Pair(made[0], "one two")]
    assert both.fingerprint().keys() > Distilled(both.folder).fingerprint().keys()


def test_wrong_texts_are_found_before_anything_is_translated(teacher: Teacher, tmp_path: Path) -> None:
    one, two, none = (write(tmp_path / str(lines), ["one"] * lines) for lines in (1, 2, 0))
    for wrong, message in (
        (Lessons((one,), (two,)), "has 1 line but .*2 has 2"),
        (Lessons((one, none)), "0 is empty"),
        (Lessons((tmp_path / "absent",)), "no such file"),
        (Lessons((Path("-"),)), "standard input can be read only once"),
    ):
        with pytest.raises(UserError, match=message):
            write_translations(teacher, wrong, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_who_does_not_translate_cannot_teach(tmp_path: Path) -> None:
    make_run(tmp_path / "run", model={"family": "encoder-only"})
    with pytest.raises(UserError, match="was trained for masked-tokens, not for translation"):
        Teacher.open(tmp_path / "run")
