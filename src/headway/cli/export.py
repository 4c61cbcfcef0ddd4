"""`headway export`: a run as a model of another engine."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.trained import CheckpointName, TrainedRun
from headway.errors import UserError

if TYPE_CHECKING:
    from headway.export.agreement import Agreement


class Format(StrEnum):
    """What a run can be exported to."""

    CTRANSLATE2 = "ctranslate2"


def export(
    run: TrainedRun,
    to: Annotated[Format, typer.Option(help="For which engine.")],
    out: Annotated[Path, typer.Option(help="Directory to write.", metavar="DIR")],
    quantization: Annotated[
        str | None,
        typer.Option(help="Type of the weights: float32 (by default), int8, int16, float16, ...", metavar="TYPE"),
    ] = None,
    checkpoint: CheckpointName = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Write a run as a model of another engine, after checking that it translates as the run does.

    Validation sentences are translated by both engines. In float32 greedy search must write the same, or nothing is
    exported; otherwise it is said how often it does, and what BLEU becomes. The directory has the tokenizer as well.

    \b
    Examples:
      headway export runs/en-fr --to ctranslate2 --out en-fr-ct2
      headway export runs/en-fr --to ctranslate2 --out en-fr-int8 --quantization int8
    """  # noqa: D301
    if out.exists():
        raise UserError(f"{out} exists already; choose another --out, or remove it first")
    from headway.export.conversions import make_conversion
    from headway.store.run import Run

    opened = Run.open(run)
    chosen = opened.checkpoints.find(checkpoint) if checkpoint else opened.chosen()
    agreement = make_conversion(opened, out, quantization, chosen).agreement
    if as_json:
        typer.echo(json.dumps({"out": str(out), "to": to, "checkpoint": chosen.path.name, **agreement.as_json()}))
    else:
        typer.echo(f"{chosen.path} is written to {out} for {to}, in {quantization or 'float32'}\n{as_text(agreement)}")


def as_text(agreement: "Agreement") -> str:
    """How far the two engines write the same, for people."""
    kind = "made-up" if agreement.bleu_torch is None else "validation"
    lines = [
        f"the same as by torch, of {agreement.sentences} {kind} sentences:",
        f"  {agreement.greedy_equal:6.1%}  by greedy search",
        f"  {agreement.beam_equal:6.1%}  by beam search, beam {agreement.beam}, {agreement.penalty} {agreement.alpha}",
    ]
    if agreement.bleu_torch is not None and agreement.bleu_ctranslate2 is not None:
        change = agreement.bleu_ctranslate2 - agreement.bleu_torch
        lines.append(f"BLEU by greedy search: {agreement.bleu_ctranslate2:.2f} ({change:+.2f})")
    return "\n".join(lines)
