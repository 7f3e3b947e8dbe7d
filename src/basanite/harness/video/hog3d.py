"""Into which bins a gradient in space and time falls: faces of an icosahedron, or azimuth and elevation.

Every way keeps the gradient's size: the weights of its bins have it as their norm (icosahedron) or their sum (polar).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float32]

GOLDEN: Final = (1 + 5**0.5) / 2
CUT: Final = 5**0.5 / 3
"""The cosine between neighbouring normals (0.7453…): a gradient along one normal counts for that normal alone."""


def icosahedron() -> NDArray[np.float64]:
    """The 20 unit normals of an icosahedron's faces (the corners of a dodecahedron), each followed by its opposite.

    >>> icosahedron().shape, bool(np.allclose(icosahedron()[::2], -icosahedron()[1::2]))
    ((20, 3), True)
    """
    corners = [(x, y, 1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    for sign in (-1, 1):
        corners += [(0.0, sign / GOLDEN, GOLDEN), (sign / GOLDEN, GOLDEN, 0.0), (GOLDEN, 0.0, sign / GOLDEN)]
    half = np.array(corners) / 3**0.5
    return np.stack([half, -half], axis=1).reshape(20, 3)


@dataclass(frozen=True)
class Binning:
    """One way to put gradients `[3 (x, y, t), …]` into bins: `[bins, …]`.

    Every way is continuous: gradients that hardly differ have weights that hardly differ, or rounding would decide.
    """

    bins: int
    weights: Callable[[Floats], Floats]


def faces(*, half: bool = False) -> Binning:
    """By the faces of an icosahedron; `half` takes opposite directions for one."""
    normals = icosahedron()[::2].astype(np.float32)

    def weights(gradients: Floats) -> Floats:
        flat = gradients.reshape(3, -1)
        along: Floats = normals @ flat
        size = np.sqrt((flat * flat).sum(axis=0))
        strength = np.abs(along)
        strength -= np.float32(CUT) * size
        np.maximum(strength, 0, out=strength)
        left = np.sqrt(np.einsum("ij,ij->j", strength, strength))
        strength *= np.divide(size, left, out=np.zeros_like(size), where=left > 0)
        found = strength if half else _both_ways(strength, along)
        return found.reshape(-1, *gradients.shape[1:])

    return Binning(len(normals) * (1 if half else 2), weights)


def _both_ways(strength: Floats, along: Floats) -> Floats:
    """Strength along pairs of opposite normals, each for the one that the gradient points to."""
    found = np.empty((len(strength), 2, strength.shape[1]), np.float32)
    np.multiply(strength, along > 0, out=found[:, 0])
    np.subtract(strength, found[:, 0], out=found[:, 1])
    return found


def polar(azimuths: int = 5, elevations: int = 3) -> Binning:
    """By azimuth in the picture and elevation towards time, shared between neighbouring bins.

    Opposite directions are one, so the azimuth goes half round, and beyond its end it begins again with the elevation
    upside down. A gradient purely in time has no azimuth: from the middle of the outermost elevations on, more and more
    of it is spread over all bins around the pole.
    """

    def weights(gradients: Floats) -> Floats:
        x, y, t = gradients
        flat = np.sqrt(x * x + y * y)
        turned = np.where((y < 0) | ((y == 0) & (x < 0)), np.float32(-1), np.float32(1))
        azimuth = np.arctan2(turned * y, turned * x) * np.float32(azimuths / np.pi) - np.float32(0.5)
        elevation = np.arctan2(turned * t, flat) * np.float32(elevations / np.pi) + np.float32((elevations - 1) / 2)
        size = np.sqrt(flat * flat + t * t)
        pole = 2 * np.maximum(np.maximum(-elevation, elevation - (elevations - 1)), 0)
        around = [size * (1 - pole) * _near(elevation.clip(0, elevations - 1), at) for at in range(elevations)]
        found = _spread_over_bins(azimuth, around, azimuths)
        found[:, [0, -1]] += size * pole / (2 * azimuths)
        return found.reshape(-1, *gradients.shape[1:])

    return Binning(azimuths * elevations, weights)


def _spread_over_bins(azimuth: Floats, around: list[Floats], azimuths: int) -> Floats:
    """The part of every elevation, divided between the two azimuths beside it by nearness: `[azimuths, elevations, …]`;
    the one before the first is the last upside down, and the one after the last is the first."""
    found = np.empty((azimuths, len(around), *azimuth.shape), np.float32)
    beyond = {azimuths - 1: _near(azimuth, -1), 0: _near(azimuth, azimuths)}
    for place, near in enumerate(_near(azimuth, at) for at in range(azimuths)):
        for height, part in enumerate(around):
            np.multiply(part, near, out=found[place, height])
            if place in beyond:
                found[place, height] += beyond[place] * around[-1 - height]
    return found


def _near(places: Floats, middle: int) -> Floats:
    """How near places are to a bin's middle: 1 there, and 0 at the next one."""
    found: Floats = np.maximum(1 - np.abs(places - np.float32(middle)), 0)
    return found


Doubles = NDArray[np.float64]

Video = NDArray[Any]


@dataclass(frozen=True)
class Preset:
    """How boxes are laid and described."""

    size: float
    """Width and height of the smallest box, in pixels."""
    length: float
    """Frames of the shortest box."""
    cells: tuple[int, int]
    """Cells along each side of a box, and along time."""
    blocks: int
    """Sub-blocks along every side of a cell."""
    binning: Binning
    scaled: Literal["box", "cell"] = "box"
    """What is made a unit vector."""
    faintest: float = 0.0
    """Boxes whose vector is shorter than this, before, are left out."""
    widths: int = 8
    """Scales in space, each √2 times the one before."""
    lengths: int = 2
    """Scales in time."""

    @property
    def dimensions(self) -> int:
        """Numbers that describe a box."""
        return self.cells[0] ** 2 * self.cells[1] * self.binning.bins


PRESETS: Final[Mapping[str, Preset]] = {
    "wang2009": Preset(18, 10, (4, 3), 3, faces()),
    "tool-hollywood2": Preset(24, 12, (2, 5), 4, polar(), scaled="cell", faintest=0.1),
}


FLAT: Final = 1e-3
"""Grey levels: what is shorter than this is the rounding of sums, not a gradient."""


CACHED: Final = 16_384
"""Sub-blocks that are put into bins at a time: their weights stay in the processor's cache."""


class Described(NamedTuple):
    """Boxes of one scale that begin at the same frame: their middles `[boxes, 3]` (x, y, t) and descriptors."""

    places: Floats
    descriptors: Floats


@dataclass(frozen=True)
class Axis:
    """Boxes along one axis: where they begin, and how large one is."""

    starts: Doubles
    size: float

    @classmethod
    def of(cls, extent: int, size: float) -> Axis:
        """As many boxes as fit, each half a box after the one before; none if not even one fits."""
        count = int(np.floor((extent - size) / (size / 2) + 1e-9)) + 1 if size <= extent else 0
        return cls(np.arange(count, dtype=np.float64) * (size / 2), size)

    def edges(self, parts: int) -> Doubles:
        """The borders of a box's parts, for every box: `[boxes, parts + 1]`."""
        return self.starts[:, None] + np.arange(parts + 1) * (self.size / parts)

    def grid(self, parts: int) -> Doubles:
        """The borders of all parts of all boxes, where half a box is a whole number of parts."""
        return np.arange((len(self.starts) + 1) * parts // 2 + 1, dtype=np.float64) * (self.size / parts)


def hog3d(video: Video, preset: str | Preset = "wang2009") -> Described:
    """Middles and descriptors of all boxes of a clip `[frames, rows, columns]`.

    >>> hog3d(np.zeros((60, 160, 300), np.uint8), PRESETS["wang2009"])[1].shape
    (16938, 960)
    """
    found = list(describe_clip(video, preset))
    size = _chosen(preset).dimensions
    none = Described(np.zeros((0, 3), np.float32), np.zeros((0, size), np.float32))
    return Described(*(np.concatenate(parts) for parts in zip(none, *found, strict=True)))


def describe_clip(video: Video, preset: str | Preset = "wang2009") -> Iterator[Described]:
    """The boxes of a clip, some at a time: those of a long clip would not fit into memory."""
    chosen = _chosen(preset)
    if min(video.shape) < 2:
        return
    slopes = gradients(video)
    for wide in range(chosen.widths):
        if grid := _Grid.of(slopes, chosen, 2 ** (wide / 2)):
            for long in range(chosen.lengths):
                yield from grid.through(Axis.of(len(video), chosen.length * 2 ** (long / 2)))


def gradients(video: Video) -> Doubles:
    """Central differences along x, y and t at every point, by rows of the picture: `[rows, 3, frames, columns]`."""
    flat = video.astype(np.float32)
    found = np.empty((video.shape[1], 3, video.shape[0], video.shape[2]))
    for place, axis in enumerate((2, 1, 0)):
        found[:, place] = np.gradient(flat, axis=axis).transpose(1, 0, 2)
    return found


def coverage(edges: Doubles, extent: int) -> scipy.sparse.csr_array:
    """How much of every point lies between every two neighbouring edges: `[parts, extent]`.

    >>> coverage(np.array([0, 1.5, 2.0]), 3).toarray().tolist()
    [[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]
    """
    before = np.clip(edges[:, None] - np.arange(extent), 0, 1)
    return scipy.sparse.csr_array(np.diff(before, axis=0))


def _last_first(values: Doubles, last: int) -> Doubles:
    """A matrix whose rows are the last axes of values, laid again: `[last, everything before]`."""
    return np.ascontiguousarray(values.reshape(-1, last).T)


def _chosen(preset: str | Preset) -> Preset:
    return PRESETS[preset] if isinstance(preset, str) else preset


@dataclass(frozen=True)
class _Grid:
    """One scale in the picture: the gradients of every sub-block there, frame by frame."""

    preset: Preset
    across: Axis
    down: Axis
    means: Doubles
    """`[3, frames, x, y]`"""

    @classmethod
    def of(cls, slopes: Doubles, preset: Preset, wide: float) -> _Grid | None:
        """The grid of a scale; None where not one box fits."""
        across, down = (Axis.of(slopes.shape[axis], preset.size * wide) for axis in (3, 0))
        if not len(across.starts) or not len(down.starts):
            return None
        parts = preset.cells[0] * preset.blocks
        height, _, frames, width = slopes.shape
        rows = coverage(down.grid(parts), height) @ slopes.reshape(height, -1)  # [y, 3 · frames · columns]
        columns = coverage(across.grid(parts), width) @ _last_first(rows, width)  # [x, y · 3 · frames]
        means = _last_first(columns, 3 * frames).reshape(3, frames, len(columns), len(rows))
        means /= (across.size / parts) ** 2
        return cls(preset, across, down, means)

    def through(self, axis: Axis) -> Iterator[Described]:
        """All boxes of one length, those that begin together at a time."""
        for start, blocks in zip(axis.starts, self._blocks(axis), strict=True):
            yield self.boxes(blocks, start + axis.size / 2)

    def boxes(self, blocks: Floats, middle: float) -> Described:
        """All boxes between the first and the last of these sub-blocks."""
        kept = self._strong_boxes(self._cells_of_boxes(_sum_neighbours(blocks, self.preset.blocks, 1)))
        places = self._places(middle)
        return Described(places[kept.rows], kept.descriptors)

    def _blocks(self, axis: Axis) -> Iterator[Floats]:
        """The bins of all sub-blocks of the boxes that begin together, summed to cells in the picture alone:
        `[bins, t, x, y]`. Where half a box is whole sub-blocks, the second half of a box is the first of the next."""
        count = self.preset.cells[1] * self.preset.blocks
        edges = axis.edges(count)
        if count % 2:
            yield from (self._bins(moments) for moments in edges)
            return
        first = self._bins(edges[0, : count // 2 + 1]) if len(edges) else None
        for moments in edges:
            second = self._bins(moments[count // 2 :])
            yield np.concatenate([first, second], axis=1)
            first = second

    def _bins(self, moments: Doubles) -> Floats:
        """The bins of the sub-blocks between these moments, summed to cells in the picture: `[bins, t, x, y]`."""
        _, frames, across, down = self.means.shape
        parts = coverage(moments, frames) * (1 / (moments[1] - moments[0]))
        each = [(parts @ of.reshape(frames, -1)).astype(np.float32) for of in self.means]
        gradients = np.stack(each).reshape(3, -1, across, down)
        step = max(1, CACHED // (across * down))
        pieces = (gradients[:, at : at + step] for at in range(0, gradients.shape[1], step))
        weights, blocks = map(self.preset.binning.weights, pieces), self.preset.blocks
        return np.concatenate([_sum_neighbours(_sum_neighbours(one, blocks, 3), blocks, 2) for one in weights], axis=1)

    def _cells_of_boxes(self, cells: Floats) -> Floats:
        """The cells `[bins, t, x, y]` of every box beside each other: `[boxes, cells, bins]`; a box begins every half
        box."""
        side, step = self.preset.cells[0], self.preset.cells[0] // 2
        laid = np.ascontiguousarray(cells.transpose(1, 3, 2, 0))
        windows = np.lib.stride_tricks.sliding_window_view(laid, (side, side), axis=(1, 2))[:, ::step, ::step]
        boxes = windows.transpose(1, 2, 0, 4, 5, 3)  # y, x of the box; t, y, x of the cell; bins
        return boxes.reshape(boxes.shape[0] * boxes.shape[1], -1, laid.shape[-1])

    def _strong_boxes(self, boxes: Floats) -> _Kept:
        flat = boxes.reshape(len(boxes), -1)
        lengths = np.sqrt(np.einsum("ij,ij->i", flat, flat))
        rows = np.flatnonzero(lengths >= self.preset.faintest)
        if self.preset.scaled == "cell":
            boxes = boxes[rows]
            return _Kept(rows, _unit(boxes).reshape(len(rows), flat.shape[1]))
        return _Kept(rows, _unit(flat[rows]))

    def _places(self, middle: float) -> Floats:
        y, x = np.meshgrid(
            self.down.starts + self.down.size / 2, self.across.starts + self.across.size / 2, indexing="ij"
        )
        return np.stack([x.ravel(), y.ravel(), np.full(x.size, middle)], axis=1).astype(np.float32)


class _Kept(NamedTuple):
    rows: NDArray[np.int64]
    descriptors: Floats


def _unit(vectors: Floats) -> Floats:
    """Vectors along the last axis with length one; those of nothing become nothing, not blown-up rounding errors."""
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]
    found: Floats = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > FLAT)
    return found


def _sum_neighbours(values: Floats, count: int, axis: int) -> Floats:
    """Sums of so many neighbours along an axis."""
    before = (slice(None),) * axis
    found = values[*before, 0::count].copy()
    for at in range(1, count):
        found += values[*before, at::count]
    return found
