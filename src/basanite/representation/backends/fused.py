"""Launching the Triton kernels: linear passes in one read each, and the sweep with its tiles kept in registers.

The sweep multiplies rows rounded to half precision, scaled into its range: 11 bits, as TF32 has, at twice its rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from basanite.errors import FeaturesError
from basanite.representation.backends import triton_kernels as kernels
from basanite.representation.backends.card import Band, OnDevice, Rounded, multiple
from basanite.representation.backends.plain import DistanceSums
from basanite.representation.measures.ferm import NOTHING, CosineTerms, cosine_values, ratios
from basanite.representation.measures.results import Floats


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
        part = slice(first, min(first + chosen.strip, runs))
        _launch(ready, codes, sums, _Strip(first, count, near[part], far[part]), chosen)
    found = DistanceSums(sums[:, :count], near.double(), far.double(), chosen.rows, ready.squares)
    return found.times(1 / ready.scale), ready.band


@dataclass(frozen=True)
class _Strip:
    """Some row tiles: the first of them, how many rows there are in all, and where their least and most go."""

    first: int
    count: int
    near: torch.Tensor
    far: torch.Tensor


def _launch(ready: Rounded, codes: torch.Tensor, sums: torch.Tensor, strip: _Strip, shape: TileShape) -> None:
    """A strip of row tiles against every column tile that is not below all of them."""
    tiles = len(strip.near)
    start = strip.first * shape.rows // shape.columns * shape.columns
    columns = -(-(strip.count - start) // shape.columns)
    least = torch.full((columns, tiles), torch.inf, dtype=torch.float32, device=sums.device)
    most = torch.full_like(least, -1.0)
    kernels.pair_tiles[(tiles * columns,)](
        ready.rows,
        ready.lengths,
        codes,
        sums,
        least,
        most,
        strip.count,
        len(ready.rows),
        ready.rows.shape[1],
        strip.first,
        tiles,
        start,
        ROWS=shape.rows,
        COLUMNS=shape.columns,
        DEPTH=shape.depth,
        num_warps=shape.warps,
        num_stages=shape.stages,
    )
    strip.near.copy_(least.amin(dim=0))
    strip.far.copy_(most.amax(dim=0))


def _refuse_too_large(needed: int, device: torch.device) -> None:
    free, _ = torch.cuda.mem_get_info(device)
    if needed > 0.8 * free:
        raise FeaturesError(
            f"The sweep needs {needed >> 30} GiB on the card, one number for each row and class, and "
            f"{free >> 30} GiB are free. Use the NumPy backend, or fewer rows."
        )


def _power(value: int) -> int:
    return 1 << max(value - 1, 1).bit_length()


@dataclass(frozen=True)
class Summary:
    """The values of the linear measures, and how many rows float32 could not be trusted with."""

    values: dict[str, float]
    odd: int


def summarize_linear(
    data: OnDevice, state: tuple[torch.Tensor, ...], radii: torch.Tensor, odd: torch.Tensor
) -> Summary:
    """The values of the linear measures from their state on the device, by one copy to the host."""
    unit, sums, squares, zeros = state
    counts = data.counts.double()
    by_class = torch.stack([*_cosine_terms(unit, counts, zeros), _worst(sums / counts[:, None], radii[0] / counts)])
    whole = torch.stack([*_cosine_totals(unit, counts), *_scatter(sums, squares, counts), odd.double()])
    figures = torch.cat([by_class.flatten(), whole]).cpu().numpy()
    split = by_class.numel()
    return Summary(_values(figures[:split].reshape(by_class.shape), figures[split:-1], data), int(figures[-1]))


def _cosine_terms(unit: torch.Tensor, counts: torch.Tensor, zeros: torch.Tensor) -> tuple[torch.Tensor, ...]:
    square = unit.square().sum(dim=1)
    return square - (counts - zeros), unit @ unit.sum(dim=0) - square, square


def _cosine_totals(unit: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    lengths = torch.linalg.vector_norm(unit, dim=1)
    inverse = torch.where(lengths > NOTHING * counts, 1 / lengths, 0.0)
    means, directions, whole = (1 / counts) @ unit, inverse @ unit, unit.sum(dim=0)
    return means @ means, means @ directions, directions @ directions, whole @ whole


def _scatter(sums: torch.Tensor, squares: torch.Tensor, counts: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """T, B, and the mean over live features of sqrt(BSS / TSS)."""
    rows = counts.sum()
    middle = sums.sum(dim=0).square() / rows
    features = squares.sum(dim=0)
    total = (features - middle).clamp(min=0)
    between = torch.minimum((sums.square() / counts[:, None]).sum(dim=0) - middle, total).clamp(min=0)
    live = total > 1e-14 * features
    roots = torch.where(live, between / total, 0.0).sqrt().sum() / live.sum()
    return total.sum(), between.sum(), roots


def _worst(centres: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """For each class the largest (e_i + e_j) / |c_i - c_j|."""
    moved = centres - centres.mean(dim=0)
    square = moved.square().sum(dim=1)
    apart = (square[:, None] + square[None, :] - 2 * moved @ moved.T).clamp(min=0).sqrt()
    apart.fill_diagonal_(torch.inf)
    return ((sizes[:, None] + sizes[None, :]) / apart).amax(dim=1)


def _values(by_class: Floats, whole: Floats, data: OnDevice) -> dict[str, float]:
    counts = data.classes.counts.astype(np.float64)
    inside, outside, squares, worst = by_class
    means, crossed, directions, everything, total, between, roots = whole
    terms = CosineTerms(
        counts,
        counts * (counts - 1),
        inside,
        outside,
        squares,
        *map(np.asarray, (means, crossed, directions, everything)),
    )
    values = {name: float(value) for name, value in cosine_values(ratios(terms)).items()}
    classes, rows = len(counts), float(counts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        values |= {
            "calinski_harabasz": float((between / (classes - 1)) / ((total - between) / (rows - classes))),
            "rs": float(between / total),
            "c_root_k": float(roots / np.sqrt(classes)),
            "davies_bouldin": float(worst.mean()),
        }
    return values
