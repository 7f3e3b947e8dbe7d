"""Launching the Triton kernels: linear passes in one read each, and the sweep with its tiles kept in registers.

The sweep multiplies rows rounded to half precision, scaled into its range: 11 bits, as TF32 has, at twice its rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from basanite.backends import triton_kernels as kernels
from basanite.backends.card import OnDevice
from basanite.backends.extremes import DistanceSums
from basanite.backends.rounded import Band, Rounded, multiple
from basanite.errors import FeaturesError


@dataclass(frozen=True)
class LinearShape:
    """How a linear kernel is launched; the usual ones were the fastest on the card that the benchmark ran on."""

    rows: int = 8
    warps: int = 8


@dataclass(frozen=True)
class TileShape:
    """How the sweep's kernel is launched."""

    rows: int = 128
    columns: int = 128
    depth: int = 64
    warps: int = 4
    stages: int = 3
    strip: int = 64
    """Row tiles of one launch: their rows stay in the card's cache."""
    kind: torch.dtype = torch.float16


def linear_sums(
    data: OnDevice, shift: torch.Tensor, *, wide: bool = False, shape: LinearShape | None = None
) -> tuple[torch.Tensor, ...]:
    """Sums of unit vectors, shifted rows and squares `[K, d]`, and counts of each chunk `[chunks, 3]`."""
    chosen = shape or LinearShape()
    size = (len(data.classes), data.rows.shape[1])
    unit, sums, squares = torch.zeros((3, *size), dtype=torch.float64, device=data.rows.device).unbind()
    counted = torch.empty((len(data.chunks), 3), dtype=torch.int32, device=data.rows.device)
    kernels.class_sums[(len(data.chunks),)](
        data.rows,
        shift.to(torch.float64 if wide else torch.float32),
        data.chunks,
        unit,
        sums,
        squares,
        counted,
        size[1],
        data.rows.stride(0),
        ROWS=chosen.rows,
        WIDTH=_power(size[1]),
        WIDE=wide,
        num_warps=chosen.warps,
    )
    return unit, sums, squares, counted


def radii_sums(
    data: OnDevice, centres: torch.Tensor, *, wide: bool = False, shape: LinearShape | None = None
) -> torch.Tensor:
    """For each class the sum of distances to its centroid, that of their squares, and the largest: `[3, K]`."""
    chosen = shape or LinearShape(rows=2)
    dimensions = data.rows.shape[1]
    chunked = torch.empty((len(data.chunks), 3), dtype=torch.float64, device=data.rows.device)
    kernels.class_radii[(len(data.chunks),)](
        data.rows,
        centres.to(torch.float64 if wide else torch.float32),
        data.chunks,
        chunked,
        dimensions,
        data.rows.stride(0),
        ROWS=chosen.rows,
        WIDTH=_power(dimensions),
        WIDE=wide,
        num_warps=chosen.warps,
    )
    places = data.chunks[:, 2]
    found = torch.zeros((3, len(data.classes)), dtype=torch.float64, device=data.rows.device)
    found[:2].index_add_(1, places, chunked[:, :2].T)
    found[2].scatter_reduce_(0, places, chunked[:, 2], "amax")
    return found


def distance_sums(data: OnDevice, centre: torch.Tensor, *, shape: TileShape | None = None) -> tuple[DistanceSums, Band]:
    """The sum of distances from every row to every class `[K, N]`, each distance computed once, and its band."""
    chosen = shape or TileShape()
    count, tall = len(data.rows), max(chosen.rows, chosen.columns)
    _refuse_too_large(multiple(count, tall) * len(data.classes) * 4, data.rows.device)
    ready = Rounded.of(data, centre, chosen.kind, (tall, chosen.depth))
    codes = torch.full((len(ready.rows),), len(data.classes), dtype=torch.int32, device=data.rows.device)
    codes[:count] = data.codes
    runs = -(-count // chosen.rows)
    sums = torch.zeros((len(data.classes), len(ready.rows)), dtype=torch.float32, device=data.rows.device)
    near = torch.full((runs,), torch.inf, dtype=torch.float32, device=data.rows.device)
    far = torch.full_like(near, -1.0)
    for first in range(0, runs, chosen.strip):
        last = min(first + chosen.strip, runs)
        _launch(ready, codes, sums, near[first:last], far[first:last], first, count, chosen)
    found = DistanceSums(sums[:, :count], near.double(), far.double(), chosen.rows, ready.squares)
    return found.scaled(1 / ready.scale), ready.band


def _launch(
    ready: Rounded,
    codes: torch.Tensor,
    sums: torch.Tensor,
    near: torch.Tensor,
    far: torch.Tensor,
    first: int,
    count: int,
    shape: TileShape,
) -> None:
    """A strip of row tiles against every column tile that is not below all of them."""
    tiles = len(near)
    start = first * shape.rows // shape.columns * shape.columns
    columns = -(-(count - start) // shape.columns)
    least = torch.full((columns, tiles), torch.inf, dtype=torch.float32, device=sums.device)
    most = torch.full_like(least, -1.0)
    kernels.pair_tiles[(tiles * columns,)](
        ready.rows,
        ready.lengths,
        codes,
        sums,
        least,
        most,
        count,
        len(ready.rows),
        ready.rows.shape[1],
        first,
        tiles,
        start,
        ROWS=shape.rows,
        COLUMNS=shape.columns,
        DEPTH=shape.depth,
        num_warps=shape.warps,
        num_stages=shape.stages,
    )
    near.copy_(least.amin(dim=0))
    far.copy_(most.amax(dim=0))


def _refuse_too_large(needed: int, device: torch.device) -> None:
    free, _ = torch.cuda.mem_get_info(device)
    if needed > 0.8 * free:
        raise FeaturesError(
            f"The sweep needs {needed >> 30} GiB on the card, one number for each row and class, and "
            f"{free >> 30} GiB are free. Use the NumPy backend, or fewer rows."
        )


def _power(value: int) -> int:
    return 1 << max(value - 1, 1).bit_length()
