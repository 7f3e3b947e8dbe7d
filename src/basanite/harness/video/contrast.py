"""Local contrast normalisation of a whole clip in space and time, in the plan's four steps (H-6, A31)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SIGMA: Final = 2.0
"""Pixels, and frames, of the Gaussian around every point."""
REACH: Final = 3.0
"""How many of these the Gaussian reaches; further away counts nothing."""

Video = NDArray[Any]


def normalised(video: Video) -> NDArray[np.float32]:
    """A clip `[frames, rows, columns]` without what brightness and contrast of the scene have put into it.

    Global mean, global deviation, local mean, local deviation; the last divisor is never below its own mean, so that
    flat parts are not blown up into noise.

    >>> normalised(np.full((3, 4, 4), 7, np.uint8)).any()
    np.False_
    """
    flat = video.astype(np.float32)
    flat -= flat.mean(dtype=np.float64)
    deviation = float(flat.std(dtype=np.float64))
    if not deviation > 0:
        return np.zeros(video.shape, np.float32)
    flat /= np.float32(deviation)
    flat -= _blurred(flat)
    local = np.sqrt(np.maximum(_blurred(flat * flat), 0))
    found: NDArray[np.float32] = flat / np.maximum(local, local.mean(dtype=np.float64), dtype=np.float32)
    return found


def _blurred(video: NDArray[np.float32]) -> NDArray[np.float32]:
    """The Gaussian mean around every point, frames and pixels beyond the border mirrored."""
    from scipy.ndimage import gaussian_filter

    found: NDArray[np.float32] = gaussian_filter(video, SIGMA, truncate=REACH, mode="reflect")
    return found
