"""`headway demo`: a newcomer's first minutes."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.watching import watched

if TYPE_CHECKING:
    from headway.tasks.demo import Demo

BANNER = """\
Headway demo: a Transformer that translates, from nothing, on this machine.

  1. write a corpus of 40,000 sentence pairs ({pair}) with the built-in grammar      a few seconds
  2. train a small encoder-decoder on it                                          {minutes}
  3. translate 1,400 sentences made of combinations that training never saw       some seconds
  4. write a page that shows where the model looks                                a moment
"""


def demo(
    pair: Annotated[str, typer.Option(help="From which language to which: two of en, fr, zh.")] = "en-fr",
    fast: Annotated[bool, typer.Option("--fast", help="A rougher model, in about a minute.")] = False,
    out: Annotated[Path | None, typer.Option(help="Directory of the run; by default runs/demo.", metavar="RUN")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides about first weights and order of the data.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout at the end.")] = False,
) -> None:
    """Train on the built-in corpus, translate, score, and write an attention page, in minutes and without a network.

    Run again, it shows the trained model again; a demo that was stopped goes on where it was.

    \b
    Examples:
      headway demo
      headway demo --fast
      headway demo --pair en-zh --out runs/zh
    """  # noqa: D301
    from headway.tasks.demo import run_demo

    out = out or Path("runs/demo" if pair == "en-fr" else f"runs/demo-{pair}")
    typer.echo(BANNER.format(pair=pair, minutes="about a minute" if fast else "about three minutes"), err=True)
    shown, _ = watched(lambda observer: run_demo(out, pair, fast=fast, seed=seed, observer=observer))
    typer.echo(as_text(shown), err=as_json)
    if as_json:
        typer.echo(json.dumps(shown.as_json()))


def as_text(demo: "Demo") -> str:
    """What came out, for people."""
    run = shlex.quote(str(demo.run.path))
    lines = ["", "Some translations (= as the grammar has it, x otherwise; [it] what the model took it for):", ""]
    for each in demo.examples:
        choice = f"   [{each.choice}]" if each.choice else ""
        lines += [f"    {each.source}", f"  {'=' if each.is_right else 'x'} {each.translation}{choice}"]
    lines += [
        "",
        f"On 1,000 sentences with combinations of words that training never saw: BLEU {demo.bleu:.1f}, "
        f"{demo.exact_match:.1%} exactly right",
        f"On 400 sentences that differ only in what *it* is: {demo.pronoun_accuracy:.1%} understood",
        f"Training took {demo.train_seconds / 60:.1f} minutes",
        f"Where the model looks, layer by layer and head by head: {demo.page} (open it in a browser)",
        "",
        "Next:",
        f'  echo "The cat is sleeping." | headway translate {run}',
        f'  headway show {run} "The animal didn\'t cross the street because it was too wide." --out page.html',
        "  headway train --source YOUR.en --target YOUR.fr --out runs/mine",
    ]
    return "\n".join(lines)
