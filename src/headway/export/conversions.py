"""Converted models on disk: made once, checked before they are used, made again when the checkpoint changes.

A conversion is a directory as CTranslate2 reads it, with `conversion.json` beside the weights: which checkpoint it was
made from, and how far it writes what the run's own model writes. It is there as a whole or not at all.
"""

import json
import os
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headway.errors import UserError
from headway.export.agreement import Agreement, compare
from headway.export.ctranslate2 import check_model, check_quantization, convert
from headway.models import EncoderDecoder
from headway.store.checkpoints import WEIGHTS, Checkpoint
from headway.store.run import Run

FACTS = "conversion.json"
FORMAT = 1
EXACT = "float32"


@dataclass(frozen=True)
class Conversion:
    """A converted model and what is known of it."""

    directory: Path
    agreement: Agreement
    is_new: bool
    """Whether it has just been made."""


def converted(run: Run, quantization: str | None = None, checkpoint: Checkpoint | None = None) -> Conversion:
    """The run's own conversion of a checkpoint, by default the chosen one; made now if it is not there."""
    check_quantization(quantization)
    directory = run.path / "ctranslate2" / (quantization or EXACT)
    origin = origin_of(checkpoint or run.chosen(), quantization)
    facts = _read(directory / FACTS)
    if facts is None or any(facts.get(name) != value for name, value in origin.items()):
        return make_conversion(run, directory, quantization, checkpoint)
    return Conversion(directory, Agreement(**facts["agreement"]), is_new=False)


def make_conversion(
    run: Run, directory: Path, quantization: str | None = None, checkpoint: Checkpoint | None = None
) -> Conversion:
    """Convert, compare with the run's own model, and put the directory in its place; an older one there is replaced.

    In fp32 the two must write the same; a conversion that does not is refused.
    """
    check_quantization(quantization)
    check_model(run.config.model, str(run.path))
    chosen = checkpoint or run.chosen()
    partial = directory.with_name(f"{directory.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        convert(run, partial, quantization=quantization, checkpoint=chosen)
        agreement = checked(run, chosen, partial, quantization)
        facts = {**origin_of(chosen, quantization), "agreement": agreement.as_json()}
        (partial / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False), encoding="utf-8")
        _put_in_place(partial, directory)
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Conversion(directory, agreement, is_new=True)


def origin_of(checkpoint: Checkpoint, quantization: str | None) -> dict[str, Any]:
    """What a conversion is made from; where any of it changes, it is made again."""
    return {
        "format": FORMAT,
        "checkpoint": checkpoint.path.name,
        "sha256": checkpoint.state()["sha256"][WEIGHTS],
        "quantization": quantization or EXACT,
        "ctranslate2": version("ctranslate2"),
    }


def checked(run: Run, checkpoint: Checkpoint, directory: Path, quantization: str | None) -> Agreement:
    """The agreement of a conversion, which in fp32 must be complete."""
    model = run.load_model(checkpoint)
    assert isinstance(model, EncoderDecoder), "other families are refused"
    agreement = compare(run, model, directory)
    if (quantization or EXACT) == EXACT and agreement.first_difference is not None:
        differing = round((1 - agreement.greedy_equal) * agreement.sentences)
        raise UserError(
            f"the conversion of {run.path} does not write what the run does, and is not used: {differing} of "
            f"{agreement.sentences} sentences differ, the first is {agreement.first_difference}. Use engine torch"
        )
    return agreement


def _put_in_place(partial: Path, directory: Path) -> None:
    """Rename a whole directory; an older one of that name is gone before its files are."""
    old = directory.with_name(f"{partial.name}.old")
    if directory.exists():
        directory.rename(old)
    partial.rename(directory)
    shutil.rmtree(old, ignore_errors=True)


def _read(path: Path) -> dict[str, Any] | None:
    """What a file says about its conversion; None if it says nothing that can be read."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None
