"""Videos of any size as arrays of one size: every new point is the mean of the part of the old video it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def reduced(video: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    """The video with this many frames, rows and columns; parts of points count by how much of them is covered.

    >>> reduced(np.arange(6.0).reshape(1, 1, 6), (1, 1, 3)).ravel().tolist()
    [0.5, 2.5, 4.5]
    """
    for axis, count in enumerate(shape):
        video = _along(video, axis, count)
    return np.ascontiguousarray(video, np.float32)


def _along(video: NDArray[Any], axis: int, count: int) -> NDArray[np.float64]:
    size = video.shape[axis]
    sums = np.concatenate([np.zeros_like(video.take([0], axis), np.float64), np.cumsum(video, axis, np.float64)], axis)
    places = np.linspace(0, size, count + 1)
    below = np.minimum(places.astype(np.int64), size - 1)
    share = np.expand_dims(places - below, tuple(n for n in range(video.ndim) if n != axis))
    at = sums.take(below, axis) * (1 - share) + sums.take(below + 1, axis) * share
    return np.asarray(np.diff(at, axis=axis) / (size / count))
