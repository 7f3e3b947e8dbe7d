"""Pictures flipped, scaled, resized and rotated at random: what a training loop does to its inputs, seeded.

Pictures are `[N, H, W]` or `[N, H, W, C]`, or with the channels first (`channels="first"`). The size stays what it was,
so that a model takes them; what a transformation uncovers is filled with the nearest pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

Channels = Literal["last", "first"]
Floats = NDArray[np.float64]
KINDS: Final = ("flip", "scale", "resize", "rotate")


@dataclass(frozen=True)
class Transformation:
    """How far pictures may be changed; `kinds` says which changes are made at all."""

    kinds: tuple[str, ...] = KINDS
    degrees: float = 15.0
    """The most that a picture is rotated, either way."""
    zoom: float = 0.2
    """The most that a picture is scaled, in both directions alike, either way."""
    stretch: float = 0.15
    """The most that a picture is resized in height and width apart, either way."""


def transform_pictures(
    pictures: NDArray[Any],
    rng: np.random.Generator,
    *,
    how: Transformation | None = None,
    channels: Channels = "last",
) -> NDArray[Any]:
    """Each picture changed at random in its own way; type and shape stay.

    >>> rng = np.random.default_rng(0)
    >>> np.allclose(transform_pictures(np.full((2, 5, 5), 3.0), rng), 3.0)
    True
    """
    chosen = how or Transformation()
    moved = np.moveaxis(pictures, 1, -1) if channels == "first" and pictures.ndim == 4 else pictures
    made = np.stack([_one(picture, rng, chosen) for picture in moved]) if len(moved) else moved.copy()
    back = np.moveaxis(made, -1, 1) if channels == "first" and pictures.ndim == 4 else made
    return np.ascontiguousarray(back).astype(pictures.dtype)


def _one(picture: NDArray[Any], rng: np.random.Generator, how: Transformation) -> Floats:
    flip, turn, zoom, high, wide = rng.random(5)  # always five, so that a kind left out does not change the others
    flipped = picture[:, ::-1] if "flip" in how.kinds and flip < 0.5 else picture
    matrix = _matrix(2 * np.array([turn, zoom, high, wide]) - 1, how)
    layers = flipped[..., None] if flipped.ndim == 2 else flipped
    made = np.stack([_warp(layers[..., at], matrix) for at in range(layers.shape[-1])], axis=-1)
    return made[..., 0] if flipped.ndim == 2 else made


def _matrix(moves: Floats, how: Transformation) -> Floats:
    """Where each pixel comes from: rotation, then scale, then height and width apart."""
    angle = np.deg2rad(how.degrees) * moves[0] if "rotate" in how.kinds else 0.0
    size = 1 + how.zoom * moves[1] if "scale" in how.kinds else 1.0
    sides = 1 + how.stretch * moves[2:] if "resize" in how.kinds else np.ones(2)
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return np.asarray(turned / (size * sides)[:, None])


def _warp(layer: NDArray[Any], matrix: Floats) -> Floats:
    from scipy.ndimage import affine_transform

    centre = (np.array(layer.shape) - 1) / 2
    found: Floats = affine_transform(
        np.asarray(layer, np.float64), matrix, offset=centre - matrix @ centre, order=1, mode="nearest"
    )
    return found
