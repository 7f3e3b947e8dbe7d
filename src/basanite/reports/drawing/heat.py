"""Heat maps: a cell for each pair of names, shaded by a number and, where there is room, with the number in it.

Shades are one colour at several strengths: CSS variables cannot be mixed by a chart, and strength reads the same in
light, dark and print and to colour-blind readers.
"""

from __future__ import annotations

import math
from typing import Final

from basanite.figures import Cell, Chart
from basanite.reports.drawing.points import Spec
from basanite.reports.theme import Ink
from basanite.reports.wording import number, shown

ROOM: Final = 12
"""Up to so many names a side the numbers are written out."""
CELL: Final = 30
SMALL_CELL: Final = 15
FAINTEST, STRONG = 0.06, 0.55
LABEL_TURNED: Final = -40
LONG_NAME: Final = 4


def layers(chart: Chart, x: Spec, y: Spec, ink: Ink) -> list[Spec]:
    """Shaded cells, and their numbers where there are few."""
    cells = cells_of(chart)
    place = {"x": {**x, "axis": _axis(chart, x)}, "y": y}
    strength = {"field": "strength", "type": "quantitative", "scale": None, "legend": None}
    tip = {"field": "says", "type": "nominal"}
    shaded = {
        "data": {"values": cells},
        "mark": {"type": "rect", "fill": ink("gold"), "stroke": ink("card"), "strokeWidth": 1},
        "encoding": {**place, "opacity": strength, "tooltip": tip},
    }
    if len(names(chart, chart.x.column)) > ROOM:
        return [shaded]
    colour = {"condition": {"test": "datum.strong", "value": ink("stone")}, "value": ink("ink")}
    written = {
        "data": {"values": cells},
        "mark": {"type": "text", "fontSize": 10.5},
        "encoding": {**place, "text": {"field": "label"}, "fill": colour, "tooltip": tip},
    }
    return [shaded, written]


def height(chart: Chart) -> int:
    """As many rows as there are names, each tall enough for what is in it."""
    count = len(names(chart, chart.y.column))
    return max(1, count) * (CELL if count <= ROOM else SMALL_CELL)


def names(chart: Chart, column: str) -> list[Cell]:
    """The names of one side, in the order they come."""
    at = chart.data.columns.index(column)
    return list(dict.fromkeys(row[at] for row in chart.data.rows))


def cells_of(chart: Chart) -> list[Spec]:
    """Each cell with its strength between the least and the largest number, and what it says when touched."""
    columns = chart.data.columns
    at = [columns.index(name) for name in (chart.x.column, chart.y.column, chart.shade or chart.x.column)]
    rows = [tuple(row[place] for place in at) for row in chart.data.rows]
    numbers = [cell for *_, cell in rows if isinstance(cell, float) and math.isfinite(cell)] or [0.0]
    low, wide = min(numbers), max(numbers) - min(numbers)
    return [_cell(chart, row, low, wide) for row in rows]


def _cell(chart: Chart, row: tuple[Cell, ...], low: float, wide: float) -> Spec:
    x, y, value = row
    shade = float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    share = (shade - low) / wide if shade is not None and wide > 0 else 0.5
    strength = 0.0 if shade is None else FAINTEST + (1 - FAINTEST) * share
    lines = (
        f"{chart.y.label}: {number(y)}",
        f"{chart.x.label}: {number(x)}",
        f"{chart.shade}: {number(value)}",
    )
    return {
        "x": shown(number(x)),
        "y": shown(number(y)),
        "strength": round(strength, 4),
        "strong": strength > STRONG,
        "label": "–" if shade is None else f"{shade:.2f}".replace("-", "−"),
        "says": "\n".join(map(shown, lines)),
    }


def _axis(chart: Chart, x: Spec) -> Spec:
    """Names below the cells; turned where they are long or many."""
    longest = max((len(number(name)) for name in names(chart, chart.x.column)), default=0)
    many = len(names(chart, chart.x.column)) > ROOM or longest > LONG_NAME
    return {**x["axis"], "labelAngle": LABEL_TURNED if many else 0, "labelLimit": 90}
