"""Pages and plots -> files. What is there already is replaced only if it was made here as well."""

from pathlib import Path

from headway.errors import UserError
from headway.show.raster import PNG_MARK, find_browser, png_of

MARKS = (b'<meta name="generator" content="headway">', b'class="headway-plot"', PNG_MARK)
"""What the beginning of our own files has."""
BEGINNING = 1000


def check_place(path: Path) -> None:
    """A file can be written here, and it takes the place of nothing but what was written by us."""
    if path.suffix.lower() == ".png":
        find_browser()
    if path.is_dir():
        raise UserError(f"{path} is a directory; give the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"cannot write {path}: there is no directory {path.parent}; make it first")
    if path.exists() and not _is_ours(path):
        raise UserError(f"{path} is there already, and not written by headway show; choose another --out, or remove it")


def write_plot(svg: str, path: Path) -> None:
    """Write a plot to a file, as SVG or PNG, as its name has it."""
    write_file(png_of(svg) if path.suffix.lower() == ".png" else svg.encode(), path)


def write_file(content: bytes, path: Path) -> None:
    """Write a file of ours."""
    check_place(path)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from None


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
    except OSError as error:
        raise UserError(f"cannot read {path}, which would be replaced: {error.strerror}") from None
    return not beginning or any(mark in beginning for mark in MARKS)
