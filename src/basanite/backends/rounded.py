"""Rows as the sweep multiplies them: centred, rounded to a narrower type, with what that rounding moved.

Lengths are those of the rounded rows, so that a tile holds true distances between points that lie close to the given
ones; by how much at most is known, and is the band inside which Dunn's extremes are recomputed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import torch

from basanite.backends.card import OnDevice

PART: Final = 65536
LARGEST: Final = 2.0**14
"""Coordinates are scaled by a power of two so that the largest is at most this: it fits half precision."""
EPS: Final = {torch.float64: 2.3e-16, torch.float32: 1.2e-7, torch.float16: 1.2e-7, torch.bfloat16: 1.2e-7}
"""Of the sums in a product: narrow types are summed in float32."""


@dataclass(frozen=True)
class Band:
    """How far a distance may be from the true one: by what rounding moved two rows, and by the product's error."""

    moved: float
    square: float

    def least(self, distance: float) -> float:
        """The smallest that the true distance can be."""
        return float(max(distance**2 - self.square, 0.0) ** 0.5) - 2 * self.moved

    def most(self, distance: float) -> float:
        """The largest that the true distance can be."""
        return float((distance**2 + self.square) ** 0.5) + 2 * self.moved


@dataclass(frozen=True)
class Rounded:
    """Rows ready to be multiplied, `[N, d]` or padded to whole tiles."""

    rows: torch.Tensor
    lengths: torch.Tensor
    scale: float
    band: Band
    squares: float
    """The sum of squared distances over all pairs of the rounded rows. The spread of distances is a small difference of
    two large numbers, so its two parts must come from the same points."""

    @classmethod
    def of(cls, data: OnDevice, centre: torch.Tensor, kind: torch.dtype, tile: tuple[int, int] = (1, 1)) -> Rounded:
        """Rows as this type; `tile` pads rows and dimensions to multiples with zeros."""
        count, dimensions = data.rows.shape
        size = (multiple(count, tile[0]), multiple(dimensions, tile[1]))
        made = torch.zeros(size, dtype=kind, device=data.rows.device)
        wide = torch.float64 if kind == torch.float64 else torch.float32
        lengths = torch.zeros(size[0], dtype=wide, device=data.rows.device)
        scale = 1.0 if kind == torch.float64 else _scale(data, centre)
        moved = torch.zeros((), dtype=torch.float64, device=data.rows.device)
        middle, whole = torch.zeros(dimensions, dtype=torch.float64, device=data.rows.device), torch.zeros_like(moved)
        for start, exact in _centred(data, centre):
            some = made[start : start + len(exact), :dimensions]
            some.copy_(_as_multiplied(exact * scale, kind))
            squared = some.double().square().sum(dim=1)
            lengths[start : start + len(exact)] = squared.to(wide)
            whole, middle = whole + squared.sum(), middle + some.double().sum(dim=0)
            moved = torch.maximum(moved, (exact * scale - some.double()).square().sum(dim=1).max())
        error = EPS[kind] * 4 * (1 + float(dimensions) ** 0.5) * float(lengths.max()) * 2
        squares = float(count * whole - middle @ middle) / scale**2
        return cls(made, lengths, scale, Band(float(moved) ** 0.5 / scale, error / scale**2), squares)


def _as_multiplied(rows: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Rows as matrix units take them: a card cuts float32 to the 11 bits of TF32, so we round to them first."""
    if kind != torch.float32 or rows.device.type != "cuda":
        return rows.to(kind)
    bits = rows.to(torch.float32).view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def _scale(data: OnDevice, centre: torch.Tensor) -> float:
    largest = max(float(part.abs().max()) for _, part in _centred(data, centre))
    return 1.0 if largest == 0 else 2.0 ** math.floor(math.log2(LARGEST / largest))


def _centred(data: OnDevice, centre: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    for start in range(0, len(data.rows), PART):
        yield start, data.rows[start : start + PART].double() - centre


def multiple(value: int, of: int) -> int:
    """The least multiple that is not smaller.

    >>> multiple(130, 128)
    256
    """
    return -(-value // of) * of
