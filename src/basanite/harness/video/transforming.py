"""Clips changed in known ways, to see which units of a learner care: shifts, turns, and other speeds (A40)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

Frames = NDArray[np.uint8]
SHIFTS: Final = ((0, 6), (6, 0), (0, -12), (-12, 0))
"""Pixels down and to the right."""
TURNS: Final = (4.0, -8.0)
"""Degrees."""
SPEEDS: Final = (0.8, 1.25)
NAMED: Final = "clips shifted by 6 and 12 pixels, turned by 4 and 8 degrees, slowed to 0.8 and sped to 1.25"


def transformed(clips: Sequence[Frames]) -> Iterator[list[Frames]]:
    """All clips under one change after the other; a changed clip has as many frames as before."""
    for change in changes():
        yield [change(clip) for clip in clips]


def changes() -> Iterator[Callable[[Frames], Frames]]:
    """The changes along the path."""
    for down, right in SHIFTS:
        yield partial(shifted, down=down, right=right)
    for degrees in TURNS:
        yield partial(turned, degrees=degrees)
    for factor in SPEEDS:
        yield partial(at_speed, factor=factor)


def shifted(clip: Frames, *, down: int, right: int) -> Frames:
    """The picture moved; what comes in at the border repeats the border.

    >>> shifted(np.arange(3, dtype=np.uint8).reshape(1, 1, 3), down=0, right=1).ravel().tolist()
    [0, 0, 1]
    """
    rows = np.clip(np.arange(clip.shape[1]) - down, 0, clip.shape[1] - 1)
    columns = np.clip(np.arange(clip.shape[2]) - right, 0, clip.shape[2] - 1)
    return clip[:, rows][:, :, columns]


def turned(clip: Frames, *, degrees: float) -> Frames:
    """The picture turned about its middle."""
    from scipy.ndimage import rotate

    found: Frames = rotate(clip, degrees, axes=(1, 2), reshape=False, order=1, mode="nearest")
    return found


def at_speed(clip: Frames, *, factor: float) -> Frames:
    """The clip played so many times as fast; at its end the last frame stays.

    >>> at_speed(np.arange(4, dtype=np.uint8).reshape(4, 1, 1), factor=2.0).ravel().tolist()
    [0, 2, 3, 3]
    """
    places = np.minimum(np.round(np.arange(len(clip)) * factor), len(clip) - 1)
    return clip[places.astype(np.int64)]
