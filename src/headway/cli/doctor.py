"""`headway doctor`: what works on this machine, as a list or as JSON."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from headway.tasks.doctor import Finding

COLOURS = {"ok": "green", "slow": "yellow", "low": "yellow", "missing": "yellow", "failed": "red"}


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout.")] = False,
) -> None:
    """Look this machine over: what works, what is missing, what is slow, and what to do about it.

    It takes a few seconds, two of them to measure products of matrices. The exit code is 0 if Headway can work here:
    torch computes, a tokenizer can be learned, weights can be written and read. What is only missing is no failure.

    \b
    Examples:
      headway doctor
      headway doctor --json
    """  # noqa: D301
    from headway.tasks.doctor import examine

    findings: list[Finding] = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            typer.echo(as_text(finding))
    works = all(finding.mark != "failed" for finding in findings)
    if as_json:
        typer.echo(json.dumps({"works": works, "findings": {each.name: each.as_json() for each in findings}}))
    else:
        typer.echo(f"\n{'Headway works here.' if works else 'Headway does not work here yet; see what failed above.'}")
    if not works:
        raise typer.Exit(1)


def as_text(finding: "Finding") -> str:
    """A line, and one more if there is something to do."""
    line = f"{typer.style(f'{finding.mark:<8}', fg=COLOURS[finding.mark])}{finding.name:<13}{finding.text}"
    return f"{line}\n{'':<21}-> {finding.advice}" if finding.advice else line
