"""Dunn's two extremes, exactly: tiles only name the candidates, which are recomputed by difference in float64.

A tile's squared distance is known up to a bound. Whatever in a tile may, within that bound, be smaller than the least
distance so far (or larger than the largest) is computed again without cancellation; records become rare quickly.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from basanite.metrics.representation.pairwise.panels import Plan, Tile
from basanite.metrics.representation.results import Floats, Numbers

CHUNK: Final = 4096


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
            self._farthest(np.where(same, squares, 0.0), start, low, error)

    def _closest(self, squares: Tile, start: int, low: int, error: float) -> None:
        least = float(squares.min())
        if self.gap > 0 and least <= self.gap**2 + error:
            found = self._exact(squares <= min(self.gap**2 + error, least + 2 * error), start, low)
            self.gap = min(self.gap, float(found.min(initial=np.inf)))

    def _farthest(self, squares: Tile, start: int, low: int, error: float) -> None:
        most = float(squares.max())
        if most > 0 and most >= self.diameter**2 - error:
            found = self._exact(squares >= max(self.diameter**2 - error, most - 2 * error), start, low)
            self.diameter = max(self.diameter, float(found.max(initial=0.0)))

    def _exact(self, candidates: Tile, start: int, low: int) -> Floats:
        first, second = np.nonzero(candidates)
        parts = [
            self.plan.exact(first[at : at + CHUNK] + start, second[at : at + CHUNK] + low)
            for at in range(0, len(first), CHUNK)
        ]
        return np.concatenate([*parts, np.empty(0)])
