"""Video tasks as data sets: Hollywood-2 as published, and small drawn and encoded clips with known actions."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from basanite.harness.data.dataset import Dataset, Files, first_labels
from basanite.harness.protocol import Rows
from basanite.harness.video.clips import load_av
from basanite.harness.video.hollywood2 import (
    ACTIONS,
    PARTS,
    PUBLISHED,
    Layout,
    Move,
    Part,
    clips_folder,
    draw_labels,
    read_layout,
)

Frames = NDArray[np.uint8]
Floats = NDArray[np.float32]

TEXTURE: Final = 256
NOISE: Final = 6.0
"""Grey levels of noise in every pixel."""
STEPS: Final[dict[Move, tuple[float, float, float, float]]] = {
    "left": (-1, 0, 0, 0),
    "right": (1, 0, 0, 0),
    "up": (0, -1, 0, 0),
    "down": (0, 1, 0, 0),
    "grow": (0, 0, 1, 0),
    "shrink": (0, 0, -1, 0),
    "clockwise": (0, 0, 0, 1),
    "back": (0, 0, 0, -1),
}
"""What a move changes: place along x and y, size (log), angle."""


@dataclass(frozen=True)
class Look:
    """What is drawn besides the actions; fixed before anything is measured."""

    frames: tuple[int, int] = (44, 80)
    widths: tuple[int, int] = (320, 480)
    shapes: tuple[float, float] = (0.47, 0.8)
    """Height divided by width."""
    radius: tuple[float, float] = (0.13, 0.2)
    """Of a body, as a share of the height."""
    speed: tuple[float, float] = (0.7, 1.3)
    still: float = 0.25
    """How much a body that does nothing in particular wanders, against one that acts."""


def drawn_clip(labels: Sequence[int], dice: np.random.Generator, look: Look | None = None) -> Frames:
    """One clip `[frames, rows, columns]` in which a body does each of these actions, and another wanders about."""
    style = look or Look()
    width = 2 * int(dice.integers(style.widths[0] // 2, style.widths[1] // 2 + 1))
    height = 2 * round(width * dice.uniform(*style.shapes) / 2)
    frames = int(dice.integers(style.frames[0], style.frames[1] + 1))
    picture = _scene(frames, height, width, dice)
    for moves in (None, *(list(ACTIONS.values())[label] for label in labels)):
        _draw_body(picture, _path(moves, frames, height, width, dice, style), dice)
    picture += dice.normal(0, NOISE, picture.shape).astype(np.float32)
    return np.clip(picture, 0, 255).astype(np.uint8)


def texture(dice: np.random.Generator, roughness: float = 1.0) -> Floats:
    """A cloudy texture that repeats at its borders, with mean 0 and deviation 1."""
    waves = np.hypot(*np.meshgrid(np.fft.fftfreq(TEXTURE), np.fft.fftfreq(TEXTURE)))
    waves[0, 0] = np.inf
    phases = np.exp(2j * np.pi * dice.random((TEXTURE, TEXTURE)))
    cloud = np.real(np.fft.ifft2(phases * waves**-roughness))
    found: Floats = ((cloud - cloud.mean()) / cloud.std()).astype(np.float32)
    return found


def _scene(frames: int, height: int, width: int, dice: np.random.Generator) -> Floats:
    """The background, which the camera pans over at a steady pace."""
    cloud, pace = texture(dice, 1.6), dice.uniform(-0.6, 0.6, 2)
    y, x = np.arange(height), np.arange(width)
    shifts = np.round(np.arange(frames)[:, None] * pace).astype(np.int64)
    found = np.empty((frames, height, width), np.float32)
    for frame, (across, down) in zip(found, shifts, strict=True):
        frame[...] = cloud[np.ix_((y + down) % TEXTURE, (x + across) % TEXTURE)]
    found *= 25
    found += np.float32(dice.uniform(95, 150))
    return found


def _path(
    moves: tuple[Move, Move] | None,
    frames: int,
    height: int,
    width: int,
    dice: np.random.Generator,
    look: Look,
) -> Floats:
    """Place x, y, radius and angle of a body in every frame; the change between moves comes near the middle."""
    turn = int(frames * dice.uniform(0.42, 0.58))
    pace = dice.uniform(*look.speed)
    steps = np.zeros((frames, 4), np.float32)
    if moves is None:
        steps += dice.normal(0, look.still, 4)
    else:
        steps[:turn], steps[turn:] = STEPS[moves[0]], STEPS[moves[1]]
    gone = np.cumsum(steps * pace / (frames / 2), axis=0)
    radius = height * dice.uniform(*look.radius)
    middle = gone[:, :2].mean(axis=0)
    start = np.array([width * dice.uniform(0.3, 0.7), height * dice.uniform(0.35, 0.65)])
    places = start + (gone[:, :2] - middle) * height * 0.45
    sizes = radius * np.exp(0.6 * (gone[:, 2] - gone[:, 2].mean()))
    angles = dice.uniform(0, 2 * np.pi) + 1.8 * gone[:, 3]
    return np.column_stack([places, sizes, angles]).astype(np.float32)


def _draw_body(picture: Floats, path: Floats, dice: np.random.Generator) -> None:
    """Draw a textured ellipse into every frame, turned and sized as its path says."""
    cloud, long = texture(dice, 0.9), dice.uniform(1.15, 1.6)
    light = dice.uniform(70, 190)
    for frame, (x, y, radius, angle) in zip(picture, path, strict=True):
        reach = int(radius * long) + 2
        rows = slice(max(int(y) - reach, 0), min(int(y) + reach, frame.shape[0]))
        columns = slice(max(int(x) - reach, 0), min(int(x) + reach, frame.shape[1]))
        down, across = np.mgrid[rows, columns]
        u = ((across - x) * np.cos(angle) + (down - y) * np.sin(angle)) / (radius * long)
        v = ((down - y) * np.cos(angle) - (across - x) * np.sin(angle)) / radius
        inside = u * u + v * v < 1
        paint = cloud[(v * 60).astype(np.int64) % TEXTURE, (u * 60).astype(np.int64) % TEXTURE] * 40 + light
        frame[rows, columns][inside] = paint[inside]


CLIPS, LISTS, SHOTS = "AVIClips", "ClipSets", "ShotBounds"
RATE: Final = 25
QUALITY: Final = 8
"""How coarsely frames are kept, 1 to 31: the same for still and busy clips."""
BIT_EXACT: Final = 0x0400
"""FFmpeg's flag for files without version and date in them."""
PUBLISHED_CLIPS: Final = sum(part.clips for part in PUBLISHED.values())


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
        labels = draw_labels(part, count, np.random.default_rng([seed, number]))
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


DRAWN_AS: Final = "1"
"""The version of what is drawn: part of the cache's name, so that no set of an older version is taken for a new one."""


def read_video(folder: Path) -> Dataset:
    """A set in the published layout; its counts stand beside the published ones."""
    layout = read_layout(folder)
    names = [f"{clip}.avi" for part in PARTS for clip in layout.parts[part].clips]
    labels = np.concatenate([layout.parts[part].labels for part in PARTS]).astype(np.float64)
    targets = {action: np.ascontiguousarray(labels[:, at]) for at, action in enumerate(ACTIONS)}
    return Dataset(
        folder.name,
        Files.of(clips_folder(folder), names),
        targets,
        first_labels=first_labels(targets),
        fixed=_split(layout),
        counts=layout.counts(),
    )


def _split(layout: Layout) -> tuple[Rows, Rows]:
    train = len(layout.parts["train"].clips)
    return np.arange(train), np.arange(train, train + len(layout.parts["test"].clips))


def generated_clips(*, clips: int, seed: int, folder: Path | None = None) -> Path:
    """A folder with so many drawn clips."""
    name = f"video-{DRAWN_AS}-{clips}-{seed}"
    return made_folder(name, folder, lambda working: write_clips(working, clips=clips, seed=seed))


def made_folder(name: str, folder: Path | None, write: Callable[[Path], None]) -> Path:
    """A folder that is written when it is first asked for, as a whole or not at all: here, or among the caches."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "basanite"
    place = folder or caches / name
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        working = place.with_name(f".{place.name}.{secrets.token_hex(6)}")
        try:
            write(working)
            working.rename(place)
        finally:
            shutil.rmtree(working, ignore_errors=True)
    return place
