"""A drawing -> a PNG, painted by a browser of this machine: it has the fonts, and draws what a reader would see."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.errors import UserError
from headway.show.png import chunk
from headway.show.sheet import size_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
SCALE = 2
"""Pixels of a PNG for one of the drawing."""
TIMEOUT_SECONDS = 120
HEADER_BYTES = 33
"""Of a PNG: its signature and its first part."""
PNG_MARK = b"Software\0headway"


def png_of(svg: str) -> bytes:
    """The drawing as a PNG."""
    browser = find_browser()
    width, height = size_of(svg)
    with TemporaryDirectory() as folder:
        drawn, painted = Path(folder) / "plot.svg", Path(folder) / "plot.png"
        drawn.write_text(svg, encoding="utf-8")
        command = [
            browser, "--headless", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}/profile",
            "--no-sandbox",  # which containers do not allow; all that is opened is our own drawing
            f"--force-device-scale-factor={SCALE}", f"--window-size={width},{height}", f"--screenshot={painted}",
            drawn.as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, capture_output=True, check=True, timeout=TIMEOUT_SECONDS)
            png = painted.read_bytes()
        except (OSError, subprocess.SubprocessError):
            raise UserError(f"{browser} could not paint the PNG; write a .svg, and convert it") from None
    return png[:HEADER_BYTES] + chunk(b"tEXt", PNG_MARK) + png[HEADER_BYTES:]


def find_browser() -> str:
    """A browser that can paint."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise UserError(
            "a PNG is painted by Chromium or Chrome, and none is in the PATH; install one, or write a .svg and convert "
            "it, as with rsvg-convert plot.svg -o plot.png"
        )
    return found
