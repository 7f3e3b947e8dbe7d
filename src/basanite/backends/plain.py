"""The passes and the sweep in plain PyTorch: on any device, in float32 or float64, without kernels of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import torch

from basanite.backends.card import OnDevice
from basanite.backends.extremes import DistanceSums
from basanite.backends.rounded import Band, Rounded

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
    return replace(found.scaled(1 / ready.scale), squares=ready.squares), ready.band


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
