"""`headway verify-resume`: the proof that a killed run goes on exactly."""

import json
from pathlib import Path
from typing import Annotated

import typer


def verify_resume(
    run: Annotated[
        Path | None, typer.Argument(help="Prove it with this run's settings and data.", metavar="[RUN]")
    ] = None,
    kills: Annotated[int, typer.Option(min=1, help="How often to kill.")] = 3,
    seed: Annotated[int | None, typer.Option(help="When to kill; by default any time.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Train for a moment, kill it without warning, resume it, and compare every bit with a run that was never killed.

    It takes about a minute. Without RUN, a small model is trained on the built-in corpus. RUN itself is not changed.

    \b
    Examples:
      headway verify-resume
      headway verify-resume runs/en-fr
    """  # noqa: D301
    from headway.tasks.resume_proof import verify_resume as prove

    proof = prove(run, kills=kills, seed=seed, say=lambda text: typer.echo(text, err=True))
    killed = ", ".join(map(str, proof.killed_after))
    if as_json:
        typer.echo(json.dumps({"exact": proof.is_exact, "steps": proof.steps, "killed_after": proof.killed_after}))
    elif proof.is_exact:
        typer.echo(f"exact: {proof.steps} steps, killed after {killed}; weights and optimizer are equal bit for bit")
    else:
        typer.echo(f"NOT exact: {proof.steps} steps, killed after {killed}; these differ: {', '.join(proof.differing)}")
    if not proof.is_exact:
        raise typer.Exit(1)
