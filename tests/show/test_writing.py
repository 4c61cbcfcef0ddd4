"""Files are written where they should be, and never over somebody else's."""

import zlib
from pathlib import Path

import pytest

from headway.errors import UserError
from headway.show.document import Document
from headway.show.page import attention_page, write_page
from headway.show.plots import smoothing_plot
from headway.show.raster import SCALE
from headway.show.sheet import sheet, size_of
from headway.show.writing import check_place, write_plot


def test_what_was_written_by_us_is_replaced(document: Document, tmp_path: Path) -> None:
    page, plot = tmp_path / "page.html", tmp_path / "plot.svg"
    for _ in range(2):
        write_page(attention_page(document), page)
        write_plot(smoothing_plot(), plot)
    assert plot.read_text(encoding="utf-8") == smoothing_plot()


def test_what_was_written_by_others_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    place.write_text("<!doctype html><title>mine</title>")
    with pytest.raises(UserError, match="is there already, and not written by headway show; choose another --out"):
        write_page("x", place)
    assert place.read_text() == "<!doctype html><title>mine</title>"


def test_an_empty_file_may_be_filled(tmp_path: Path) -> None:
    place = tmp_path / "page.html"
    place.touch()
    write_page("x", place)
    assert place.read_text() == "x"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory; give the name of a file"):
        check_place(tmp_path)


def test_a_png_is_the_drawing_and_known_as_ours(tmp_path: Path) -> None:
    place = tmp_path / "plot.png"
    write_plot(smoothing_plot(), place)
    data = place.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = (int.from_bytes(data[start : start + 4]) for start in (16, 20))
    assert (width, height) == tuple(SCALE * side for side in size_of(smoothing_plot()))
    start = data.index(b"tEXt")
    length = int.from_bytes(data[start - 4 : start])
    checked = data[start : start + 4 + length]
    assert int.from_bytes(data[start + 4 + length :][:4]) == zlib.crc32(checked)
    check_place(place)


def test_without_a_browser_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"painted by Chromium or Chrome, and none is in the PATH; .* write a \.svg"):
        check_place(tmp_path / "plot.png")


def test_a_browser_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\nexit 1\n")
    browser.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    with pytest.raises(UserError, match="could not paint the PNG"):
        write_plot(smoothing_plot(), tmp_path / "plot.png")


def test_charts_of_a_sheet_do_not_overlap() -> None:
    chart = smoothing_plot()
    width, height = size_of(chart)
    both = sheet("Two", [[chart, chart], [chart]])
    assert size_of(both) == (2 * width + 3 * 12, 2 * height + 3 * 12)
    for x, y in ((12, 12), (24 + width, 12), (12, 24 + height)):
        assert f'<svg x="{x}" y="{y}" ' in both
    assert sheet("One", [[chart]]) == chart
