"""From descriptors of clips to counts: a codebook of nearest centres, contrast features, and fewer dimensions.

What a video system sees and has learned becomes pictures: frames, normalised frames, and filters (H-26).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
BLOCK: Final = 8_192
ROUNDS: Final = 100


@dataclass(frozen=True)
class Codebook:
    """The words, `float32[words, dimensions]`."""

    words: Floats

    @classmethod
    def of(cls, descriptors: Floats, words: int, *, starts: int, seed: int) -> Codebook:
        """Words by k-means; of several starts the one with the smallest error. No more words than descriptors."""
        from sklearn.cluster import KMeans

        count = min(words, len(np.unique(descriptors, axis=0)))
        found = KMeans(count, n_init=starts, max_iter=ROUNDS, random_state=seed).fit(descriptors)
        return cls(np.ascontiguousarray(found.cluster_centers_, np.float32))

    def nearest(self, descriptors: Floats) -> NDArray[np.int64]:
        """The number of the nearest word of every descriptor; the earlier of equally near ones.

        >>> Codebook(np.array([[0.0], [4.0]], np.float32)).nearest(np.array([[1.0], [3.5]], np.float32)).tolist()
        [0, 1]
        """
        half = np.einsum("ij,ij->i", self.words, self.words) / 2
        blocks = (descriptors[at : at + BLOCK] for at in range(0, len(descriptors), BLOCK))
        found = [np.argmax(block @ self.words.T - half, axis=1) for block in blocks]
        return np.concatenate(found) if found else np.zeros(0, np.int64)


SIGMA: Final = 2.0
"""Pixels, and frames, of the Gaussian around every point."""
REACH: Final = 3.0
"""How many of these the Gaussian reaches; further away counts nothing."""

Video = NDArray[Any]


def normalise_contrast(video: Video) -> NDArray[np.float32]:
    """A clip `[frames, rows, columns]` without what brightness and contrast of the scene have put into it.

    Global mean, global deviation, local mean, local deviation; the last divisor is never below its own mean, so that
    flat parts are not blown up into noise.

    >>> normalise_contrast(np.full((3, 4, 4), 7, np.uint8)).any()
    np.False_
    """
    flat = video.astype(np.float32)
    flat -= flat.mean(dtype=np.float64)
    deviation = float(flat.std(dtype=np.float64))
    if not deviation > 0:
        return np.zeros(video.shape, np.float32)
    flat /= np.float32(deviation)
    flat -= _blur(flat)
    local = np.sqrt(np.maximum(_blur(flat * flat), 0))
    found: NDArray[np.float32] = flat / np.maximum(local, local.mean(dtype=np.float64), dtype=np.float32)
    return found


normalised = normalise_contrast
"""Its name in the first release."""


def _blur(video: NDArray[np.float32]) -> NDArray[np.float32]:
    """The Gaussian mean around every point, frames and pixels beyond the border mirrored."""
    from scipy.ndimage import gaussian_filter

    found: NDArray[np.float32] = gaussian_filter(video, SIGMA, truncate=REACH, mode="reflect")
    return found


def resize(video: NDArray[Any], shape: tuple[int, ...]) -> Floats:
    """The video with this many frames, rows and columns; parts of points count by how much of them is covered.

    >>> resize(np.arange(6.0).reshape(1, 1, 6), (1, 1, 3)).ravel().tolist()
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


SHOWN_FRAMES: Final = 3
SHOWN_FILTERS: Final = 24
MOMENTS: Final = 5
"""Frames of a filter that are shown."""
ACROSS: Final = 3
"""Filters side by side."""
WIDE: Final = 1_200
"""Pixels that filters are enlarged to, about."""
LARGEST: Final = 99.5
"""Percent of all values between black and white: a few larger ones would make the rest grey."""
GAP: Final = 4

Picture = NDArray[np.uint8]


def clip_picture(clip: NDArray[np.uint8]) -> dict[str, str]:
    """Some frames of a clip as they are, and below them the same after normalisation."""
    at = np.linspace(0, len(clip) - 1, SHOWN_FRAMES).astype(np.int64)
    rows = [_row(clip[at], GAP), _row(_grey(normalise_contrast(clip)[at]), GAP)]
    words = f"{SHOWN_FRAMES} frames of one test clip in grey, 300 pixels wide; below, edges stand out alike everywhere"
    return _as_entry("Frames of a clip, and contrast normalised", words, _column(rows, GAP))


def filter_picture(filters: NDArray[Any]) -> dict[str, str]:
    """The strongest filters `[units, frames, rows, columns]`, each as its frames one after the other."""
    strength = (filters.reshape(len(filters), -1) ** 2).sum(axis=1)
    chosen = filters[np.argsort(-strength, kind="stable")[:SHOWN_FILTERS]]
    at = np.unique(np.linspace(0, chosen.shape[1] - 1, MOMENTS).astype(np.int64))
    enlarged = max(1, WIDE // (ACROSS * len(at) * chosen.shape[3]))
    strips = [_row(_grey(one[at]).repeat(enlarged, axis=1).repeat(enlarged, axis=2), GAP - 1) for one in chosen]
    rows = [_row(strips[at : at + ACROSS], 4 * GAP) for at in range(0, len(strips), ACROSS)]
    words = f"the {len(strips)} strongest of {len(filters)} units, each as {len(at)} frames from left to right"
    return _as_entry("Filters of the first layer, each as its frames", words, _column(rows, 2 * GAP))


def _grey(values: NDArray[Any]) -> Picture:
    """Numbers around 0 as grey values around the middle, the largest as black or white."""
    largest = float(np.percentile(np.abs(values), LARGEST)) or 1.0
    return np.clip(127.5 + 127.5 * values / largest, 0, 255).astype(np.uint8)


def _row(pictures: Sequence[Picture] | Picture, gap: int) -> Picture:
    between = np.full((pictures[0].shape[0], gap), 255, np.uint8)
    return np.hstack([part for picture in pictures for part in (picture, between)][:-1])


def _column(rows: Sequence[Picture], gap: int) -> Picture:
    wide = max(row.shape[1] for row in rows)
    padded = [np.pad(row, ((0, gap), (0, wide - row.shape[1])), constant_values=255) for row in rows]
    return np.vstack(padded)[: -gap or None]


def _as_entry(title: str, words: str, picture: Picture) -> dict[str, str]:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(picture).save(content, "PNG", optimize=True)
    return {"title": title, "words": words, "png": base64.b64encode(content.getvalue()).decode()}
