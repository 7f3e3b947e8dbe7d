"""How the pairwise sweep cuts the rows: panels of whole classes, strips of panels that stay in memory, and pieces.

Rows are counted by their place in class order. A prepared row is centred and carries its own squared length, in two
forms whose product is a squared distance: left [-2x, |x|^2, 1] and right [y, 1, |y|^2].
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.passes import Features
from basanite.metrics.representation.results import Floats, Numbers
from basanite.metrics.representation.spread import scatter
from basanite.metrics.representation.sums import ClassSums

TILE: Final = 512
"""Rows of a panel and of a piece: a tile of float32 is 1 MB and stays in the cache."""
MOST_CLASSES: Final = 64
"""Classes of a panel."""
STRIP_BYTES: Final = 1 << 28
"""Prepared rows that are held in memory at a time."""

Tile = NDArray[Any]


@dataclass(frozen=True)
class Panel:
    """Some whole classes: `first` to `last` (not included), rows `start` to `stop` in class order."""

    first: int
    last: int
    start: int
    stop: int

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The rows a few at a time."""
        for start in range(self.start, self.stop, TILE):
            yield start, min(start + TILE, self.stop)


@dataclass(frozen=True)
class Job:
    """One part of the sweep: the panels of a strip against some panels that do not come before them."""

    strip: tuple[Panel, ...]
    columns: tuple[Panel, ...]


@dataclass(frozen=True)
class Plan:
    """The rows in class order, prepared on demand, and the jobs that make up the sweep."""

    features: Features
    classes: Classes
    centre: Floats
    dtype: np.dtype[Any]
    scale: float = 1.0
    """A power of two that brings distances near 1, so that squares fit any type; sums are scaled back at the end."""

    @classmethod
    def of(cls, features: Features, classes: Classes, sums: ClassSums, precision: str) -> Plan:
        """The plan for features whose linear state is known."""
        size = float(np.sqrt(scatter(sums)[0].sum() / max(sums.rows, 1)))
        return cls(features, classes, sums.centre, np.dtype(precision), 2.0 ** -round(np.log2(size)) if size else 1.0)

    @cached_property
    def panels(self) -> tuple[Panel, ...]:
        """All rows in panels."""
        return tuple(_panels(self.classes))

    def jobs(self, parts: int) -> Iterator[Job]:
        """The sweep in jobs: every pair of panels is in exactly one."""
        for strip in self._strips():
            reached = [panel for panel in self.panels if panel.start >= strip[0].start]
            for part in range(min(parts, len(reached))):
                yield Job(strip, tuple(reached[part::parts]))

    def rows(self, start: int, stop: int) -> Floats:
        """Some rows in class order, centred and scaled, as float64."""
        numbers = self.classes.order[start:stop]
        rows = np.array(self.features[numbers], dtype=np.float64)
        rows -= self.centre
        rows *= self.scale
        return rows

    def apart(self, first: Numbers, second: Numbers) -> Floats:
        """Scaled differences of pairs of rows: no digit is lost to cancellation."""
        order = self.classes.order
        left = np.asarray(self.features[order[first]], dtype=np.float64)
        right = np.asarray(self.features[order[second]], dtype=np.float64)
        return np.asarray((left - right) * self.scale)

    def exact(self, first: Numbers, second: Numbers) -> Floats:
        """Scaled distances between pairs of rows by difference, also where squares would vanish."""
        away = self.apart(first, second)
        largest = np.abs(away).max(axis=1)
        return np.asarray(largest * np.linalg.norm(away / np.where(largest > 0, largest, 1.0)[:, None], axis=1))

    def left(self, start: int, stop: int, dtype: np.dtype[Any] | None = None) -> Tile:
        """Prepared rows of the left form."""
        return self._prepared(start, stop, dtype, left=True)

    def right(self, start: int, stop: int, dtype: np.dtype[Any] | None = None) -> Tile:
        """Prepared rows of the right form."""
        return self._prepared(start, stop, dtype, left=False)

    def _prepared(self, start: int, stop: int, dtype: np.dtype[Any] | None, *, left: bool) -> Tile:
        made = np.empty((stop - start, len(self.centre) + 2), dtype or self.dtype)
        for at in range(start, stop, TILE):
            rows = self.rows(at, min(at + TILE, stop))
            some = made[at - start : at - start + len(rows)]
            squares = np.einsum("ij,ij->i", rows, rows)
            np.multiply(rows, -2.0 if left else 1.0, out=some[:, :-2], casting="unsafe")
            some[:, -2], some[:, -1] = (squares, 1.0) if left else (1.0, squares)
        return made

    def _strips(self) -> Iterator[tuple[Panel, ...]]:
        most = max(TILE, STRIP_BYTES // ((len(self.centre) + 2) * self.dtype.itemsize))
        strip: list[Panel] = []
        for panel in self.panels:
            if strip and panel.stop - strip[0].start > most:
                yield tuple(strip)
                strip = []
            strip.append(panel)
        yield tuple(strip)


def _panels(classes: Classes) -> Iterator[Panel]:
    """Whole classes up to a tile's rows; a larger class is a panel of its own."""
    starts = classes.starts.tolist()
    first = 0
    for place in range(1, len(classes)):
        if starts[place + 1] - starts[first] > TILE or place - first >= MOST_CLASSES:
            yield Panel(first, place, starts[first], starts[place])
            first = place
    yield Panel(first, len(classes), starts[first], starts[-1])


@dataclass
class Strip:
    """The prepared rows of a strip, left form: held if they fit, else prepared again piece by piece."""

    plan: Plan
    panels: tuple[Panel, ...]

    def __post_init__(self) -> None:
        start, stop = self.panels[0].start, self.panels[-1].stop
        size = (stop - start) * (len(self.plan.centre) + 2) * self.plan.dtype.itemsize
        self._start = start
        self._held = self.plan.left(start, stop) if size <= STRIP_BYTES * 2 else None

    def left(self, start: int, stop: int) -> Tile:
        """Some rows of the strip in left form."""
        if self._held is None:
            return self.plan.left(start, stop)
        return self._held[start - self._start : stop - self._start]

    def right(self, panel: Panel) -> Column:
        """The rows of a panel in right form, made from those held where they are."""
        if panel.stop - panel.start > STRIP_BYTES // (8 * (len(self.plan.centre) + 2)):
            return Column(self.plan, panel, None)
        if self._held is None or panel not in self.panels:
            return Column(self.plan, panel, self.plan.right(panel.start, panel.stop))
        left = self.left(panel.start, panel.stop)
        turned = np.empty_like(left)
        np.multiply(left[:, :-2], -0.5, out=turned[:, :-2])
        turned[:, -2], turned[:, -1] = left[:, -1], left[:, -2]
        return Column(self.plan, panel, turned)


@dataclass(frozen=True)
class Column:
    """A panel that meets all panels of a strip."""

    plan: Plan
    panel: Panel
    held: Tile | None

    def right(self, start: int, stop: int) -> Tile:
        """Some of its rows in right form."""
        if self.held is None:
            return self.plan.right(start, stop)
        return self.held[start - self.panel.start : stop - self.panel.start]
