"""A document -> one HTML file that needs nothing else: no network, no other file, no library."""

import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway.show.document import Document
from headway.show.story import choose_opening
from headway.show.templates import fill_template, scripts, template
from headway.show.writing import write_file

SCRIPTS = ("theme.js", "data.js", "maps.js", "lines.js", "strips.js", "page.js", "events.js")


@dataclass(frozen=True)
class Figure:
    """A plot to be shown under the attention: SVG of `headway.show.plots`, and what it shows."""

    svg: str
    caption: str


def attention_page(document: Document, figures: Sequence[Figure] = ()) -> str:
    """The text of the page."""
    return fill_template(
        "page.html",
        title=html.escape(f"Attention: {document.source_text or document.target_text}"),
        style=template("page.css"),
        figures=_figures(figures),
        # "<" never ends a script early, nor begins a comment.
        document=json.dumps(page_data(document), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        script=scripts(SCRIPTS),
    )


def page_data(document: Document) -> dict[str, Any]:
    """All that a page knows: the document, and where it opens."""
    return {**document.as_json(), "opening": asdict(choose_opening(document))}


def write_page(page: str, path: Path) -> None:
    """Write a page to a file."""
    write_file(page.encode(), path)


def _figures(figures: Sequence[Figure]) -> str:
    """The plots as a section of their own."""
    if not figures:
        return ""
    shown = "\n".join(
        f'<figure class="panel">{figure.svg}<figcaption>{html.escape(figure.caption)}</figcaption></figure>'
        for figure in figures
    )
    return f'<section class="figures" aria-label="Figures">\n{shown}\n</section>'
