"""Clips from encoded files: grey frames, 300 pixels wide, cut into windows of 30 frames (H-1, A28, A30)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import UnreadableError
from basanite.extras import required_module

WIDTH: Final = 300
WINDOW: Final = 30
MOST_FRAMES: Final = 20_000
MOST_PIXELS: Final = 4096 * 4096
"""Of one frame: a stranger's header may claim anything."""

Frames = NDArray[np.uint8]


def scaled_height(width: int, height: int) -> int:
    """The height of a frame that is made 300 pixels wide: in proportion, and even (A30).

    >>> scaled_height(720, 576), scaled_height(480, 224)
    (240, 140)
    """
    return max(2, 2 * round(height * WIDTH / width / 2))


def read_clip(path: Path) -> Frames:
    """All frames of a clip as grey values `[frames, rows, 300]`; one thread, so that the same file is the same clip."""
    if not path.is_file():
        raise UnreadableError(
            f"{path} is not there. If the clips were moved, name their folder in the plan; run it again."
        )
    frames = list(_grey_frames(path))
    if not frames:
        raise UnreadableError(f"{path} has no picture in it. Give an encoded video, such as .avi or .mp4.")
    return np.stack(frames)


def load_av() -> Any:
    """PyAV, or the line to type where it is missing."""
    return required_module("av")


def _grey_frames(path: Path) -> Iterator[Frames]:
    av = load_av()
    try:
        with av.open(str(path)) as container:
            for frame in container.decode(_stream(container, path)):
                yield _grey(frame)
    except (av.FFmpegError, OSError) as error:
        raise UnreadableError(
            f"{path} cannot be decoded as a video: {error}. Copy it again, or leave it out."
        ) from error


def _stream(container: Any, path: Path) -> Any:
    if not container.streams.video:
        raise UnreadableError(f"{path} has no picture in it. Give an encoded video, such as .avi or .mp4.")
    stream = container.streams.video[0]
    stream.thread_type = "NONE"
    if not 0 < stream.width * stream.height <= MOST_PIXELS or stream.frames > MOST_FRAMES:
        size = f"{stream.width} x {stream.height}, {stream.frames} frames"
        raise UnreadableError(f"{path} is too large ({size}). Clips have {MOST_FRAMES:,} frames at most.")
    return stream


def _grey(frame: Any) -> Frames:
    """One frame in grey (BT.601), every new pixel the mean of the area it covers."""
    small = frame.reformat(WIDTH, scaled_height(frame.width, frame.height), "gray", interpolation="AREA")
    grey: Frames = small.to_ndarray()
    return grey


def windows(frames: int, length: int = WINDOW) -> list[slice]:
    """Windows one after the other; a short last one is kept (A28).

    >>> windows(70)
    [slice(0, 30, None), slice(30, 60, None), slice(60, 70, None)]
    """
    return [slice(start, min(start + length, frames)) for start in range(0, frames, length)]


SHIFTS: Final = ((0, 6), (6, 0), (0, -12), (-12, 0))
"""Pixels down and to the right."""
TURNS: Final = (4.0, -8.0)
"""Degrees."""
SPEEDS: Final = (0.8, 1.25)
NAMED: Final = "clips shifted by 6 and 12 pixels, turned by 4 and 8 degrees, slowed to 0.8 and sped to 1.25"


def transform_clips(clips: Sequence[Frames]) -> Iterator[list[Frames]]:
    """All clips under one change after the other; a changed clip has as many frames as before."""
    for change in changes():
        yield [change(clip) for clip in clips]


def changes() -> Iterator[Callable[[Frames], Frames]]:
    """The changes along the path."""
    for down, right in SHIFTS:
        yield partial(shift, down=down, right=right)
    for degrees in TURNS:
        yield partial(rotate, degrees=degrees)
    for factor in SPEEDS:
        yield partial(at_speed, factor=factor)


def shift(clip: Frames, *, down: int, right: int) -> Frames:
    """The picture moved; what comes in at the border repeats the border.

    >>> shift(np.arange(3, dtype=np.uint8).reshape(1, 1, 3), down=0, right=1).ravel().tolist()
    [0, 0, 1]
    """
    rows = np.clip(np.arange(clip.shape[1]) - down, 0, clip.shape[1] - 1)
    columns = np.clip(np.arange(clip.shape[2]) - right, 0, clip.shape[2] - 1)
    return clip[:, rows][:, :, columns]


def rotate(clip: Frames, *, degrees: float) -> Frames:
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
