"""The passes and the sweep in plain PyTorch: on any device, in float32 or float64, without kernels of our own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch

from basanite.representation.backends.card import Band, OnDevice, Rounded

LOOK: Final = 1 << 27
"""Numbers of a float64 tile that is looked at again."""

MANY: Final = 1 << 16
TIED: Final = 1e-12
"""Squared distances that differ by less than this share are as good as each other."""


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

    def times(self, factor: float) -> DistanceSums:
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
    left = data.rows[start:stop].double()
    for low, high in _looks(data, start, stop, len(data.rows)):
        centre = left.mean(dim=0)
        square, slack = _squares(left - centre, data.rows[low:high].double() - centre)
        square.masked_fill_(data.codes[start:stop, None] == data.codes[None, low:high], torch.inf)
        least = float(square.min())
        if math.isfinite(least) and least - slack <= best**2:
            best = min(best, _by_difference(data, _some(square <= least + 2 * slack, slack, least), start, low)[0])
    return best


def _farthest(data: OnDevice, start: int, run: int) -> float:
    """The largest distance from some rows to rows of their own class, all moved to the first row of their class.

    About the middle of all, rows of a class that is nearly a point would differ by less than the product can tell.
    """
    best = 0.0
    stop = min(start + run, len(data.rows))
    last = int(data.classes.starts[data.class_of(stop - 1) + 1])
    left = _from_first(data, start, stop)
    for low, high in _looks(data, start, stop, last):
        square, slack = _squares(left, _from_first(data, low, high))
        square.masked_fill_(data.codes[start:stop, None] != data.codes[None, low:high], -torch.inf)
        most = float(square.max())
        if slack > 0 and most + slack >= best**2 and math.isfinite(most):  # without slack all rows are the first ones
            best = max(best, _by_difference(data, _some(square >= most - 2 * slack, slack, most), start, low)[1])
    return best


def _looks(data: OnDevice, start: int, stop: int, last: int) -> Iterator[tuple[int, int]]:
    """The columns that some rows are looked at with, as many at a time as fit."""
    step = max(1, LOOK // max(stop - start, data.rows.shape[1]))
    yield from ((low, min(low + step, last)) for low in range(start, last, step))


def _from_first(data: OnDevice, start: int, stop: int) -> torch.Tensor:
    return data.rows[start:stop].double() - data.rows[data.starts[data.codes[start:stop]]].double()


def _squares(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, float]:
    """Squared distances by a float64 product, and a bound on their error."""
    lengths, others = left.square().sum(dim=1), right.square().sum(dim=1)
    square = lengths[:, None] + others[None, :] - 2 * left @ right.T
    return square, float(1e-14 * (lengths.max() + others.max())) * float(left.shape[1]) ** 0.5


def _some(candidates: torch.Tensor, slack: float, extreme: float) -> torch.Tensor:
    """The places of the candidates; of very many that are as good as each other, some."""
    places = torch.nonzero(candidates)
    return places[:MANY] if slack <= TIED * extreme else places


def _by_difference(data: OnDevice, places: torch.Tensor, start: int, low: int) -> tuple[float, float]:
    """The least and the largest distance of some pairs, a few at a time; also where squares would vanish."""
    least, most = float("inf"), 0.0
    first, second = places.unbind(dim=1)
    for at in range(0, len(first), 4096):
        one, other = first[at : at + 4096] + start, second[at : at + 4096] + low
        away = data.rows[one].double() - data.rows[other].double()
        largest = away.abs().amax(dim=1)
        scaled = away / torch.where(largest > 0, largest, 1.0)[:, None]
        distance = largest * torch.linalg.vector_norm(scaled, dim=1)
        least, most = min(least, float(distance.min())), max(most, float(distance.max()))
    return least, most


BLOCK: Final = 1 << 26
"""Numbers worked on at a time in the linear passes."""
TILE: Final = {"cuda": 8192, "cpu": 1024}
"""Rows and columns of a tile."""


def linear_sums(data: OnDevice, shift: torch.Tensor, *, moments: bool) -> tuple[torch.Tensor, ...]:
    """Sums of unit vectors, of shifted rows and of their squares `[K, d]`, and zero rows `[K]`, in float64."""
    size = (len(data.classes), data.rows.shape[1])
    unit, sums, squares = (torch.zeros(size, dtype=torch.float64, device=data.rows.device) for _ in range(3))
    zeros = torch.zeros(size[0], dtype=torch.int64, device=data.rows.device)
    for start, block in _blocks(data):
        codes = data.codes[start : start + len(block)]
        largest = block.abs().amax(dim=1, keepdim=True)
        scaled = block / torch.where(largest > 0, largest, 1.0)  # so that squares neither overflow nor vanish
        lengths = torch.linalg.vector_norm(scaled, dim=1, keepdim=True)
        zeros.index_add_(0, codes, (largest == 0).flatten().long())
        unit.index_add_(0, codes, scaled / torch.where(lengths > 0, lengths, 1.0))
        if moments:
            moved = block - shift
            sums.index_add_(0, codes, moved)
            squares.index_add_(0, codes, moved.square())
    return unit, sums, squares, zeros


def radii_sums(data: OnDevice, centres: torch.Tensor) -> torch.Tensor:
    """For each class the sum of distances to its centroid, that of their squares, and the largest: `[3, K]`."""
    found = torch.zeros((3, len(data.classes)), dtype=torch.float64, device=data.rows.device)
    for start, block in _blocks(data):
        codes = data.codes[start : start + len(block)]
        distances = torch.linalg.vector_norm(block - centres[codes], dim=1)
        found[0].index_add_(0, codes, distances)
        found[1].index_add_(0, codes, distances.square())
        found[2].scatter_reduce_(0, codes, distances, "amax")
    return found


def distance_sums(data: OnDevice, centre: torch.Tensor, *, kind: torch.dtype) -> tuple[DistanceSums, Band]:
    """The sum of distances from every row to every class `[K, N]`, each distance computed once, and its band."""
    ready = Rounded.of(data, centre, kind)
    count, tile = len(ready.rows), TILE[ready.rows.device.type]
    found = DistanceSums.start(len(data.classes), count, tile, ready.rows.device)
    with _fast_products():
        for low in range(0, count, tile):
            for start in range(0, low + 1, tile):
                _tile(data, ready, found, (start, min(start + tile, count)), (low, min(low + tile, count)))
    return replace(found.times(1 / ready.scale), squares=ready.squares), ready.band


def _tile(data: OnDevice, ready: Rounded, found: DistanceSums, across: tuple[int, int], down: tuple[int, int]) -> None:
    """The distances between two runs of rows, and what they give to both."""
    first, second = slice(*across), slice(*down)
    rows, lengths = ready.rows, ready.lengths
    square = rows[first] @ rows[second].T
    square.mul_(-2).add_(lengths[first, None]).add_(lengths[None, second]).clamp_(min=0)
    if across == down:
        square.fill_diagonal_(0)
    found.see(square, data, across, down)
    distance = square.sqrt_()
    for place, low, high in _runs(data, down):
        found.sums[place, first] += distance[:, low - down[0] : high - down[0]].sum(dim=1, dtype=torch.float64)
    if across != down:
        for place, low, high in _runs(data, across):
            found.sums[place, second] += distance[low - across[0] : high - across[0]].sum(dim=0, dtype=torch.float64)


def _runs(data: OnDevice, span: tuple[int, int]) -> Iterator[tuple[int, int, int]]:
    """The classes of a run of rows, and where each lies in it."""
    starts = data.classes.starts
    for place in range(data.class_of(span[0]), len(data.classes)):
        low, high = max(int(starts[place]), span[0]), min(int(starts[place + 1]), span[1])
        if low >= span[1]:
            return
        yield place, low, high


def _blocks(data: OnDevice) -> Iterator[tuple[int, torch.Tensor]]:
    step = max(1, BLOCK // data.rows.shape[1])
    for start in range(0, len(data.rows), step):
        yield start, data.rows[start : start + step].double()


@contextmanager
def _fast_products() -> Iterator[None]:
    """Let the card's matrix units take float32 products (TF32) while the sweep runs, and only then."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
