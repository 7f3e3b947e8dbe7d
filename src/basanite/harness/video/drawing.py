"""Clips that are drawn: textured bodies that move in front of a panning scene, with noise (H-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.video.actions import ACTIONS, Move

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
