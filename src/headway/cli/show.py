"""`headway show`: where a model looks, what its heads do, and the plots of a run, as pages and pictures."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from headway.cli.trained import CheckpointName, SearchAssignments, TrainedRun
from headway.errors import UserError, did_you_mean

if TYPE_CHECKING:
    from headway.tasks.run_plots import PlotName
    from headway.tasks.showing import Trained

Subject = Literal["sentence", "heads", "positions", "schedule", "curves", "smoothing"]

WHAT = ("heads", "positions", "schedule", "curves", "smoothing")
PAGES: tuple[str, ...] = (".html", ".htm")
PICTURES: tuple[str, ...] = (".svg", ".png")


Sentence = Annotated[str | None, typer.Argument(help="Show the attention over this sentence.", metavar="SENTENCE")]
GivenTranslation = Annotated[
    str | None,
    typer.Option("--translation", help="Its translation; by default the model writes it.", metavar="TEXT"),
]
SentencesFile = Annotated[
    Path | None, typer.Option("--file", help="Show what the heads do over the sentences of this file.", metavar="FILE")
]
TranslationsFile = Annotated[
    Path | None,
    typer.Option("--target-file", help="Their translations; by default the model writes them.", metavar="FILE"),
]
What = Annotated[str | None, typer.Option("--what", help=f"Show one thing: {', '.join(WHAT)}.", metavar="NAME")]
AblatedSentences = Annotated[
    int,
    typer.Option("--sentences", min=0, help="Switch each head off on so many of the first sentences; 0: on none."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        help="A page (.html) or picture (.svg, .png); by default attention.html, heads.html or NAME.svg here.",
        metavar="FILE",
    ),
]


def show(
    run: TrainedRun,
    sentence: Sentence = None,
    translation: GivenTranslation = None,
    file: SentencesFile = None,
    target_file: TranslationsFile = None,
    what: What = None,
    sentences: AblatedSentences = 50,
    out: Out = None,
    checkpoint: CheckpointName = None,
    assignments: SearchAssignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON on stdout, with all numbers.")] = False,
) -> None:
    """Show where a model looks, as a page that opens in any browser and needs no network.

    With a sentence: every head of every layer over it and its translation, and below the plots of the run. With --file:
    what each head does over many sentences, and how much the loss changes without it. --what heads does the same with
    sentences that the run was validated with; the other plots are the position encodings, the learning rate against its
    formula, loss and BLEU, and the smoothed targets. PNGs are painted by Chromium or Chrome, if there is one.

    \b
    Examples:
      headway show runs/en-fr "The animal didn't cross the street because it was too tired."
      headway show runs/en-fr "It is late." --translation "Il est tard." --out late.html
      headway show runs/en-fr --file test.en --target-file test.fr --sentences 200 --out heads.html
      headway show runs/en-fr --what curves --out curves.svg
    """  # noqa: D301
    subject = chosen_subject(sentence, translation, file, target_file, what)
    out = chosen_place(out, subject)

    from headway.show.writing import check_place

    check_place(out)  # before anything that takes long
    match subject:
        case "sentence" | "heads":
            from headway.tasks.showing import Trained

            trained = Trained.load(run, checkpoint=checkpoint, settings=assignments or ())
            if sentence is not None:
                text, facts = show_attention(trained, sentence, translation, out)
            else:
                text, facts = show_heads(trained, file, target_file, sentences, out)
        case plot:
            text, facts = show_plot(run, plot, out, checkpoint, assignments or ())
    if as_json:
        typer.echo(json.dumps({"out": str(out), **facts}, ensure_ascii=False))
    else:
        typer.echo(f"{text}written: {out}")


def chosen_subject(
    sentence: str | None, translation: str | None, file: Path | None, target_file: Path | None, what: str | None
) -> Subject:
    """What the flags want to be shown; flags that do not belong together are told."""
    if what is not None and what not in WHAT:
        raise UserError(f"unknown --what {what}{did_you_mean(what, WHAT)}")
    if sentence is None and file is None and what is None:
        raise UserError(
            "there is nothing to show yet; give a sentence in quotes, sentences by --file, or --what with one of "
            f"{', '.join(WHAT)}"
        )
    if sentence is not None and (file is not None or what is not None):
        raise UserError(f"both a sentence and {'--file' if file else '--what'} were given; give one of them")
    if file is not None and what not in (None, "heads"):
        raise UserError(f"--what {what} is about the run and reads no --file; leave one of them out")
    if translation is not None and sentence is None:
        raise UserError("--translation was given without a sentence; give both, the sentence after RUN")
    if target_file is not None and file is None:
        raise UserError("--target-file was given without --file; give both, aligned line by line")
    return "sentence" if sentence is not None else cast(Subject, what or "heads")


def chosen_place(out: Path | None, subject: Subject) -> Path:
    """Where to write: the name that was given, if its suffix suits, or one that says what it is."""
    match subject:
        case "sentence":
            name, suffixes = "attention.html", PAGES
        case "heads":
            name, suffixes = "heads.html", PAGES + PICTURES
        case _:
            name, suffixes = f"{subject}.svg", PICTURES
    place = out or Path(name)
    if place.suffix.lower() not in suffixes:
        raise UserError(f"--out {place}: expected a name that ends in {' or '.join(suffixes)}, as in {name}")
    return place


def show_attention(trained: "Trained", sentence: str, translation: str | None, out: Path) -> tuple[str, dict[str, Any]]:
    """Write the page of a sentence; what is to be said about it, in lines and as JSON."""
    from headway.show.page import attention_page, page_data, write_page
    from headway.tasks.run_plots import run_figures
    from headway.tasks.showing import show_sentence

    document = show_sentence(trained, sentence, translation, lambda _, text: warn(text))
    write_page(attention_page(document, run_figures(trained)), out)
    data = page_data(document)
    texts = [text for text in (document.source_text, document.target_text) if text is not None]
    return as_lines([*texts, data["opening"]["finding"]]), data


def show_heads(
    trained: "Trained", file: Path | None, target_file: Path | None, sentences: int, out: Path
) -> tuple[str, dict[str, Any]]:
    """Write what the heads do over sentences; what is to be said about it."""
    from headway.cli.watching import open_bar
    from headway.show.heads_page import findings, heads_page, heads_plot
    from headway.show.page import write_page
    from headway.show.writing import write_plot
    from headway.tasks.head_study import sentences_of_files, sentences_of_run, study_heads

    bar = open_bar()
    try:
        if file is None:
            studied = sentences_of_run(trained)
        else:
            studied = sentences_of_files(
                trained, file, target_file, lambda line, text: bar.say(f"warning: {file}, line {line:,}: {text}")
            )
        study = study_heads(trained, studied, sentences, bar.show)
    finally:
        bar.close()
    if study.left_out:
        warn(f"{study.left_out:,} sentences are left out: they are empty or over data.max_length")
    if out.suffix.lower() in PAGES:
        write_page(heads_page(study), out)
    else:
        write_plot(heads_plot(study), out)
    return as_lines(findings(study)), study.as_json()


def show_plot(
    run: Path, what: "PlotName", out: Path, checkpoint: str | None, settings: Sequence[str]
) -> tuple[str, dict[str, Any]]:
    """Write one plot of a run, about which there is nothing to be said."""
    from headway.show.writing import write_plot
    from headway.tasks.run_plots import plot_run

    write_plot(plot_run(run, what, checkpoint=checkpoint, settings=settings), out)
    return "", {}


def as_lines(texts: Sequence[str]) -> str:
    """Texts, each ended."""
    return "".join(f"{text}\n" for text in texts)


def warn(text: str) -> None:
    """Say what is the matter."""
    typer.echo(f"warning: {text}", err=True)
