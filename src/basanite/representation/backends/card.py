"""Features on a device in class order, and the tables that kernels need: made once, used by every pass."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
import torch

from basanite.errors import FeaturesError
from basanite.representation.measures.results import Classes, named_rows
from basanite.representation.measures.sums import CURE, Features, shape_of

CHUNK: Final = 256
"""Rows of a chunk of the linear kernels."""
UPLOAD: Final = 1 << 26
"""Numbers that are copied to the device at a time."""


@dataclass(frozen=True)
class OnDevice:
    """Rows in class order on a device, as float32 or float64."""

    rows: torch.Tensor
    classes: Classes

    @cached_property
    def starts(self) -> torch.Tensor:
        """Where each class starts, and the end."""
        return torch.as_tensor(self.classes.starts, device=self.rows.device)

    @cached_property
    def counts(self) -> torch.Tensor:
        """Rows of each class."""
        return torch.as_tensor(self.classes.counts, device=self.rows.device)

    @cached_property
    def codes(self) -> torch.Tensor:
        """The class of each row."""
        return torch.repeat_interleave(torch.arange(len(self.classes), device=self.rows.device), self.counts)

    def class_of(self, row: int) -> int:
        """The class of one row, without asking the device."""
        return int(self.classes.starts.searchsorted(row, "right")) - 1

    @cached_property
    def chunks(self) -> torch.Tensor:
        """First row, last row and class of every chunk."""
        spans = [
            (start, min(start + CHUNK, stop), place)
            for place, (start, stop) in enumerate(pairwise(self.classes.starts.tolist()))
            for start in range(start, stop, CHUNK)
        ]
        return torch.tensor(spans, dtype=torch.int64, device=self.rows.device)


def on_device(features: Features, classes: Classes, device: str) -> OnDevice:
    """Features on a device in class order; a tensor that already exists and in order is taken as it is."""
    rows, dimensions = shape_of(features)
    ordered = bool((np.diff(classes.codes) >= 0).all())
    if isinstance(features, torch.Tensor):
        moved = features.to(device)
        return OnDevice(moved if ordered else moved[torch.as_tensor(classes.order, device=moved.device)], classes)
    probe = np.asarray(features[:1])
    kind = torch.float32 if probe.dtype.itemsize <= 4 and probe.dtype.kind == "f" else torch.float64
    made = torch.empty((rows, dimensions), dtype=kind, device=device)
    step = max(1, UPLOAD // dimensions)
    for start in range(0, rows, step):
        part = np.ascontiguousarray(features[classes.order[start : start + step]])
        if part.dtype.kind != "f" or part.dtype.itemsize not in (4, 8):
            part = part.astype(np.float64)
        made[start : start + len(part)] = torch.from_numpy(part if part.flags.writeable else part.copy()).to(kind)
    return OnDevice(made, classes)


def refuse_infinite(data: OnDevice) -> None:
    """Raise if any row holds nan or inf, naming the rows."""
    bad = torch.nonzero(~torch.isfinite(data.rows).all(dim=1)).flatten().cpu().numpy()
    if bad.size:
        numbers = np.sort(data.classes.order[bad])
        raise FeaturesError(f"nan or infinite features {named_rows(numbers)} {CURE}")


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
        for start, exact in _parts_about(data, centre):
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
    largest = max(float(part.abs().max()) for _, part in _parts_about(data, centre))
    return 1.0 if largest == 0 else 2.0 ** math.floor(math.log2(LARGEST / largest))


def _parts_about(data: OnDevice, centre: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
    for start in range(0, len(data.rows), PART):
        yield start, data.rows[start : start + PART].double() - centre


def multiple(value: int, of: int) -> int:
    """The least multiple that is not smaller.

    >>> multiple(130, 128)
    256
    """
    return -(-value // of) * of
