"""A teacher's translations of texts, in a file that grows line by line, so that what was interrupted goes on.

Beside the translations stands what they come from: teacher, search settings and texts. Only the same may go on.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice, tee
from pathlib import Path
from typing import Any

from headway.errors import UserError
from headway.search.translations import Translation
from headway.store.checkpoints import WEIGHTS, Checkpoint
from headway.store.run import Run
from headway.tasks.loading import changed_config
from headway.tasks.translating import Order
from headway.text.corpus import AlignedFiles, Pair
from headway.text.files import empty_file, hash_file, read_lines

TRANSLATIONS, ORIGIN = "distilled.jsonl", "distilled.json"
REVERSE = "reverse"
"""Folder beside them for what a teacher of the other direction wrote."""
ONLY_SPEED = {"batch_tokens", "window"}
"""Settings of search that do not change what is written."""
AHEAD = "search.window=1024"
"""Lines are searched together before the first of them is written; fewer, so that less is lost by a kill."""
DIFFERENCES = {
    "fingerprint": "by another teacher",
    "search": "with other search settings",
    "texts": "of other texts",
}


@dataclass(frozen=True)
class Teacher:
    """A run that translates, by one of its checkpoints, with settings as in search.beam=8; or several runs together."""

    run: Run
    checkpoint: Checkpoint
    settings: tuple[str, ...] = ()
    ensemble: tuple[Run, ...] = ()
    """More runs, whose probabilities are averaged with its own."""

    @classmethod
    def open(
        cls,
        path: str | Path,
        checkpoint: str | None = None,
        settings: Sequence[str] = (),
        ensemble: Sequence[str | Path] = (),
    ) -> "Teacher":
        """The teacher in a directory: the checkpoint that it has chosen, or the one of that name."""
        run = _open_teaching(path)
        chosen = run.checkpoints.find(checkpoint) if checkpoint else run.chosen()
        return cls(run, chosen, tuple(settings), tuple(map(_open_teaching, ensemble)))

    @property
    def runs(self) -> tuple[Run, ...]:
        """Its own and the others."""
        return self.run, *self.ensemble

    def facts(self) -> dict[str, Any]:
        """What its translations depend on."""
        checkpoints = self.checkpoint, *(run.chosen() for run in self.ensemble)
        return {
            "run": " + ".join(str(run.path) for run in self.runs),
            "checkpoint": " + ".join(each.path.name for each in checkpoints),
            "fingerprint": " + ".join(each.state()["sha256"][WEIGHTS] for each in checkpoints),
            "search": changed_config(self.run, self.settings).search.model_dump(exclude=ONLY_SPEED),
        }

    def order(self) -> Order:
        """What is asked of it, of our own engine: CTranslate2 would slow down the training in the same process."""
        path, *others = (str(run.path) for run in self.runs)
        return Order(path, self.checkpoint.path.name, (AHEAD, *self.settings), tuple(others), engine="torch")


def _open_teaching(path: str | Path) -> Run:
    """A run that can teach translation."""
    run = Run.open(path)
    if run.config.objective != "translation":
        raise UserError(f"{path} was trained for {run.config.objective}, not for translation; it cannot teach it")
    return run


@dataclass(frozen=True)
class Lessons:
    """Texts to translate, one a line, and perhaps what people made of them, to be learned from as well."""

    sources: tuple[Path, ...]
    targets: tuple[Path, ...] = ()

    def for_reverse(self) -> "Lessons":
        """What a teacher of the other direction translates; the true pairs are learned from once, not twice."""
        return Lessons(self.targets)

    def fingerprint(self) -> dict[str, str]:
        """The hash of each file, by its name."""
        if self.targets:
            return AlignedFiles(self.sources, self.targets).fingerprint()
        return {str(path): hash_file(path) for path in self.sources}

    def __iter__(self) -> Iterator[Pair]:
        if self.targets:
            yield from AlignedFiles(self.sources, self.targets)
            return
        for path in self.sources:
            is_empty = True
            for line in read_lines(path):
                is_empty = False
                yield Pair(line, "")
            if is_empty:
                raise empty_file(path)


@dataclass(frozen=True)
class Listener:
    """Those who watch a teacher at work, and who may tell it to stop."""

    on_line: Callable[[int, int], None] = lambda *_: None
    """Told how many lines are translated, of how many."""
    on_warning: Callable[[int, str], None] = lambda *_: None
    """Told the number of a line, and what is the matter with it."""
    should_stop: Callable[[], bool] = lambda: False


NOBODY = Listener()


@dataclass(frozen=True)
class Distilled:
    """What teachers wrote into a folder, as a corpus, but for pairs that are held out to validate with.

    A teacher of the other direction has translated targets: what it wrote are sources.
    """

    folder: Path
    held_out: frozenset[Pair] = frozenset()
    has_reverse: bool = False
    skipped = 0

    @property
    def paths(self) -> tuple[Path, ...]:
        folders = (self.folder, self.folder / REVERSE) if self.has_reverse else (self.folder,)
        return tuple(folder / TRANSLATIONS for folder in folders)

    def __str__(self) -> str:
        return ", ".join(map(str, self.paths))

    def fingerprint(self) -> dict[str, str]:
        """The hash of each file, and of what is held out."""
        hidden = sha256("\n".join(sorted(pair.source for pair in self.held_out)).encode()).hexdigest()
        hashes = {str(path): hash_file(path) for path in self.paths}
        return {**hashes, **({"without": hidden} if self.held_out else {})}

    def __iter__(self) -> Iterator[Pair]:
        forward, *backward = self.paths
        for text, translation in _read_translations(forward, {pair.source for pair in self.held_out}):
            yield Pair(text, translation)
        for path in backward:
            for text, translation in _read_translations(path, {pair.target for pair in self.held_out}):
                yield Pair(translation, text)


def _read_translations(path: Path, held_out: set[str]) -> Iterator[tuple[str, str]]:
    """Each text that is not held out, with each of its translations."""
    for line in read_lines(path):
        record = json.loads(line)
        if record["source"] not in held_out:
            yield from ((record["source"], translation) for translation in (record["target"], *record["more"]))


def write_translations(
    teacher: Teacher, lessons: Lessons, out: Path, *, workers: int = 1, listener: Listener = NOBODY
) -> bool:
    """Translate all texts into a file in `out`, going on after those that it has; also says whether all are done."""
    origin = {**teacher.facts(), "texts": lessons.fingerprint()}
    total = sum(1 for _ in lessons)  # whatever is wrong with a file is found before hours of work
    done = _begin(out, origin)
    listener.on_line(done, total)
    if done >= total:
        return True
    asked, kept = tee(islice(lessons, done, None))
    before = done

    def warn(number: int, text: str) -> None:
        listener.on_warning(before + number, text)

    results = teacher.order().translate((pair.source for pair in asked), warn, workers)
    with (out / TRANSLATIONS).open("ab") as file:
        for pair, translation in zip(kept, results, strict=True):
            file.write(_record(pair, translation))
            file.flush()
            done += 1
            listener.on_line(done, total)
            if listener.should_stop():
                break
    return done == total


def _record(pair: Pair, translation: Translation) -> bytes:
    """A line of the file: a text, its best translation, and others to learn from; none of them twice."""
    found = [output.text for output in translation.n_best] or [translation.text]
    best, *more = dict.fromkeys([*found, *([pair.target] if pair.target.strip() else [])])
    record = {"source": pair.source, "target": best, "more": more}
    return f"{json.dumps(record, ensure_ascii=False)}\n".encode()


def _begin(out: Path, origin: dict[str, Any]) -> int:
    """Make the files ready to be added to, and say how many lines are there; those of another origin are refused."""
    file = out / TRANSLATIONS
    try:
        out.mkdir(parents=True, exist_ok=True)
        file.touch()
        done = _keep_whole_lines(file)
        known = read_origin(out) if done else origin
        different = [text for name, text in DIFFERENCES.items() if known.get(name) != origin[name]]
        if different:
            raise UserError(
                f"{file} has {done:,} translations {' and '.join(different)}; ask for the same again to go on with "
                "them, choose another --out, or remove the file"
            )
        if not done:
            (out / ORIGIN).write_text(json.dumps(origin, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write to {out}: {error.strerror}") from None
    return done


def _keep_whole_lines(path: Path) -> int:
    """Count the lines of a file, and remove the part of one that was being written when it was cut short."""
    lines = end = 0
    with path.open("r+b") as file:
        for line in file:
            if line.endswith(b"\n"):
                lines, end = lines + 1, end + len(line)
        file.truncate(end)
    return lines


def read_origin(out: Path) -> dict[str, Any]:
    """What the translations in a directory come from; nothing if that cannot be read."""
    try:
        origin: dict[str, Any] = json.loads((out / ORIGIN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return origin
