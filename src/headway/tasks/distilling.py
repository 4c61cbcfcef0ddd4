"""`headway distill`: a small student learns from what its teacher writes (Kim & Rush 2016, sequence level).

A teacher's translations are more alike than those of people, so that a smaller model can learn them. The teacher
translates texts with its beam; then the student is trained on them as on any corpus. A teacher of the other direction
can add sources to true targets: so a small corpus becomes several times as large (Nguyen et al. 2020).
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.config import Config, ModelConfig
from headway.errors import UserError
from headway.models.inherit import is_part_of
from headway.settings import load_config
from headway.store.run import Run
from headway.tasks import teaching
from headway.tasks.beginning import NEW, Beginning, Origin
from headway.tasks.interface import Texts, paths
from headway.tasks.setting_up import Wanted, read_samples, set_up
from headway.tasks.side_by_side import Entrant, Side, side_by_side
from headway.tasks.teaching import REVERSE, TRANSLATIONS, Distilled, Lessons, Listener, Teacher, write_translations
from headway.tasks.training import NOBODY, Observer, Outcome, train_run
from headway.text.corpus import Corpus, JsonLinesFile, Pair
from headway.text.opening import open_corpus
from headway.train.events import Noted

SECTIONS_OF_BOTH = ("search.", "machine.")
"""Their settings are the teacher's as well as the student's."""
OF_THE_VOCABULARY = ("kind", "size", "shared", "normalisation")
"""Settings of the tokenizer that would give another vocabulary."""


@dataclass(frozen=True)
class Distillation:
    """What became of a student."""

    outcome: Outcome
    sides: tuple[Side, Side] | None = None
    """Teacher and student on the validation sentences, if training has come to its end and there are any."""

    def as_json(self) -> dict[str, Any]:
        """All numbers, for `json.dumps`."""
        facts = {"run": str(self.outcome.run.path), **(self.outcome.result or {})}
        if self.sides is None:
            return facts
        teacher, student = self.sides
        ratio = student.sentences_per_second / teacher.sentences_per_second
        return {**facts, "teacher": teacher.as_json(), "student": student.as_json(), "speed_ratio": ratio}


@dataclass(frozen=True)
class Student:
    """Who is to learn, where and how."""

    out: Path
    wanted: Wanted
    valid: Corpus | None = None
    """What to validate with, if it is not what the teacher was validated with."""
    learns_vocabulary: bool = False
    """Whether it has a vocabulary of its own, learned from what the teacher wrote."""
    reverse: Teacher | None = None
    """A teacher of the other direction, who writes sources for true targets."""
    command: Sequence[str] = ()

    @property
    def run(self) -> Run:
        """Its run, which may not be there yet."""
        return Run(self.out)

    @property
    def is_set_up(self) -> bool:
        """Whether all that remains is to train; the card names the teacher when all else is there."""
        return self.run.exists and "teacher" in self.run.card

    def courses(self, teacher: Teacher, lessons: Lessons) -> Iterator[tuple[Teacher, Lessons, Path]]:
        """Who translates what for it, and into which folder."""
        yield teacher, lessons, self.out
        if self.reverse is not None:
            yield self.reverse, lessons.for_reverse(), self.out / REVERSE


def teacher_settings(settings: Sequence[str], *, beam: int | None = None, n_best: int | None = None) -> list[str]:
    """Of all settings those that a teacher translates with, and then those that are its alone."""
    own = {"search.beam": beam, "search.n_best": n_best}
    given = [f"{name}={value}" for name, value in own.items() if value is not None]
    return [*(each for each in settings if each.strip().startswith(SECTIONS_OF_BOTH)), *given]


def student_settings(teacher: Run, preset: str | None, file: Path | None, assignments: Sequence[str]) -> Wanted:
    """The settings asked for; without preset and file, they change a smaller model of the teacher's kind."""
    if preset is not None or file is not None:
        return Wanted(preset, file, assignments)
    return Wanted(None, teacher.path / "config.toml", [*smaller(teacher.config.model), *assignments])


def smaller(teacher: ModelConfig) -> list[str]:
    """A decoder of one layer, and greedy search.

    A text is read at once, but written token by token: most of the time goes through the decoder, and depth is missed
    less there (Kasai et al. 2021). What the teacher's beam found has been learned, so that a student hardly needs one
    (Kim & Rush 2016). Widths are the teacher's, so that the student can begin with its weights; only where there is no
    layer to spare, feed-forward layers have half of theirs. Checkpoints are chosen by BLEU: what people wrote may
    become less probable for a student even while it learns to translate better.
    """
    is_single = teacher.family == "decoder-only"
    depth = teacher.layers if is_single else teacher.decoder_layers or teacher.layers
    if depth == 1:
        change = f"model.d_ff={max(teacher.d_ff // 2, 1)}"
    else:
        change = f"model.layers={depth // 2}" if is_single else "model.decoder_layers=1"
    return [change, "train.select_by=bleu", "search.beam=1", "search.n_best=1"]


def check_student(student: Student, teacher: Teacher, lessons: Lessons | None, *, resume: bool) -> None:
    """Refuse before hours of work what could not be finished."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError(
            "headway distill is one process; when it has begun to train, stop it, and go on with "
            f"torchrun ... -m headway train --out {student.out} --resume"
        )
    if student.is_set_up:
        if not resume:
            raise UserError(f"{student.out} has a run already; go on with it by --resume, or choose another --out")
        _check_same_teacher(student, teacher, "teacher")
        if student.reverse is not None:
            _check_same_teacher(student, student.reverse, "reverse_teacher")
        return
    if student.run.exists and not (student.out / TRANSLATIONS).exists():
        raise UserError(f"{student.out} has a run already, which was not distilled; choose another --out")
    if lessons is None:
        raise UserError("no texts were given for the teacher to translate; give them by --source")
    if student.reverse is not None:
        _check_reverse(student.reverse, teacher, lessons)
    config = student.wanted.config()
    if config.objective != "translation":
        raise UserError(f"the student would learn {config.objective}, but its teacher teaches translation")
    if not student.learns_vocabulary:
        check_vocabulary(config, teacher.run)
    for _ in student.valid or validation_of(teacher.run):
        pass  # what is wrong with it is found by reading it


def check_vocabulary(config: Config, teacher: Run) -> None:
    """A student that has the teacher's vocabulary cannot ask for another one."""
    sizes = {
        "model.vocabulary": (config.model.vocabulary, len(teacher.vocabulary.source)),
        "model.target_vocabulary": (config.model.target_vocabulary, len(teacher.vocabulary.target)),
    }
    asked = {name: sides for name, sides in sizes.items() if name.partition(".")[2] in config.model.model_fields_set}
    for name in config.tokenizer.model_fields_set.intersection(OF_THE_VOCABULARY):
        asked[f"tokenizer.{name}"] = (getattr(config.tokenizer, name), getattr(teacher.config.tokenizer, name))
    for name, (wanted, found) in sorted(asked.items()):
        if wanted is not None and wanted != found:
            raise UserError(
                f"{name} = {wanted}, but the student has the vocabulary of {teacher.path}, where it is {found}; leave "
                "the setting out, or let the student learn a vocabulary of its own by --new-vocabulary"
            )


def validation_of(teacher: Run) -> Corpus:
    """The sentences that the teacher was validated with."""
    path = teacher.data / "valid.jsonl"
    if not path.exists() or not path.stat().st_size:
        raise UserError(f"{teacher.path} kept no validation sentences; give some by --valid-source and --valid-target")
    return JsonLinesFile(path, "source", "target")


def train_student(
    student: Student, teacher: Teacher, *, settings: Sequence[str] = (), observer: Observer = NOBODY
) -> Distillation:
    """Train on what the teacher wrote, or go on with it, its settings changed; then see both side by side."""
    changes = settings if student.is_set_up else ()  # a new one has the settings that were asked for
    if not student.is_set_up:
        _set_up(student, teacher, observer)
    outcome = train_run(student.out, Wanted(assignments=changes), resume=True, observer=observer)
    pairs = read_samples(outcome.run)
    if outcome.result is None or not pairs:
        return Distillation(outcome)
    observer.watch(Noted(f"teacher and student translate {len(pairs):,} validation sentences, in turns"))
    entrants = (
        Entrant(teacher.run, teacher.checkpoint, (*teacher.settings, "search.n_best=1"), teacher.ensemble),
        Entrant(outcome.run, outcome.run.chosen(), (*teacher_settings(settings), "search.n_best=1")),
    )
    return Distillation(outcome, side_by_side(*entrants, pairs))


def _set_up(student: Student, teacher: Teacher, observer: Observer) -> None:
    """Make the run directory ready from what the teacher wrote, and name the teacher on its card."""
    valid, held_out = student.valid, frozenset[Pair]()
    if valid is None:
        valid = validation_of(teacher.run)
        held_out = frozenset(valid)
        observer.watch(Noted(f"validation: {len(held_out):,} texts of {teacher.run.path}, which are not learned from"))
    corpus = Distilled(student.out, held_out, has_reverse=student.reverse is not None)
    beginning = _beginning(student, teacher)
    run = set_up(
        student.out, student.wanted, corpus, valid, beginning, student.command, observer.watch, observer.on_progress
    )
    origins = {"teacher": teaching.read_origin(student.out)}
    if student.reverse is not None:
        origins["reverse_teacher"] = teaching.read_origin(student.out / REVERSE)
    Run.create(student.out, run.config, run.vocabulary, {**run.card, **origins})


def _beginning(student: Student, teacher: Teacher) -> Beginning:
    """The teacher's vocabulary; a student that is the teacher with fewer layers begins with the weights of the rest."""
    if student.learns_vocabulary:
        return NEW
    is_part = is_part_of(student.wanted.config().model, teacher.run.config.model)
    return Beginning(teacher.run.vocabulary, Origin(teacher.run, teacher.checkpoint) if is_part else None)


def _check_same_teacher(student: Student, teacher: Teacher, name: str) -> None:
    known = student.run.card.get(name)
    if known is None:
        raise UserError(f"{student.out} was distilled without a reverse teacher; leave it out, or choose another --out")
    if known["fingerprint"] != teacher.facts()["fingerprint"]:
        raise UserError(
            f"{student.out} was distilled from other weights ({known['run']}, {known['checkpoint']}) than those of "
            f"{teacher.checkpoint.path}; go on without a teacher: headway train --out {student.out} --resume"
        )


def _check_reverse(reverse: Teacher, teacher: Teacher, lessons: Lessons) -> None:
    """A teacher of the other direction translates targets, and is not the same as the other one."""
    if not lessons.targets:
        raise UserError(f"{reverse.run.path} is to translate targets into sources; give the targets by --target")
    if reverse.facts()["fingerprint"] == teacher.facts()["fingerprint"]:
        raise UserError(
            f"{reverse.run.path} has the weights of the teacher, so it cannot be the reverse; name a run that was "
            "trained with --source and --target the other way round"
        )


def distill(
    run: str | Path,
    out: str | Path,
    *,
    source: Texts = (),
    target: Texts = (),
    valid_source: Texts = (),
    valid_target: Texts = (),
    valid_corpus: str | Path | None = None,
    preset: str | None = None,
    config: str | Path | None = None,
    settings: Sequence[str] = (),
    beam: int | None = None,
    n_best: int | None = None,
    workers: int = 1,
    checkpoint: str | None = None,
    ensemble: Sequence[str | Path] = (),
    reverse: str | Path | None = None,
    new_vocabulary: bool = False,
    resume: bool = False,
    listener: Listener = teaching.NOBODY,
    observer: Observer = NOBODY,
) -> Distillation | None:
    """Let a run translate texts, and train a student on them in the directory `out`; None if the listener stopped it.

    The same call goes on with the translations that are there, and with `resume` with the training. The runs in
    `ensemble` translate together with the teacher. Given targets, the student learns from them as well; given a run of
    the other direction, also from what it makes of the targets.
    """
    of_teachers = teacher_settings(settings, beam=beam, n_best=n_best)
    teacher = Teacher.open(run, checkpoint, of_teachers, ensemble)
    reverse_teacher = Teacher.open(reverse, settings=of_teachers) if reverse is not None else None
    file = Path(config) if config is not None else None
    wanted = student_settings(teacher.run, preset, file, settings)
    valid = None
    if valid_source or valid_target or valid_corpus:
        data = load_config(wanted.preset, wanted.file, wanted.assignments).data
        sides = paths(valid_source), paths(valid_target)
        valid = open_corpus(data, sources=sides[0], targets=sides[1], corpus=valid_corpus, split="valid")
    student = Student(Path(out), wanted, valid, new_vocabulary, reverse_teacher)
    lessons = Lessons(paths(source), paths(target)) if source else None
    check_student(student, teacher, lessons, resume=resume)
    if lessons is not None and not student.is_set_up:
        for who, what, where in student.courses(teacher, lessons):
            if not write_translations(who, what, where, workers=workers, listener=listener):
                return None
    return train_student(student, teacher, settings=settings, observer=observer)
