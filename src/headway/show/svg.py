"""Charts as SVG text: lines, bars, maps, with axes, ticks and a legend.

A chart is a file that can be opened by itself, light or dark as the reader has it, and a part of a page, whose
colours it then takes (`--ink`, `--quiet`, `--rule`, `--panel`, `--accent`, `--incoming`). Programs that do not know
such names, as drawing programs, find plain light colours.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from headway.show.png import png_link

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 78, 20, 64, 48
COLOURS = (1, 2, 3, 4)
"""Of lines and bars, by the numbers of their classes."""
CELL_WITH_NUMBER = 40
CHARACTER = 8
"""Pixels of a character of a title in a wide font, about."""
WARM, COLD = (214, 107, 18), (46, 98, 212)
"""Of positive and of negative numbers in a map; 0 is not painted at all, so that maps suit every background."""

LIGHT = {
    "ink": "#1b2130", "quiet": "#5d6473", "rule": "#dfe0dc", "panel": "#ffffff",
    "1": "#2457c5", "2": "#b4610a", "3": "#2a8062", "4": "#8a4fb5",
}  # fmt: skip
DARK = {
    "ink": "#e7eaf1", "quiet": "#9aa3b5", "rule": "#2c323e", "panel": "#191d25",
    "1": "#7fb0ff", "2": "#f2ae5a", "3": "#63c6a0", "4": "#c79af0",
}  # fmt: skip
PAINTED = (
    ("text", "fill", "quiet"),
    (".title", "fill", "ink"),
    (".label", "fill", "ink"),
    (".number", "fill", "ink"),
    (".paper", "fill", "panel"),
    (".axis", "stroke", "quiet"),
    (".grid", "stroke", "rule"),
    (".cell", "stroke", "rule"),
    *((f".line-{number}", "stroke", str(number)) for number in COLOURS),
    *((f".bar-{number}", "fill", str(number)) for number in COLOURS),
)
"""Which class has what in which colour."""
SHAPES = {
    "text": "font:12px system-ui,sans-serif",
    ".title": "font-size:13.5px;font-weight:600",
    ".number": "font-size:11px",
    ".small": "font-size:10px",
    ".cell": "fill:none",
    ".line": "fill:none;stroke-width:2;stroke-linejoin:round",
    ".pixels": "image-rendering:pixelated",
}
IN_PAGES = {"1": "accent", "2": "incoming"}
"""What a page calls a colour, where it has another name for it."""


@dataclass(frozen=True)
class Line:
    """A named curve; the dashed one is what a measured one is compared with."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    dashed: bool = False


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` on the pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, number: float) -> float:
        """The pixel of a number."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, count: int = 8) -> list[float]:
    """Round numbers from `low` to `high`, about `count` of them."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= count)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_text(number: float) -> str:
    """A tick as people write it."""
    if number == 0 or 1e-4 <= abs(number) < 1e5:
        return f"{number:,.10g}" if abs(number) >= 1000 else f"{number:.4g}"
    return f"{number:.1e}".replace(".0e", "e").replace("e-0", "e-").replace("e+0", "e")


def line_chart(title: str, lines: Sequence[Line], x_label: str, y_label: str, *, from_zero: bool = False) -> str:
    """Curves over a common axis."""
    xs = [x for line in lines for x in line.x]
    ys = [y for line in lines for y in line.y]
    x_scale = _scale(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    low = 0.0 if from_zero else min(ys)
    margin = 0.04 * (max(ys) - low)
    y_scale = _scale(low if from_zero else low - margin, max(ys) + margin, HEIGHT - BOTTOM, TOP)
    body = [*_axes(x_scale, y_scale, x_label, y_label), *_legend([(line.name, line.dashed) for line in lines])]
    for line, colour in zip(lines, COLOURS, strict=False):
        points = " ".join(f"{x_scale(x):.1f},{y_scale(y):.1f}" for x, y in zip(line.x, line.y, strict=True))
        dashes = ' stroke-dasharray="6 5"' if line.dashed else ""
        body.append(f'<polyline class="line line-{colour}" points="{points}"{dashes}/>')
    return drawing(title, body)


def bar_chart(title: str, groups: Sequence[str], bars: dict[str, Sequence[float]], y_label: str) -> str:
    """Bars side by side in named groups, each with its number above it."""
    highest = max(max(values) for values in bars.values())
    y_scale = _scale(0.0, highest * 1.12, HEIGHT - BOTTOM, TOP)
    room = (WIDTH - RIGHT - LEFT) / len(groups)
    width = 0.8 * room / len(bars)
    body = [*_y_axis(y_scale, y_label), *_legend([(name, False) for name in bars])]
    for place, group in enumerate(groups):
        start = LEFT + (place + 0.1) * room
        body.append(_text(LEFT + (place + 0.5) * room, HEIGHT - BOTTOM + 18, group, "tick", "middle"))
        for number, (values, colour) in enumerate(zip(bars.values(), COLOURS, strict=False)):
            x, y = start + number * width, y_scale(values[place])
            height = HEIGHT - BOTTOM - y
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{height:.1f}" class="bar-{colour}"/>'
            )
            body.append(_text(x + width / 2 - 1, y - 5, f"{values[place]:.3g}", "small", "middle"))
    return drawing(title, body)


def picture_map(title: str, numbers: NDArray[np.float32], x_label: str, y_label: str) -> str:
    """Many numbers from -1 to 1 (rows, columns) as a picture: warm if positive, cold if negative."""
    rows, columns = numbers.shape
    pixels = np.zeros((rows, columns, 4), dtype=np.uint8)
    pixels[..., :3] = np.where(numbers[..., None] >= 0, WARM, COLD)
    pixels[..., 3] = np.rint(255 * np.abs(numbers).clip(0, 1))
    x_scale, y_scale = Scale(0, columns, LEFT, WIDTH - RIGHT), Scale(0, rows, TOP, HEIGHT - BOTTOM)
    place = f'x="{LEFT}" y="{TOP}" width="{WIDTH - RIGHT - LEFT}" height="{HEIGHT - BOTTOM - TOP}"'
    body = [
        f'<image class="pixels" {place} preserveAspectRatio="none" href="{png_link(pixels)}"/>',
        *_axes(x_scale, y_scale, x_label, y_label, with_grid=False),
        *_signs(),
    ]
    return drawing(title, body)


def number_map(title: str, numbers: NDArray[np.float32], x_label: str, y_label: str, largest: float) -> str:
    """A few numbers (rows, columns), written in their cells if there is room; colour is the share of `largest`."""
    rows, columns = numbers.shape
    cell = min((WIDTH - RIGHT - LEFT) / columns, 58)
    height = 0.62 * cell
    body = [
        _text(LEFT, TOP - 21, x_label, "label"),
        _turned_text(22, TOP + rows * height / 2, y_label),
    ]
    body += [_text(LEFT + (c + 0.5) * cell, TOP - 6, str(c + 1), "tick", "middle") for c in range(columns)]
    for row in range(rows):
        y = TOP + row * height
        body.append(_text(LEFT - 10, y + height / 2 + 4, str(row + 1), "tick", "end"))
        for column in range(columns):
            number = float(numbers[row, column])
            fill = f"rgb{WARM if number >= 0 else COLD}"
            x, opacity = LEFT + column * cell, 0.85 * abs(number) / largest
            place = f'x="{x:.1f}" y="{y:.1f}" width="{cell - 2:.1f}" height="{height - 2:.1f}"'
            body.append(f'<rect {place} rx="2" class="cell"/>')
            body.append(f'<rect {place} rx="2" fill="{fill}" fill-opacity="{opacity:.2f}"/>')
            if cell >= CELL_WITH_NUMBER:
                body.append(_text(x + cell / 2 - 1, y + height / 2 + 3, f"{number:.2g}", "number", "middle"))
    width = max(LEFT + columns * cell + RIGHT, LEFT + CHARACTER * len(title) + RIGHT)
    return drawing(title, body, round(width), round(TOP + rows * height + 20))


def drawing(
    title: str, body: Iterable[str], width: int = WIDTH, height: int = HEIGHT, *, with_title: bool = True
) -> str:
    """The whole SVG with its style; its title is there for those who do not see, and written unless not wanted."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="headway-plot" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}">',
            f"<style>{_style()}</style>",
            f'<rect class="paper" width="{width}" height="{height}"/>',
            *([_text(LEFT, 24, title, "title")] if with_title else []),
            *body,
            "</svg>",
        ]
    )


def _style() -> str:
    """Colours from the page around the drawing, or its own; plain ones where named ones are not understood."""

    def define(named: dict[str, str]) -> str:
        chosen = [f"--plot-{name}:var(--{IN_PAGES.get(name, name)},{colour})" for name, colour in named.items()]
        return "svg.headway-plot{" + ";".join(chosen) + "}"

    def paint(colour: Callable[[str], str]) -> str:
        return "".join(f".headway-plot {kind}{{{attribute}:{colour(name)}}}" for kind, attribute, name in PAINTED)

    return "".join(
        [
            define(LIGHT),
            "@media(prefers-color-scheme:dark){" + define(DARK) + "}",
            paint(LIGHT.__getitem__),
            "@supports(fill:var(--plot-ink)){" + paint(lambda name: f"var(--plot-{name})") + "}",
            *(f".headway-plot {kind}{{{rules}}}" for kind, rules in SHAPES.items()),
        ]
    )


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    """A scale that also serves when all numbers are one."""
    return Scale(low, high if high > low else low + 1.0, start, end)


def _axes(x_scale: Scale, y_scale: Scale, x_label: str, y_label: str, *, with_grid: bool = True) -> list[str]:
    bottom = max(y_scale.start, y_scale.end)
    drawn = _y_axis(y_scale, y_label, with_grid=with_grid)
    for tick in ticks(x_scale.low, x_scale.high):
        x = x_scale(tick)
        drawn.append(f'<line class="axis" x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 4}"/>')
        drawn.append(_text(x, bottom + 18, tick_text(tick), "tick", "middle"))
    drawn.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label, "label", "middle"))
    return drawn


def _y_axis(scale: Scale, label: str, *, with_grid: bool = True) -> list[str]:
    bottom = max(scale.start, scale.end)
    drawn = [f'<line class="axis" x1="{LEFT}" y1="{bottom}" x2="{WIDTH - RIGHT}" y2="{bottom}"/>']
    for tick in ticks(scale.low, scale.high):
        y = scale(tick)
        if with_grid and abs(y - bottom) > 1:
            drawn.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        drawn.append(_text(LEFT - 8, y + 4, tick_text(tick), "tick", "end"))
    drawn.append(_turned_text(18, (scale.start + scale.end) / 2, label))
    return drawn


def _legend(entries: Sequence[tuple[str, bool]]) -> list[str]:
    """Names beside a stroke of their colour, in one row under the title."""
    drawn, x = [], float(LEFT)
    for (name, dashed), colour in zip(entries, COLOURS, strict=False):
        dashes = ' stroke-dasharray="6 4"' if dashed else ""
        drawn.append(f'<line class="line line-{colour}" x1="{x}" y1="42" x2="{x + 22}" y2="42"{dashes}/>')
        drawn.append(_text(x + 28, 46, name, "tick"))
        x += 28 + 6.6 * len(name) + 22
    return drawn


def _signs() -> list[str]:
    """What the colours of a picture mean."""
    drawn = []
    for x, colour, text in ((LEFT, COLD, "-1"), (LEFT + 52, WARM, "+1")):
        drawn.append(f'<rect x="{x}" y="36" width="12" height="12" rx="2" fill="rgb{colour}"/>')
        drawn.append(_text(x + 18, 46, text, "tick"))
    return drawn


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _turned_text(x: float, y: float, text: str) -> str:
    """A label that is read from below."""
    turn = f'transform="rotate(-90 {x:.1f} {y:.1f})"'
    return f'<text x="{x:.1f}" y="{y:.1f}" class="label" text-anchor="middle" {turn}>{escape(text)}</text>'
