"""`headway distill`: a run teaches a smaller and faster one."""

import json
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.corpora import Files, ValidCorpus, ValidSource, ValidTarget, open_held_out
from headway.cli.line_progress import SHOW_SECONDS
from headway.cli.settings import Assignments, ConfigFile, Preset
from headway.cli.trained import CheckpointName, EnsembleRuns
from headway.cli.watching import Bar, open_bar, stop_on_signal, watched
from headway.errors import UserError

if TYPE_CHECKING:
    from headway.tasks.distilling import Distillation, Student
    from headway.tasks.teaching import Lessons, Teacher


TaughtSource = Annotated[
    Files, typer.Option("--source", help="Texts that the teacher translates. May be repeated.", metavar="FILE")
]
TrueTarget = Annotated[
    Files, typer.Option("--target", help="Their true translations, to learn from as well.", metavar="FILE")
]
TeacherBeam = Annotated[
    int | None, typer.Option("--beam", min=1, help="The teacher's; by default that of its settings.")
]
NBest = Annotated[
    int | None, typer.Option("--n-best", min=1, help="Learn from this many translations of a text, 1 by default.")
]
Reverse = Annotated[
    Path | None,
    typer.Option(help="A run of the other direction, which makes sources for the --target texts.", metavar="RUN"),
]
NewVocabulary = Annotated[
    bool, typer.Option("--new-vocabulary", help="Learn a vocabulary, instead of having the teacher's.")
]


def distill(
    run: Annotated[Path, typer.Argument(help="Directory of the teacher.", metavar="RUN", show_default=False)],
    out: Annotated[Path, typer.Option(help="Directory of the student's run.", metavar="RUN")],
    source: TaughtSource = None,
    target: TrueTarget = None,
    valid_source: ValidSource = None,
    valid_target: ValidTarget = None,
    valid_corpus: ValidCorpus = None,
    beam: TeacherBeam = None,
    n_best: NBest = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that translate, of one thread each.")] = 1,
    checkpoint: CheckpointName = None,
    ensemble: EnsembleRuns = None,
    preset: Preset = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    reverse: Reverse = None,
    new_vocabulary: NewVocabulary = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, exactly.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout at the end.")] = False,
) -> None:
    """Train a smaller and faster model on what a trained one writes; texts need no translations by people.

    The teacher translates the texts into distilled.jsonl in the student's directory; interrupted, the same command goes
    on after the last of them. Without --preset and --config, the student is of the teacher's settings, but with one
    decoder layer and greedy search. A student that differs only in having fewer layers begins with the teacher's
    weights. Settings of search and machine are for both.
    Without validation files, the sentences that the teacher was validated with serve, and are not learned from.
    With --target and --reverse, a small corpus becomes three times as large: as it is, with new targets, with new
    sources. With --ensemble, several runs write together. Then a student as large as its teacher (--preset) can become
    better than it.

    \b
    Examples:
      headway distill runs/en-fr --source train.en --out runs/en-fr-small
      headway distill runs/en-fr --source train.en --target train.fr --n-best 4 --out runs/en-fr-small
      headway distill runs/en-fr --source train.en --source news.en --workers 8 --out runs/en-fr-small
      headway distill runs/en-fr --source train.en --target train.fr --reverse runs/fr-en --preset tiny --out runs/new
      headway distill runs/en-fr --ensemble runs/en-fr-2 --source train.en --out runs/en-fr-small
      headway distill runs/en-fr --source train.en --out runs/en-fr-tiny --set model.layers=2 --set train.steps=4000
      headway distill runs/en-fr --out runs/en-fr-small --resume
    """  # noqa: D301
    if target and not source:
        raise UserError("--target was given without --source; give the texts that they translate, too")
    from headway.allocator import restart_with_allocator
    from headway.store.card import command_line
    from headway.tasks.distilling import Student, check_student, student_settings, teacher_settings
    from headway.tasks.teaching import Distilled, Lessons, Teacher

    changes = assignments or []
    of_teachers = teacher_settings(changes, beam=beam, n_best=n_best)
    teacher = Teacher.open(run, checkpoint, of_teachers, ensemble or ())
    reverse_teacher = Teacher.open(reverse, settings=of_teachers) if reverse is not None else None
    wanted = student_settings(teacher.run, preset, config, changes)
    settings = wanted.config()
    restart_with_allocator(settings.machine.allocator)
    lessons = Lessons(tuple(source), tuple(target or ())) if source else None
    corpus = Distilled(out)
    valid = open_held_out("valid", valid_source, valid_target, valid_corpus, settings.data, corpus)
    student = Student(out, wanted, valid, new_vocabulary, reverse_teacher, command_line())
    check_student(student, teacher, lessons, resume=resume)
    if lessons is not None and not student.is_set_up:
        for who, what, where in student.courses(teacher, lessons):
            translate_all(who, what, where, workers, "the teacher" if who is teacher else "the reverse run")
    found = train_watched(student, teacher, changes)
    typer.echo(as_text(found, run), err=True)
    if as_json:
        typer.echo(json.dumps(found.as_json()))


def translate_all(teacher: "Teacher", lessons: "Lessons", out: Path, workers: int, called: str) -> None:
    """Let a teacher translate, with a bar; told to stop, end the command."""
    from headway.tasks.teaching import Listener, write_translations

    bar = open_bar()
    view = TranslationView(bar, called)
    try:
        with stop_on_signal(bar.say) as signals:
            listener = Listener(view.show, view.warn, lambda: bool(signals))
            are_all = write_translations(teacher, lessons, out, workers=workers, listener=listener)
    finally:
        bar.close()
    if not are_all:
        typer.echo(f"stopped after {view.done:,} lines; the same command goes on with the others", err=True)
        raise typer.Exit(128 + signals[0] if signals else 1)


def train_watched(student: "Student", teacher: "Teacher", changes: list[str]) -> "Distillation":
    """Train the student, with a bar; told to stop, end the command."""
    from headway.tasks.distilling import train_student

    found, signals = watched(lambda observer: train_student(student, teacher, settings=changes, observer=observer))
    if found.outcome.result is None:
        others = "".join(f" --ensemble {_quoted(run.path)}" for run in teacher.ensemble)
        command = f"headway distill {_quoted(teacher.run.path)}{others} --out {_quoted(student.out)} --resume"
        typer.echo(f"stopped after step {found.outcome.progress.step:,}; go on with: {command}", err=True)
        raise typer.Exit(128 + signals[0] if signals else 1)
    return found


class TranslationView:
    """How far a teacher is with its texts."""

    def __init__(self, bar: Bar, teacher: str) -> None:
        self._bar, self._teacher = bar, teacher
        self._begun: tuple[float, int] | None = None
        self._shown = 0.0
        self.done = 0

    def show(self, done: int, total: int) -> None:
        """So many lines are translated, of so many."""
        now = time.monotonic()
        begun, before = self._begun = self._begun or (now, done)
        self.done = done
        if now - self._shown >= SHOW_SECONDS or done == total:
            self._shown = now
            rate = f", {(done - before) / max(now - begun, 1e-9):,.0f} a second" if done > before else ""
            self._bar.show(done, total, f"lines translated by {self._teacher}{rate}")

    def warn(self, number: int, text: str) -> None:
        """Something is the matter with a line."""
        self._bar.say(f"warning: line {number:,} of the texts for {self._teacher}: {text}")


def as_text(found: "Distillation", teacher_run: Path) -> str:
    """Teacher and student beside each other, where the student is, and what to do next."""
    result = found.outcome.result or {}
    minutes, seconds = divmod(round(result["train_seconds"]), 60)
    run = _quoted(found.outcome.run.path)
    lines = [f"trained {result['step']:,} steps in {minutes}:{seconds:02d} ({result['checkpoint']})"]
    if found.sides is not None:
        teacher, student = found.sides
        ratio = student.sentences_per_second / teacher.sentences_per_second
        lines += [
            f"{'':<18}{'teacher':>12}{'student':>12}",
            f"{'parameters':<18}{teacher.parameters:>12,}{student.parameters:>12,}",
            f"{'beam':<18}{teacher.beam:>12,}{student.beam:>12,}",
            f"{'validation BLEU':<18}{teacher.bleu:>12.2f}{student.bleu:>12.2f}",
            f"{'sentences/s':<18}{teacher.sentences_per_second:>12,.1f}{student.sentences_per_second:>12,.1f}"
            f"   {ratio:.1f} times as fast",
        ]
    return "\n".join(
        [
            *lines,
            f"the student is in {found.outcome.run.path}; try it, and make it faster still:",
            f"  headway evaluate {run} --source FILE --target FILE --compare {_quoted(teacher_run)}",
            f"  headway export {run} --to ctranslate2 --out DIR",
        ]
    )


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
