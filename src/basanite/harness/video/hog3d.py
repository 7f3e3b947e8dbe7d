"""HOG3D: histograms of oriented gradients in boxes of space and time, densely sampled (H-6, A32).

Kläser, Marszałek & Schmid: A spatio-temporal descriptor based on 3D-gradients, BMVC 2008. A box is cut into cells and a
cell into sub-blocks; the mean gradient of each sub-block is put into bins, and the bins of a cell are summed. Boxes of
one scale overlap by half, so in the picture their sub-blocks lie on one grid: each is worked out once for the four
boxes that share it, and in time for the two where half a box is a whole number of them. Means come from sparse matrices
that say how much of every pixel and frame lies in every sub-block, which are linearly interpolated integral videos
without their rounding. Numbers lie bins first: then every operation runs along the picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.harness.video.orientations import Binning, faces, polar

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
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
    found = list(described(video, preset))
    size = _chosen(preset).dimensions
    none = Described(np.zeros((0, 3), np.float32), np.zeros((0, size), np.float32))
    return Described(*(np.concatenate(parts) for parts in zip(none, *found, strict=True)))


def described(video: Video, preset: str | Preset = "wang2009") -> Iterator[Described]:
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


def covered(edges: Doubles, extent: int) -> scipy.sparse.csr_array:
    """How much of every point lies between every two neighbouring edges: `[parts, extent]`.

    >>> covered(np.array([0, 1.5, 2.0]), 3).toarray().tolist()
    [[1.0, 0.5, 0.0], [0.0, 0.5, 0.0]]
    """
    before = np.clip(edges[:, None] - np.arange(extent), 0, 1)
    return scipy.sparse.csr_array(np.diff(before, axis=0))


def _last_first(values: Doubles, last: int) -> Doubles:
    """A matrix whose rows are the last axes of values, laid anew: `[last, everything before]`."""
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
        rows = covered(down.grid(parts), height) @ slopes.reshape(height, -1)  # [y, 3 · frames · columns]
        columns = covered(across.grid(parts), width) @ _last_first(rows, width)  # [x, y · 3 · frames]
        means = _last_first(columns, 3 * frames).reshape(3, frames, len(columns), len(rows))
        means /= (across.size / parts) ** 2
        return cls(preset, across, down, means)

    def through(self, axis: Axis) -> Iterator[Described]:
        """All boxes of one length, those that begin together at a time."""
        for start, blocks in zip(axis.starts, self._blocks(axis), strict=True):
            yield self.boxes(blocks, start + axis.size / 2)

    def boxes(self, blocks: Floats, middle: float) -> Described:
        """All boxes between the first and the last of these sub-blocks."""
        kept = self._kept(self._gathered(_summed(blocks, self.preset.blocks, 1)))
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
        parts = covered(moments, frames) * (1 / (moments[1] - moments[0]))
        each = [(parts @ of.reshape(frames, -1)).astype(np.float32) for of in self.means]
        gradients = np.stack(each).reshape(3, -1, across, down)
        step = max(1, CACHED // (across * down))
        pieces = (gradients[:, at : at + step] for at in range(0, gradients.shape[1], step))
        return np.concatenate([self._in_picture(self.preset.binning.weights(piece)) for piece in pieces], axis=1)

    def _in_picture(self, weights: Floats) -> Floats:
        return _summed(_summed(weights, self.preset.blocks, 3), self.preset.blocks, 2)

    def _gathered(self, cells: Floats) -> Floats:
        """The cells `[bins, t, x, y]` of every box beside each other: `[boxes, cells, bins]`; a box begins every half
        box."""
        side, step = self.preset.cells[0], self.preset.cells[0] // 2
        laid = np.ascontiguousarray(cells.transpose(1, 3, 2, 0))
        windows = np.lib.stride_tricks.sliding_window_view(laid, (side, side), axis=(1, 2))[:, ::step, ::step]
        boxes = windows.transpose(1, 2, 0, 4, 5, 3)  # y, x of the box; t, y, x of the cell; bins
        return boxes.reshape(boxes.shape[0] * boxes.shape[1], -1, laid.shape[-1])

    def _kept(self, boxes: Floats) -> _Kept:
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


def _summed(values: Floats, count: int, axis: int) -> Floats:
    """Sums of so many neighbours along an axis."""
    before = (slice(None),) * axis
    found = values[*before, 0::count].copy()
    for at in range(1, count):
        found += values[*before, at::count]
    return found
