"""What a sweep on a device leaves, and Dunn's extremes made exact: tiles name candidates, differences decide.

A tile's distances are those of rows rounded to the type of the product, so a true distance differs by no more than what
rounding moved its two rows, plus the error of the product. Runs of rows whose least (or largest) distance may, within
that band, be the extreme are looked at again in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from basanite.backends.card import OnDevice
from basanite.backends.rounded import Band

LOOK: Final = 1 << 27
"""Numbers of a float64 tile that is looked at again."""


@dataclass(frozen=True)
class DistanceSums:
    """Sums of distances `[K, N]`, and for each run of rows the least squared distance between and largest inside."""

    sums: torch.Tensor
    near: torch.Tensor
    far: torch.Tensor
    run: int
    squares: float = float("nan")
    """The sum of squared distances over all pairs of the same points."""

    @classmethod
    def start(cls, classes: int, rows: int, run: int, device: torch.device) -> DistanceSums:
        """Nothing seen yet."""
        runs = -(-rows // run)
        near = torch.full((runs,), torch.inf, dtype=torch.float64, device=device)
        sums = torch.zeros((classes, rows), dtype=torch.float64, device=device)
        return cls(sums, near, torch.full_like(near, -1.0), run)

    def scaled(self, factor: float) -> DistanceSums:
        """The same with every distance multiplied; a run without pairs of a kind stays so."""
        far = torch.where(self.far < 0, self.far, self.far * factor**2)
        return DistanceSums(self.sums.mul_(factor), self.near * factor**2, far, self.run, self.squares)

    def see(self, square: torch.Tensor, data: OnDevice, across: tuple[int, int], down: tuple[int, int]) -> None:
        """Keep the extremes of a tile of squared distances for its run of rows."""
        at, codes = across[0] // self.run, data.codes
        if data.class_of(across[1] - 1) < data.class_of(down[0]):
            self.near[at] = torch.minimum(self.near[at], square.min().double())
            return
        same = codes[across[0] : across[1], None] == codes[None, down[0] : down[1]]
        self.near[at] = torch.minimum(self.near[at], square.masked_fill(same, torch.inf).min().double())
        self.far[at] = torch.maximum(self.far[at], square.masked_fill(~same, -1.0).max().double())


def exact_gap(data: OnDevice, found: DistanceSums, band: Band) -> float:
    """The least distance between rows of different classes, in float64 by difference."""
    best = float("inf")
    near = found.near.clamp(min=0).sqrt().cpu().numpy()
    for run in np.argsort(near, kind="stable"):
        if band.least(float(near[run])) > best or best == 0:
            break
        best = min(best, _closest(data, int(run) * found.run, found.run))
    return best


def exact_diameter(data: OnDevice, found: DistanceSums, band: Band) -> float:
    """The largest distance inside a class, in float64 by difference."""
    best = 0.0
    found_nothing = (found.far < 0).cpu().numpy()
    far = found.far.clamp(min=0).sqrt().cpu().numpy()
    for run in np.argsort(np.where(found_nothing, 1.0, -far), kind="stable"):
        if found_nothing[run] or band.most(float(far[run])) < best:
            break
        best = max(best, _farthest(data, int(run) * found.run, found.run))
    return best


def _closest(data: OnDevice, start: int, run: int) -> float:
    """The least distance from some rows to later rows of other classes."""
    best = float("inf")
    stop = min(start + run, len(data.rows))
    step = max(1, LOOK // max(stop - start, data.rows.shape[1]))
    for low in range(start, len(data.rows), step):
        high = min(low + step, len(data.rows))
        square = _squares(data.rows[start:stop], data.rows[low:high])
        square[data.codes[start:stop, None] == data.codes[None, low:high]] = torch.inf
        least = float(square.min())
        if least <= best**2 + _slack(data):
            first, second = torch.nonzero(square <= least + 2 * _slack(data), as_tuple=True)
            best = min(best, _by_difference(data, first + start, second + low)[0])
    return best


def _farthest(data: OnDevice, start: int, run: int) -> float:
    """The largest distance from some rows to rows of their own class."""
    best = 0.0
    stop = min(start + run, len(data.rows))
    last = int(data.classes.starts[data.class_of(stop - 1) + 1])
    step = max(1, LOOK // max(stop - start, data.rows.shape[1]))
    for low in range(start, last, step):
        high = min(low + step, last)
        square = _squares(data.rows[start:stop], data.rows[low:high])
        square[data.codes[start:stop, None] != data.codes[None, low:high]] = -1.0
        most = float(square.max())
        if most >= 0:
            first, second = torch.nonzero(square >= most - 2 * _slack(data), as_tuple=True)
            best = max(best, _by_difference(data, first + start, second + low)[1])
    return best


def _squares(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    left, right = first.double(), second.double()
    centre = left.mean(dim=0)
    left, right = left - centre, right - centre
    square = left.square().sum(dim=1)[:, None] + right.square().sum(dim=1)[None, :] - 2 * left @ right.T
    return square.clamp_(min=0)


def _slack(data: OnDevice) -> float:
    """Bound on the error of a squared distance by a float64 product."""
    return float(1e-14 * data.reach * float(data.rows.shape[1]) ** 0.5)


def _by_difference(data: OnDevice, first: torch.Tensor, second: torch.Tensor) -> tuple[float, float]:
    """The least and the largest distance of some pairs, a few at a time."""
    least, most = float("inf"), 0.0
    for at in range(0, len(first), 4096):
        away = data.rows[first[at : at + 4096]].double() - data.rows[second[at : at + 4096]].double()
        distance = torch.linalg.vector_norm(away, dim=1)
        least, most = min(least, float(distance.min())), max(most, float(distance.max()))
    return least, most
