"""A corpus from its raw files to its scores: train, translate, evaluate, for pairs of languages and seeds.

    python experiments/run.py multi30k --data DIR --pair en-de --seed 1 2 3 --save results.md

A corpus is a folder here: `corpus.toml` says what its files are called. If it names a preset, each other TOML file has
the settings of a pair of languages; if not, they are those that `headway train` chooses by itself. Every step is a
command of Headway that is printed; what is done is not done again.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway import UserError, load_config
from headway.processes import usable_cores

HERE = Path(__file__).parent
FROM_VOCABULARY = ("vocabulary", "target_vocabulary", "share_embeddings")
"""Settings of a model that follow from the vocabulary that was learned."""


@dataclass(frozen=True)
class Corpus:
    """What `corpus.toml` says."""

    folder: Path
    title: str
    train: str
    """Names of files, without the language: train for train.en and train.de."""
    valid: str
    tests: list[str]
    preset: str | None = None
    """If there is none, `headway train` chooses all settings by itself."""
    reach: float | None = None
    """The validation BLEU whose time is reported, if any."""

    @classmethod
    def read(cls, name: str) -> "Corpus":
        """The corpus of that name."""
        known = sorted(path.parent.name for path in HERE.glob("*/corpus.toml"))
        if name not in known:
            raise UserError(f"unknown corpus {name}; known are {', '.join(known)}")
        return cls(HERE / name, **tomllib.loads((HERE / name / "corpus.toml").read_text(encoding="utf-8")))

    def settings(self, pair: str) -> Path:
        """The settings file of a pair."""
        known = sorted(path.stem for path in self.folder.glob("*.toml") if path.stem != "corpus")
        if pair not in known:
            raise UserError(f"{self.title} has no settings for {pair}; known are {', '.join(known)}")
        return self.folder / f"{pair}.toml"


@dataclass(frozen=True)
class Trial:
    """One training: a pair of languages and a seed."""

    corpus: Corpus
    data: Path
    pair: str
    seed: int
    out: Path
    changes: tuple[str, ...] = ()
    """Settings as in train.steps=20, changed after all others."""

    @property
    def run(self) -> Path:
        """Where the run is."""
        return self.out / self.pair / f"seed-{self.seed}"

    @property
    def assignments(self) -> list[str]:
        """The settings that are given by --set."""
        return [f"train.seed={self.seed}", *self.changes]

    @property
    def recipe(self) -> list[object]:
        """The flags for the settings of the corpus; none if they are left to Headway."""
        preset = self.corpus.preset
        return ["--preset", preset, "--config", self.corpus.settings(self.pair)] if preset else []

    def files(self, stem: str) -> list[Path]:
        """The source and the target file of that name, plain or compressed."""
        return [find(self.data, f"{stem}.{language}", self.corpus) for language in self.pair.split("-")]

    @property
    def lessons(self) -> list[object]:
        """The flags for what is learned from."""
        source, target = self.files(self.corpus.train)
        return ["--source", source, "--target", target]

    @property
    def command(self) -> list[object]:
        """The command that trains, and what it learns from."""
        return ["train", *self.lessons]

    def train(self) -> None:
        """Train, or go on with a training that was stopped."""
        if (self.run / "card.json").exists():
            self.check_settings()
        if (self.run / "result.json").exists():
            return
        command = self.command
        valid_source, valid_target = self.files(self.corpus.valid)
        headway(
            *command,
            *("--valid-source", valid_source, "--valid-target", valid_target),
            *self.recipe,
            *(word for assignment in self.assignments for word in ("--set", assignment)),
            *("--out", self.run),
            *(["--resume"] if (self.run / "card.json").exists() else []),
        )

    def check_settings(self) -> None:
        """A run of other settings is not taken for one of these."""
        config, preset = self.run / "config.toml", self.corpus.preset
        found = load_config(file=config).model_dump()
        file = self.corpus.settings(self.pair) if preset else config  # what was chosen for it is as it should be
        wanted = load_config(preset, file, self.assignments).model_dump()
        different = [
            f"{section}.{name}"
            for section in found.keys() - {"machine"}
            for name in found[section]
            if found[section][name] != wanted[section][name] and name not in FROM_VOCABULARY
        ]
        if different:
            raise UserError(
                f"{self.run} was trained with other settings of {', '.join(sorted(different))}; choose another --out, "
                "or remove it"
            )

    def evaluate(self, test: str) -> dict[str, Any]:
        """Translate a test set and score it; both are kept in the run."""
        source, target = self.files(test)
        written, scores = self.run / f"{test}.{self.pair.split('-')[1]}", self.run / f"{test}.json"
        if not written.exists():
            headway("translate", self.run, source, into=written)
        if not scores.exists():
            files = ("--source", source, "--target", target, "--hypotheses", written)
            headway("evaluate", *files, "--json", into=scores)
        found: dict[str, Any] = json.loads(scores.read_text(encoding="utf-8"))
        return found

    def seconds_to_reach(self) -> float | None:
        """Seconds of training, validations not counted, to the first validation with the BLEU that is waited for."""
        if self.corpus.reach is None:
            return None
        lines = (self.run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        reached = (record for record in map(json.loads, lines) if record.get("valid_bleu", 0) >= self.corpus.reach)
        return next((record["seconds"] for record in reached), None)


@dataclass(frozen=True)
class TaughtTrial(Trial):
    """A training on what two others write besides the corpus: one of the same direction, and one of the other."""

    @property
    def run(self) -> Path:
        """Where the run is: beside that of its teacher."""
        return self.out / self.pair / f"seed-{self.seed}-taught"

    @property
    def teachers(self) -> tuple[Trial, Trial]:
        """Those that are trained on the corpus alone, by the same settings."""
        turned = "-".join(reversed(self.pair.split("-")))
        forward, backward = (
            Trial(self.corpus, self.data, pair, self.seed, self.out, self.changes) for pair in (self.pair, turned)
        )
        return forward, backward

    @property
    def recipe(self) -> list[object]:
        """The settings of its teacher: a student need not be smaller."""
        return super().recipe or ["--config", self.teachers[0].run / "config.toml"]

    @property
    def command(self) -> list[object]:
        """The command that lets the teachers write, and then trains."""
        forward, backward = self.teachers
        return ["distill", forward.run, "--reverse", backward.run, *self.lessons, "--workers", usable_cores()]

    def train(self) -> None:
        """Train the teachers, then what they teach; or go on."""
        for teacher in self.teachers:
            teacher.train()
        super().train()


@dataclass(frozen=True)
class Row:
    """The numbers of a trial on a test set."""

    pair: str
    test: str
    seed: int
    bleu: float
    lowercased: float | None
    valid_bleu: float | None
    to_reach: float | None
    seconds: float
    steps: int
    signature: str

    @classmethod
    def of(cls, trial: Trial, test: str) -> "Row":
        """Do what is not done yet, and read the numbers."""
        scores = trial.evaluate(test)
        result = json.loads((trial.run / "result.json").read_text(encoding="utf-8"))
        lowercased = scores.get("lowercased_bleu")
        return cls(
            trial.pair,
            test,
            trial.seed,
            scores["bleu"]["value"],
            lowercased["score"]["value"] if lowercased else None,
            result["scores"].get("bleu"),
            trial.seconds_to_reach(),
            result["train_seconds"],
            result["step"],
            scores["bleu"]["signature"],
        )


def find(folder: Path, name: str, corpus: Corpus) -> Path:
    """A file of the corpus, plain or compressed."""
    for suffix in ("", ".gz", ".zst"):
        if (path := folder / f"{name}{suffix}").exists():
            return path
    raise UserError(f"{folder} has no {name}, plain, .gz or .zst; where to get it: {corpus.folder / 'README.md'}")


def headway(*arguments: object, into: Path | None = None) -> None:
    """Run a command of Headway, shown on stderr; its output, if it is to be kept, is in the file as a whole or not."""
    words = list(map(str, arguments))
    print(f"$ headway {shlex.join(words)}{f' > {shlex.quote(str(into))}' if into else ''}", file=sys.stderr)
    command = [sys.executable, "-m", "headway", *words]
    if into is None:
        done = subprocess.run(command, check=False)
    else:
        partial = into.with_name(f"{into.name}.partial")
        with partial.open("wb") as file:
            done = subprocess.run(command, stdout=file, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    if into is not None:
        os.replace(partial, into)


def table(rows: Sequence[Row], reach: float | None) -> list[str]:
    """All rows in Markdown, and for several seeds their mean and standard deviation."""
    titles = (
        *("pair", "test set", "seed", "sacreBLEU (cased, detokenised)", "BLEU (lower-cased, tokenised)"),
        "validation BLEU",
        *([] if reach is None else [f"minutes to validation BLEU {reach:g}"]),
        *("minutes in all", "updates"),
    )
    lines = [f"| {' | '.join(titles)} |", f"| --- | --- |{' ---: |' * (len(titles) - 2)}"]
    for pair, test in dict.fromkeys((row.pair, row.test) for row in rows):
        group = [row for row in rows if (row.pair, row.test) == (pair, test)]
        lines += [line(row.pair, row.test, str(row.seed), [row], reach) for row in group]
        if len(group) > 1:
            lines.append(line(pair, test, f"mean of {len(group)}", group, reach))
    return lines


def line(pair: str, test: str, seed: str, rows: Sequence[Row], reach: float | None) -> str:
    """A line of the table: the numbers of a row, or the means of several."""
    to_reach = [minutes(row.to_reach) for row in rows]
    cells = (
        mean([row.bleu for row in rows]),
        mean([row.lowercased for row in rows]),
        mean([row.valid_bleu for row in rows]),
        *([] if reach is None else [mean(to_reach) if any(each is not None for each in to_reach) else "not reached"]),
        mean([minutes(row.seconds) for row in rows]),
        f"{statistics.mean(row.steps for row in rows):,.0f}",
    )
    return f"| {' | '.join((pair, test, seed, *cells))} |"


def mean(numbers: Sequence[float | None]) -> str:
    """The mean, and the standard deviation of several; how many there are, if some are missing."""
    known = [number for number in numbers if number is not None]
    if not known:
        return "-"
    spread = f" ± {statistics.stdev(known):.2f}" if len(known) > 1 else ""
    missing = f" ({len(known)} of {len(numbers)})" if len(known) < len(numbers) else ""
    return f"{statistics.mean(known):.2f}{spread}{missing}"


def minutes(seconds: float | None) -> float | None:
    """Seconds as minutes."""
    return None if seconds is None else seconds / 60


def report(corpus: Corpus, trials: Sequence[Trial], rows: Sequence[Row]) -> str:
    """The table, and what is needed to get it again."""
    card = json.loads((trials[-1].run / "card.json").read_text(encoding="utf-8"))
    machine = card["machine"]
    facts = {
        "command": f"`{shlex.join(['python', *sys.argv])}`",
        "begun": card["begun"],
        "commit": card["commit"] or "unknown",
        "machine": f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} threads, "
        f"{', '.join(machine['gpus']) or 'no GPU'}",
        "versions": ", ".join(f"{name} {version}" for name, version in card["versions"].items()),
        "sacreBLEU signature": ", ".join(f"`{signature}`" for signature in dict.fromkeys(r.signature for r in rows)),
    }
    notes = [
        "Minutes are of training, validations not counted. ± is the standard deviation over seeds.",
        "Validation BLEU is of greedy search on a part of the validation set (train.valid_sentences).",
    ]
    return "\n".join(
        [
            f"# {corpus.title}",
            "",
            *table(rows, corpus.reach),
            "",
            *notes,
            "",
            *(f"- {k}: {v}" for k, v in facts.items()),
            "",
        ]
    )


def main() -> None:
    """Read the flags, run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="a folder beside this file, as in multi30k")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="where the raw files are")
    parser.add_argument("--pair", nargs="+", default=["en-de"], help="from which language to which")
    parser.add_argument("--seed", nargs="+", type=int, default=[1])
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the runs are; by default runs/CORPUS")
    parser.add_argument(
        "--taught", action="store_true", help="let runs of both directions teach the one that is scored"
    )
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting of Headway")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the results there, in Markdown")
    chosen = parser.parse_args()
    out = chosen.out or Path("runs") / chosen.corpus
    try:
        corpus = Corpus.read(chosen.corpus)
        kind = TaughtTrial if chosen.taught else Trial
        trials = [
            kind(corpus, chosen.data, pair, seed, out, tuple(chosen.set))
            for pair in chosen.pair
            for seed in chosen.seed
        ]
        for trial in trials:
            trial.train()
        text = report(corpus, trials, [Row.of(trial, test) for trial in trials for test in corpus.tests])
    except UserError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    print(text, end="")
    if chosen.save:
        chosen.save.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
