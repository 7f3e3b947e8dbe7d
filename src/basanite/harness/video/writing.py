"""A set of drawn clips as real encoded files, in the folders and lists of the published one (H-3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.harness.video.actions import ACTIONS, PUBLISHED, Part, planted
from basanite.harness.video.clips import load_av
from basanite.harness.video.drawing import Look, drawn_clip

CLIPS, LISTS, SHOTS = "AVIClips", "ClipSets", "ShotBounds"
RATE: Final = 25
QUALITY: Final = 8
"""How coarsely frames are kept, 1 to 31: the same for still and busy clips."""
BIT_EXACT: Final = 0x0400
"""FFmpeg's flag for files without version and date in them."""
PUBLISHED_CLIPS: Final = sum(part.clips for part in PUBLISHED.values())

Frames = NDArray[np.uint8]


class Planned(NamedTuple):
    """A clip that is to be drawn."""

    name: str
    labels: tuple[int, ...]
    dice: np.random.SeedSequence


def planned_clips(clips: int, seed: int) -> Iterator[Planned]:
    """Names and labels of all clips, train and test in the published proportion; each has dice of its own."""
    parts: tuple[Part, Part] = ("train", "test")
    train = round(clips * PUBLISHED["train"].clips / PUBLISHED_CLIPS)
    for number, (part, count) in enumerate(zip(parts, (train, clips - train), strict=True)):
        labels = planted(part, count, np.random.default_rng([seed, number]))
        seeds = np.random.SeedSequence([seed, number, 1]).spawn(count)
        for at, (of_clip, dice) in enumerate(zip(labels, seeds, strict=True), start=1):
            yield Planned(f"actionclip{part}{at:05d}", of_clip, dice)


def write_clips(
    folder: Path,
    *,
    clips: int = 240,
    seed: int = 0,
    look: Look | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write clips, lists and shot bounds; the same arguments draw the same frames."""
    chosen = list(planned_clips(clips, seed))
    for name in (CLIPS, LISTS, SHOTS):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for done, clip in enumerate(chosen, start=1):
        frames = drawn_clip(clip.labels, np.random.default_rng(clip.dice), look)
        encode(folder / CLIPS / f"{clip.name}.avi", frames)
        (folder / SHOTS / f"{clip.name}.sht").write_text("\n")
        progress(done, len(chosen))
    _write_lists(folder / LISTS, chosen)


def encode(path: Path, frames: Frames) -> None:
    """Encode grey frames as MPEG-4 in AVI, by one thread and without time or version in the file."""
    av = load_av()
    options = {"flags": "+bitexact", "qmin": str(QUALITY), "qmax": str(QUALITY)}
    with av.open(str(path), "w") as container:
        container.flags |= BIT_EXACT
        stream = container.add_stream("mpeg4", rate=RATE, options=options)
        stream.height, stream.width = frames.shape[1:]
        stream.pix_fmt, stream.thread_type = "yuv420p", "NONE"
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, "gray")))
        container.mux(stream.encode())


def _write_lists(folder: Path, clips: Sequence[Planned]) -> None:
    """One list for each action and part: every clip of the part, 1 where it shows the action and -1 where not."""
    for number, action in enumerate(ACTIONS):
        for part in ("train", "test"):
            of_part = (clip for clip in clips if clip.name.startswith(f"actionclip{part}"))
            lines = [f"{clip.name}  {1 if number in clip.labels else -1}\n" for clip in of_part]
            (folder / f"{action}_{part}.txt").write_text("".join(lines))
