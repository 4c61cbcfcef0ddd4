"""The pictures of docs/tour.md, from a trained run: `python docs/pictures/draw.py runs/demo`.

A second argument is the folder to write to; without it, it is the one of this script.
"""

import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
import torch

from headway.models import EncoderDecoder
from headway.nn.attention import attend
from headway.nn.masks import Band, Full
from headway.nn.positions import sinusoids
from headway.nn.scores import Dot
from headway.show.document import Document, Kind, Weights
from headway.show.plots import positions_plot, similarity_plot
from headway.show.png import png_link
from headway.show.sheet import sheet
from headway.show.story import NAMES, alignment, choose_opening
from headway.show.svg import WARM, Line, bar_chart, drawing, line_chart
from headway.show.writing import write_plot
from headway.tasks.run_plots import plot_run
from headway.tasks.showing import Trained, show_sentence
from headway.text.tokenizer import Tokenizer
from headway.train.schedules import noam

TIRED = "The animal didn't cross the street because it was too tired."
WIDE = "The animal didn't cross the street because it was too wide."
BEFORE = "L'animal n'a pas traversé la rue parce qu'"
CELL, LETTER, MARGIN, TITLE = 24, 7.5, 12, 36
CONTRAST = 0.65
"""Power of a weight that gives its colour, as on the attention page: small weights can be told apart."""


def main(run: Path, folder: Path) -> None:
    """Draw them all."""
    trained = Trained.load(run)
    assert isinstance(trained.model, EncoderDecoder), "the tour is about the paper's model"
    tired, wide = (show_sentence(trained, text) for text in (TIRED, WIDE))
    pictures = {
        "embeddings": embeddings_picture(trained.model, trained.run.vocabulary.source),
        "heads": heads_picture(tired),
        "masks": masks_picture(),
        "positions": positions_picture(trained),
        "it": pronoun_picture(tired, wide),
        "cross": cross_picture(tired),
        "smoothing": plot_run(run, "smoothing"),
        "schedule": schedule_picture(run),
        "curves": plot_run(run, "curves"),
        "search": search_picture(trained),
    }
    for name, svg in pictures.items():
        write_plot(svg, folder / f"{name}.svg")


def embeddings_picture(model: EncoderDecoder, tokenizer: Tokenizer) -> str:
    """Attention without parameters, over the embeddings that the model has learned."""
    ids = tokenizer.encode(TIRED)
    with torch.no_grad():
        x = model.source_input.embedding.weight[None, None, ids]  # (1, 1, S, D)
        _, weights = attend(x, x, x, score=Dot(), with_weights=True)
    assert weights is not None, "they were asked for"
    pieces = tokenizer.pieces(ids)
    return attention_map("Attention without parameters", weights[0, 0].numpy(), pieces, pieces)


def heads_picture(document: Document) -> str:
    """All heads of the encoder's second layer."""
    heads = document.maps["encoder"].weights.shape[1]
    maps = [head_map(document, "encoder", 1, head) for head in range(heads)]
    return sheet("Heads", [maps[start : start + 2] for start in range(0, heads, 2)])


def masks_picture() -> str:
    """Four patterns over 16 positions."""
    masks = {
        "Causal": Full(causal=True).mask(16, 16),
        "Window of 5": Band(5).mask(16, 16),
        "5 positions, 3 apart": Band(5, dilation=3).mask(16, 16),
        "5 positions, 4 apart, 1 global": Band(5, dilation=4, global_positions=1).mask(16, 16),
    }
    labels = [str(position) for position in range(1, 17)]
    maps = [
        attention_map(name, mask.float().numpy(), labels, labels) for name, mask in masks.items() if mask is not None
    ]
    return sheet("Masks", [maps[:2], maps[2:]])


def positions_picture(trained: Trained) -> str:
    """Sinusoids as wide as the model, and how alike they are."""
    table = sinusoids(64, trained.config.model.d_model)
    return sheet("Position encodings", [[positions_plot(table, "sinusoids"), similarity_plot(table, "sinusoids")]])


def pronoun_picture(tired: Document, wide: Document) -> str:
    """Both endings of the sentence, in the heads in which *it* looks most at the last word and at one earlier word."""
    opening = choose_opening(tired)
    at_last_word = tired.maps["encoder"].weights[1:, :, opening.query, -3]  # the full stop and </s> come after it
    layer, head = np.unravel_index(at_last_word.argmax(), at_last_word.shape)
    places = ((int(layer) + 1, int(head)), (opening.layer, opening.head))
    return sheet("it", [[head_map(each, "encoder", *place) for each in (tired, wide)] for place in places])


def cross_picture(document: Document) -> str:
    """The cross-attention head whose queries tell most about where they look."""
    bits = alignment(document.maps["cross"].weights)
    layer, head = np.unravel_index(bits.argmax(), bits.shape)
    return head_map(document, "cross", int(layer), int(head))


def schedule_picture(run: Path) -> str:
    """The paper's learning rates, and those of the run."""
    steps = range(100, 40_001, 100)
    models = {"base, 4,000": (512, 4000), "base, 8,000": (512, 8000), "big, 4,000": (1024, 4000)}
    lines = [
        Line(name, steps, [noam(step, d_model, warmup) for step in steps]) for name, (d_model, warmup) in models.items()
    ]
    paper = line_chart("The paper's learning rate: model, warm-up", lines, "step", "learning rate", from_zero=True)
    return sheet("Learning rates", [[paper, plot_run(run, "schedule")]])


def search_picture(trained: Trained) -> str:
    """How probable both pronouns are where the translation must choose one."""
    translator, place = trained.translator(), len(trained.run.vocabulary.target.encode(BEFORE))
    pronouns = ("il", "elle")
    bars: dict[str, Sequence[float]] = {}
    for text in (TIRED, WIDE):
        scored = translator.score([(text, BEFORE + pronoun) for pronoun in pronouns])
        bars[f"it was {' '.join(text.split()[-2:])}"] = [each.probabilities[place] for each in scored]
    return bar_chart(f"After “{BEFORE}”", pronouns, bars, "probability")


def head_map(document: Document, kind: Kind, layer: int, head: int) -> str:
    """One head over the sentence of a document."""
    maps = document.maps[kind]
    queries, keys = (document.sequences[name].texts for name in (maps.queries, maps.keys))
    title = f"{NAMES[kind].capitalize()}, layer {layer + 1}, head {head + 1}"
    return attention_map(title, maps.weights[layer, head], queries, keys)


def attention_map(title: str, weights: Weights, queries: Sequence[str], keys: Sequence[str]) -> str:
    """Weights (Q, K) as a picture, a row a query, with the pieces at its sides."""
    pixels = np.zeros((*weights.shape, 4), dtype=np.uint8)
    pixels[..., :3] = WARM
    pixels[..., 3] = np.rint(255 * weights**CONTRAST)
    left, top = (round(MARGIN + LETTER * max(len(text.strip()) for text in texts)) for texts in (queries, keys))
    left, top = max(left, 80), top + TITLE
    width, height = CELL * len(keys), CELL * len(queries)
    place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
    body = [
        f'<image class="pixels" {place} preserveAspectRatio="none" href="{png_link(pixels)}"/>',
        f'<rect class="cell" {place}/>',
    ]
    for number, text in enumerate(queries):
        y = top + CELL * (number + 0.5) + 4
        body.append(f'<text class="label" x="{left - 6}" y="{y:g}" text-anchor="end">{escape(text.strip())}</text>')
    for number, text in enumerate(keys):
        x = left + CELL * (number + 0.5) + 4
        turn = f'transform="translate({x:g} {top - 6}) rotate(-90)"'
        body.append(f'<text class="label" {turn}>{escape(text.strip())}</text>')
    return drawing(title, body, max(left + width + MARGIN, 400), top + height + MARGIN)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent)
