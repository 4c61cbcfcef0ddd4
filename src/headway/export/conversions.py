"""Converted models on disk: made once, checked before they are used, made again when the checkpoint changes.

A conversion is a directory as CTranslate2 reads it, with `conversion.json` beside the weights: which checkpoint it was
made from, and how far it writes what the run's own model writes. It is there as a whole or not at all. Of a conversion
that was refused only that file is kept, so that it is not tried again.

Converting needs torch, using does not; a run's own conversion is therefore made by a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headway.errors import UserError
from headway.export.abilities import EXACT, UnableError, check_installed, check_model, quantization_name
from headway.export.agreement import Agreement
from headway.store.checkpoints import WEIGHTS, Checkpoint
from headway.store.run import Run

FACTS, MODEL = "conversion.json", "model.bin"
FORMAT = 1


@dataclass(frozen=True)
class Conversion:
    """A converted model and what is known of it."""

    directory: Path
    agreement: Agreement
    is_new: bool
    """Whether it has just been made."""


def converted(
    run: Run,
    quantization: str | None = None,
    checkpoint: Checkpoint | None = None,
    on_make: Callable[[], None] = lambda: None,
) -> Conversion:
    """The run's own conversion of a checkpoint, by default the chosen one; made now if it is not there.

    `on_make` is told before it is made, which takes a while.
    """
    kind = quantization_name(quantization)
    check_installed()
    check_model(run.config.model, str(run.path))
    chosen = checkpoint or run.chosen()
    directory = conversion_place(run, kind)
    agreement = known_agreement(directory, chosen, kind)
    is_new = agreement is None
    if agreement is None:
        on_make()
        agreement = _make_in_process(run, kind, chosen)
    if refusal := refusal_of(run, agreement, kind):
        raise UnableError(refusal)
    return Conversion(directory, agreement, is_new)


def conversion_place(run: Run, kind: str) -> Path:
    """Where a run keeps its conversion to a type of weights."""
    return run.path / "ctranslate2" / kind


def make_conversion(
    run: Run, directory: Path, quantization: str | None = None, checkpoint: Checkpoint | None = None
) -> Conversion:
    """Convert, compare with the run's own model, and put the directory in its place; an older one there is replaced.

    In fp32 the two must write the same; a conversion that does not is refused.
    """
    kind = quantization_name(quantization)
    chosen = checkpoint or run.chosen()
    with _unfinished(directory) as partial:
        agreement = _convert_and_compare(run, partial, kind, chosen)
        if refusal := refusal_of(run, agreement, kind):
            raise UnableError(refusal)
        _write_facts(partial, chosen, kind, agreement)
        _put_in_place(partial, directory)
    return Conversion(directory, agreement, is_new=True)


def keep_conversion(run: Run, kind: str, checkpoint: Checkpoint) -> Agreement:
    """Make the run's own conversion, or remember that it was refused."""
    directory = conversion_place(run, kind)
    with _unfinished(directory) as partial:
        agreement = _convert_and_compare(run, partial, kind, checkpoint)
        if refusal_of(run, agreement, kind):
            (partial / MODEL).unlink()
        _write_facts(partial, checkpoint, kind, agreement)
        if known_agreement(directory, checkpoint, kind) is None:  # else another process was faster, and may use it
            _put_in_place(partial, directory)
    return agreement


def known_agreement(directory: Path, checkpoint: Checkpoint, kind: str) -> Agreement | None:
    """What is known of the conversion in a directory; None if it is not whole, or of something else."""
    try:
        facts = json.loads((directory / FACTS).read_text(encoding="utf-8"))
        is_whole = facts["bytes"] == _size(directory / MODEL)
        is_same = all(facts[name] == value for name, value in origin_of(checkpoint, kind).items())
        return Agreement(**facts["agreement"]) if is_whole and is_same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def origin_of(checkpoint: Checkpoint, kind: str) -> dict[str, Any]:
    """What a conversion is made from; where any of it changes, it is made again."""
    return {
        "format": FORMAT,
        "checkpoint": checkpoint.path.name,
        "sha256": checkpoint.state()["sha256"][WEIGHTS],
        "quantization": kind,
        "ctranslate2": version("ctranslate2"),
    }


def refusal_of(run: Run, agreement: Agreement, kind: str) -> str | None:
    """Why a conversion is not used, if it is not: in fp32 it must write what the run's own model writes."""
    if kind != EXACT or agreement.first_difference is None:
        return None
    differing = round((1 - agreement.greedy_equal) * agreement.sentences)
    return (
        f"the conversion of {run.path} does not write what the run does, and is not used: {differing} of "
        f"{agreement.sentences} sentences differ, the first is {agreement.first_difference}"
    )


def _make_in_process(run: Run, kind: str, checkpoint: Checkpoint) -> Agreement:
    """Let another process make the run's own conversion."""
    asked = {"run": str(run.path), "quantization": kind, "checkpoint": checkpoint.path.name}
    command = [sys.executable, "-m", "headway.export.conversion_worker"]
    done = subprocess.run(command, input=json.dumps(asked).encode(), stdout=subprocess.PIPE)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise UnableError(
            f"the process that converts {run.path} has ended with code {done.returncode}; if it was killed, there may "
            "be too little memory"
        ) from None
    if "error" in answer:
        raise UserError(answer["error"])
    return Agreement(**answer["agreement"])


def _convert_and_compare(run: Run, directory: Path, kind: str, checkpoint: Checkpoint) -> Agreement:
    """Write the converted model, and let both models translate."""
    from headway.export.comparing import compare
    from headway.export.ctranslate2 import convert
    from headway.models import EncoderDecoder

    convert(run, directory, quantization=kind, checkpoint=checkpoint)
    model = run.load_model(checkpoint)
    assert isinstance(model, EncoderDecoder), "other families are refused"
    return compare(run, model, directory)


@contextmanager
def _unfinished(directory: Path) -> Iterator[Path]:
    """A place beside a directory, for what is to be put there; what is left of it in the end is removed."""
    partial = directory.with_name(f"{directory.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        yield partial
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_facts(directory: Path, checkpoint: Checkpoint, kind: str, agreement: Agreement) -> None:
    facts = {
        **origin_of(checkpoint, kind),
        "bytes": _size(directory / MODEL),
        "agreement": agreement.as_json(),
    }
    (directory / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8")


def _size(path: Path) -> int:
    """Bytes of a file; 0 if it is not there."""
    return path.stat().st_size if path.exists() else 0


def _put_in_place(partial: Path, directory: Path) -> None:
    """Rename a whole directory; an older one of that name is gone before its files are."""
    old = directory.with_name(f"{partial.name}.old")
    if directory.exists():
        directory.rename(old)
    partial.rename(directory)
    shutil.rmtree(old, ignore_errors=True)
