"""A document -> one HTML file that needs nothing else: no network, no other file, no library."""

import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path

from headway.errors import UserError
from headway.show.document import Document
from headway.show.story import choose_opening

SCRIPTS = ("data.js", "maps.js", "lines.js", "strips.js", "page.js", "events.js")


@dataclass(frozen=True)
class Figure:
    """A plot to be shown under the attention: SVG of `headway.show.plots`, and what it shows."""

    svg: str
    caption: str


def attention_page(document: Document, figures: Sequence[Figure] = ()) -> str:
    """The text of the page."""
    data = {**document.as_json(), "opening": asdict(choose_opening(document))}
    parts = {
        "title": html.escape(f"Attention: {document.source_text or document.target_text}"),
        "style": _template("page.css"),
        "figures": _figures(figures),
        # "<" never ends a script early, nor begins a comment.
        "document": json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
        "script": '"use strict";\n(() => {\n' + "\n".join(map(_template, SCRIPTS)) + "})();",
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _template("page.html"))


def write_page(page: str, path: Path) -> None:
    """Write a page to a file."""
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write the page {path}: {error.strerror}") from None


def _template(name: str) -> str:
    return (files("headway.show") / "template" / name).read_text(encoding="utf-8")


def _figures(figures: Sequence[Figure]) -> str:
    """The plots as a section of their own."""
    if not figures:
        return ""
    shown = "\n".join(
        f'<figure class="panel">{figure.svg}<figcaption>{html.escape(figure.caption)}</figcaption></figure>'
        for figure in figures
    )
    return f'<section class="figures" aria-label="Figures">\n{shown}\n</section>'
