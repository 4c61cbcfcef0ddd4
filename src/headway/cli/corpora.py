"""The flags that name corpora, the same on every command that reads some, and the corpora that they name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headway.errors import UserError

if TYPE_CHECKING:
    from headway.config import DataConfig
    from headway.text.corpus import Corpus

Files = list[Path] | None
Names = list[str] | None
HeldOutRole = Literal["valid", "test"]

TrainSource = Annotated[
    Files, typer.Option("--source", help="Texts to train on, one a line. May be repeated.", metavar="FILE")
]
TrainTarget = Annotated[Files, typer.Option("--target", help="Their translations, line by line.", metavar="FILE")]
TrainCorpus = Annotated[
    Names,
    typer.Option(
        "--corpus",
        help="Instead, both at once: a name (builtin:en-fr), or a .tsv, .jsonl or .tmx file. A named corpus brings its "
        "own validation and test sets.",
        metavar="FILE|NAME",
    ),
]
ValidSource = Annotated[Files, typer.Option("--valid-source", help="Texts to validate with.", metavar="FILE")]
ValidTarget = Annotated[Files, typer.Option("--valid-target", help="Their translations.", metavar="FILE")]
ValidCorpus = Annotated[Names, typer.Option("--valid-corpus", help="Instead, both at once.", metavar="FILE|NAME")]
TestSource = Annotated[Files, typer.Option("--test-source", help="Texts to test with.", metavar="FILE")]
TestTarget = Annotated[Files, typer.Option("--test-target", help="Their translations.", metavar="FILE")]
TestCorpus = Annotated[Names, typer.Option("--test-corpus", help="Instead, both at once.", metavar="FILE|NAME")]


def open_training(source: Files, target: Files, corpus: Names, data: "DataConfig") -> "Corpus":
    """The corpus to train on."""
    opened = _open("train", source, target, corpus, data)
    if opened is None:
        raise UserError(
            "no corpus was given; give --source and --target, or --corpus with a file of both sides or a name, "
            "as in --corpus builtin:en-fr"
        )
    return opened


def open_held_out(
    role: HeldOutRole, source: Files, target: Files, corpus: Names, data: "DataConfig", training: "Corpus"
) -> "Corpus | None":
    """The set to validate or test with: the one that was given, else the one that a named training corpus has."""
    from headway.text.named import NamedSplit

    opened = _open(role, source, target, corpus, data)
    if opened is None and isinstance(training, NamedSplit):
        return NamedSplit(training.name, role, training.seed)
    return opened


def _open(role: str, source: Files, target: Files, corpus: Names, data: "DataConfig") -> "Corpus | None":
    """The corpus that the flags of a role name, if one of them was given."""
    from headway.text.opening import open_corpus

    flag = "--" if role == "train" else f"--{role}-"
    sides = {f"{flag}source": source, f"{flag}target": target}
    given = [name for name, files in sides.items() if files]
    if corpus and given:
        raise UserError(f"both {flag}corpus and {given[0]} were given; give one file for both sides, or one for each")
    if corpus and len(corpus) > 1:
        raise UserError(f"{flag}corpus was given {len(corpus)} times ({', '.join(corpus)}); give it once")
    if len(given) == 1:
        (missing,) = sides.keys() - given
        raise UserError(f"{given[0]} was given without {missing}; give both, or {flag}corpus for both at once")
    if not (corpus or given):
        return None
    return open_corpus(
        data, sources=source or (), targets=target or (), corpus=corpus[0] if corpus else None, split=role
    )
