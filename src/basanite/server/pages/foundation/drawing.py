"""Charts in a page: still SVG made on the server, with a table of what they draw and a sentence that says it (P-33)."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

from markupsafe import Markup

from basanite.figures import Chart, Table
from basanite.reports.drawing import charts

KEPT = 256


@dataclass(frozen=True)
class Drawn:
    """A chart as a page needs it."""

    anchor: str
    title: str
    summary: str
    picture: Markup
    shape: str
    table: Table


def drawn(chart: Chart) -> Drawn:
    """A chart ready to be shown; drawn once for each content."""
    key = hashlib.sha256(repr(chart).encode()).hexdigest()[:12]
    picture = _picture(_Keyed(key, chart))
    return Drawn(f"chart-{key}", chart.title, chart.summary, picture, charts.shape(chart), chart.data)


class _Keyed:
    """A chart that is known by its content, so that it can be looked up."""

    def __init__(self, key: str, chart: Chart) -> None:
        self.key, self.chart = key, chart

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and other.key == self.key


@functools.lru_cache(maxsize=KEPT)
def _picture(keyed: _Keyed) -> Markup:
    """The picture itself is silent: its title and its table speak for it (P-33)."""
    drawing = charts.svg(keyed.chart, prefix=f"c{keyed.key}")
    return Markup(drawing.replace("<svg ", '<svg aria-hidden="true" ', 1))
