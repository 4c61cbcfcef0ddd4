"""Several charts -> one drawing, in rows."""

import re
from collections.abc import Sequence

from headway.show.svg import drawing

GAP = 12
SIZE = re.compile(r'viewBox="0 0 (\d+) (\d+)"')


def sheet(title: str, rows: Sequence[Sequence[str]]) -> str:
    """The charts of each row beside each other, columns under each other; a single chart stays what it is."""
    if [len(row) for row in rows] == [1]:
        return rows[0][0]
    sizes = [[size_of(chart) for chart in row] for row in rows]
    columns = max(map(len, rows))
    widths = [max(row[column][0] for row in sizes if column < len(row)) for column in range(columns)]
    body, y = [], GAP
    for row, row_sizes in zip(rows, sizes, strict=True):
        for column, chart in enumerate(row):
            x = GAP + sum(widths[:column]) + GAP * column
            body.append(chart.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1))
        y += max(height for _, height in row_sizes) + GAP
    return drawing(title, body, GAP + sum(widths) + GAP * columns, y, with_title=False)


def size_of(chart: str) -> tuple[int, int]:
    """Width and height of a chart."""
    found = SIZE.search(chart)
    assert found, "every chart has a view box"
    return int(found[1]), int(found[2])
