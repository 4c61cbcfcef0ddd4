"""`headway describe`: what a model costs, as a table or as JSON."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.settings import Assignments, ConfigFile, Preset

if TYPE_CHECKING:
    from headway.config import Config
    from headway.models import Description


def describe(
    preset: Preset = None,
    config: ConfigFile = None,
    assignments: Assignments = None,
    length: Annotated[int, typer.Option(min=1, help="Tokens of a sentence.", metavar="TOKENS")] = 32,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Show the parameters, the arithmetic and the memory of a model.

    \b
    Examples:
      headway describe --preset base
      headway describe --preset big --set model.vocabulary=32000
      headway describe --preset tiny --json
    """  # noqa: D301
    from headway.settings import load_config

    settings = load_config(preset, config, assignments or ())

    from headway.models import describe as describe_model

    description = describe_model(settings, length)
    if as_json:
        typer.echo(json.dumps(description.as_json()))
    else:
        typer.echo(as_text(settings, description, preset or "default"))


def as_text(config: "Config", description: "Description", name: str) -> str:
    """The description as a table for people."""
    parameters, flops, memory = description.parameters, description.flops, description.memory
    lines = [
        f"{name}: {config.model.family}, {parameters['total'] / 1e6:.2f} M parameters",
        "",
        f"{'part':<26}{'parameters':>14}{'share':>8}{'MFLOP a token':>16}",
    ]
    parts = {**parameters, **flops}
    for part in parts:
        if part not in ("total", "forward", "training", "training_run"):
            count, work = parameters.get(part), flops.get(part)
            share = "" if count is None else f"{count / parameters['total']:.1%}"
            lines.append(
                f"{part:<26}{'' if count is None else f'{count:,}':>14}{share:>8}"
                f"{'' if work is None else f'{work / 1e6:,.2f}':>16}"
            )
    lines += [
        f"{'total, forward':<26}{parameters['total']:>14,}{'100.0%':>8}{flops['forward'] / 1e6:>16,.2f}",
        "",
        f"at {description.length} tokens a sentence, matrix products only, a multiply-add as two operations:",
        f"{'training, a token':<26}{flops['training'] / 1e6:>14,.2f} MFLOP",
        f"{'training, the whole run':<26}{flops['training_run']:>14.3g} FLOP"
        f"  ({config.train.steps:,} updates of {config.train.batch_tokens:,} tokens)",
        "",
        "memory, fp32:",
        f"{'weights':<26}{_size(memory['weights']):>14}",
        f"{'weights, gradients, Adam':<26}{_size(memory['training_state']):>14}",
        f"{'activations of an update':<26}{_size(memory['activations']):>14}"
        f"  (all {config.train.batch_tokens:,} tokens in one pass)",
    ]
    return "\n".join(lines)


def _size(count: int) -> str:
    """Bytes as people say them."""
    return f"{count / 2**30:,.2f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"
