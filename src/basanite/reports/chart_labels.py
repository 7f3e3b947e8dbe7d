"""Where labels inside a chart stand: beside the point they name, off the curves and off each other.

A chart is drawn at many widths, and an estimate has to serve all of them: every label is tried at the width of a
phone and of a desk. Places are counted in pixels from the top left corner of the plot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

LETTER = 7.0
"""The width of a letter of a label, a little more than the average one."""
LINE = 13.0
PLOT_WIDTHS = (240.0, 600.0)
"""What is left for the plot on a phone and on a desk, beside the labels of the axis."""
GAP = 9.0
Align = Literal["left", "right", "center"]


class Fraction(NamedTuple):
    """A point in the plot: 0 to 1 from the left, and 0 to 1 from the top."""

    x: float
    y: float


class Spot(NamedTuple):
    """A place for a label: the point it hangs on, the side it lies on, and how far from the point."""

    anchor: Fraction
    align: Align
    dx: float
    dy: float


class Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """The common area of both."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


@dataclass(frozen=True)
class Label:
    """A text with the points that it may hang on, the best first."""

    text: str
    anchors: Sequence[Fraction]
    shifts: Sequence[float] = (-GAP, GAP + 2, -GAP - LINE, GAP + 2 + LINE, -GAP - 2 * LINE, GAP + 2 + 2 * LINE)

    def spots(self) -> Iterable[Spot]:
        """Every place that it may take."""
        for anchor in self.anchors:
            for dy in self.shifts:
                sides: tuple[Align, ...] = (
                    ("left", "right", "center") if anchor.x < 0.5 else ("right", "left", "center")
                )
                for align in sides:
                    yield Spot(anchor, align, {"left": GAP, "right": -GAP, "center": 0.0}[align], dy)


def placed_labels(labels: Sequence[Label], height: float, obstacles: Sequence[Fraction]) -> list[Spot]:
    """A place for each label, in their order: the one that covers least of what already exists.

    >>> near = Fraction(0.9, 0.5)
    >>> [spot.dy for spot in placed_labels([Label("first", [near]), Label("second", [near])], 320, [])]
    [-9.0, 11.0]
    """
    taken: list[tuple[Box, ...]] = []
    found = []
    for label in labels:
        spot = min(label.spots(), key=lambda one: _cost(one, label.text, height, obstacles, taken))
        taken.append(tuple(_box(spot, label.text, width, height) for width in PLOT_WIDTHS))
        found.append(spot)
    return found


def _box(spot: Spot, text: str, width: float, height: float) -> Box:
    long = LETTER * len(text)
    at = spot.anchor.x * width + spot.dx
    left = at - {"left": 0.0, "center": long / 2, "right": long}[spot.align]
    middle = spot.anchor.y * height + spot.dy
    return Box(left, middle - LINE / 2, left + long, middle + LINE / 2)


def _cost(
    spot: Spot, text: str, height: float, obstacles: Sequence[Fraction], taken: Sequence[tuple[Box, ...]]
) -> float:
    """What a place would cover: other labels weigh most, then the edge of the plot, then points of curves."""
    cost = 0.0
    for number, width in enumerate(PLOT_WIDTHS):
        box = _box(spot, text, width, height)
        area = (box.right - box.left) * (box.bottom - box.top)
        inside = box.overlap(Box(0.0, -LINE, width, height + LINE))  # a little above and below is still in the drawing
        cost += 6 * (area - inside) / LINE + 4 * sum(box.overlap(boxes[number]) for boxes in taken) / LINE
        cost += 2 * sum(
            box.left - 3 < point.x * width < box.right + 3 and box.top < point.y * height < box.bottom
            for point in obstacles
        )
    return cost
