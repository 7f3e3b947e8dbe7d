"""Dunn's two extremes, exactly: tiles only name the candidates, which are recomputed by difference in float64.

A tile's squared distance is known up to a bound. Whatever in a tile may, within that bound, be smaller than the least
distance so far (or larger than the largest) is computed again without cancellation; records become rare quickly. Where
a whole class lies inside the bound (rows repeated, or nearly), its rows are first multiplied again about one of them.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.representation.pairwise.panels import Plan, Tile
from basanite.metrics.representation.results import Floats, Numbers

CHUNK: Final = 4096
TIED: Final = 1e-13
"""Squared distances that differ by less than this share are as good as each other."""


def rounding(dtype: np.dtype[np.floating], dimensions: int) -> float:
    """Bound on the error of a squared distance made by a product, as a share of the two squared lengths."""
    return float(np.finfo(dtype).eps * 4 * (1 + np.sqrt(dimensions)))


class Extremes:
    """The least distance between classes and the largest inside one, as tiles of squared distances pass by."""

    def __init__(self, plan: Plan, codes: Numbers) -> None:
        self.plan, self.codes = plan, codes
        self.gap, self.diameter = float("inf"), 0.0

    def see(self, squares: Tile, start: int, low: int, scale: float) -> None:
        """Take in a tile of rows from `start` and columns from `low` in class order."""
        rows = self.codes[start : start + len(squares)]
        columns = self.codes[low : low + squares.shape[1]]
        error = rounding(squares.dtype, len(self.plan.centre)) * scale
        if rows[-1] < columns[0]:
            self._closest(squares, start, low, error)
        elif rows[0] == columns[-1]:
            self._farthest(squares, start, low, error)
        else:
            same = rows[:, None] == columns
            self._closest(np.where(same, np.inf, squares), start, low, error)
            self._farthest(np.where(same, squares, -np.inf), start, low, error)

    def _closest(self, squares: Tile, start: int, low: int, error: float) -> None:
        least = float(squares.min())
        if self.gap > 0 and np.isfinite(least) and least <= self.gap**2 + error:
            first, second = np.nonzero(squares <= min(self.gap**2 + error, least + 2 * error))
            about = np.full(len(first), first[0] + start)
            self.gap = min(self.gap, self._exact(first + start, second + low, about, "least"))

    def _farthest(self, squares: Tile, start: int, low: int, error: float) -> None:
        most = float(squares.max())
        if most >= self.diameter**2 - error:
            first, second = np.nonzero(squares >= max(self.diameter**2 - error, most - 2 * error))
            about = self.plan.classes.starts[self.codes[first + start]]
            self.diameter = max(self.diameter, self._exact(first + start, second + low, about, "most"))

    def _exact(self, first: Numbers, second: Numbers, about: Numbers, which: Literal["least", "most"]) -> float:
        """The least or largest distance of some pairs by difference; of many, those a narrower product leaves."""
        while len(first) > CHUNK:
            squares, error = self._about(first, second, about)
            away = squares - squares.min() if which == "least" else squares.max() - squares
            if error == 0:  # every row is the one that they are moved to
                return 0.0
            left = np.flatnonzero(away <= 2 * error)
            if error <= TIED * float(squares.max() if which == "most" else squares.min()):
                left = left[np.argsort(away[left], kind="stable")[:CHUNK]]
            if 2 * len(left) > len(first):
                break
            first, second, about = first[left], second[left], about[left]
        parts = [self.plan.exact(first[at : at + CHUNK], second[at : at + CHUNK]) for at in range(0, len(first), CHUNK)]
        found = np.concatenate(parts)
        return float(found.min() if which == "least" else found.max())

    def _about(self, first: Numbers, second: Numbers, about: Numbers) -> tuple[Floats, float]:
        """Squared distances of pairs whose rows are both moved to one of the rows, and the bound on their error."""
        (left, left_at), (right, right_at) = (self._moved(rows, about) for rows in (first, second))
        lengths, others = (np.einsum("ij,ij->i", side, side) for side in (left, right))
        products = (left @ right.T)[left_at, right_at]
        error = rounding(np.dtype(np.float64), left.shape[1]) * float(lengths.max() + others.max())
        return lengths[left_at] + others[right_at] - 2 * products, error

    def _moved(self, rows: Numbers, about: Numbers) -> tuple[Floats, NDArray[np.intp]]:
        distinct, one, at = np.unique(rows, return_index=True, return_inverse=True)
        return self.plan.apart(distinct, about[one]), at
