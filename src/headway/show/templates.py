"""The files that pages are made from -> the text of a page."""

import re
from collections.abc import Iterable
from importlib.resources import files


def template(name: str) -> str:
    """A file of the templates."""
    return (files("headway.show") / "template" / name).read_text(encoding="utf-8")


def fill_template(name: str, **parts: str) -> str:
    """A file of the templates with its {{places}} filled."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template(name))


def scripts(names: Iterable[str]) -> str:
    """Scripts as one, which leaves nothing behind but what it means to."""
    return '"use strict";\n(() => {\n' + "\n".join(map(template, names)) + "})();"
