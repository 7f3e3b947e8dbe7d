"""Into which bins a gradient in space and time falls: faces of an icosahedron, or azimuth and elevation.

Every way keeps the gradient's size: the weights of its bins have it as their norm (icosahedron) or their sum (polar).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

GOLDEN: Final = (1 + 5**0.5) / 2
CUT: Final = 5**0.5 / 3
"""The cosine between neighbouring normals (0.7453…): a gradient along one normal counts for that normal alone."""


def icosahedron() -> NDArray[np.float64]:
    """The 20 unit normals of an icosahedron's faces (the corners of a dodecahedron), each followed by its opposite.

    >>> icosahedron().shape, bool(np.allclose(icosahedron()[::2], -icosahedron()[1::2]))
    ((20, 3), True)
    """
    corners = [(x, y, 1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    for sign in (-1, 1):
        corners += [(0.0, sign / GOLDEN, GOLDEN), (sign / GOLDEN, GOLDEN, 0.0), (GOLDEN, 0.0, sign / GOLDEN)]
    half = np.array(corners) / 3**0.5
    return np.stack([half, -half], axis=1).reshape(20, 3)


@dataclass(frozen=True)
class Binning:
    """One way to put gradients `[3 (x, y, t), …]` into bins: `[bins, …]`.

    Every way is continuous: gradients that hardly differ have weights that hardly differ, or rounding would decide.
    """

    bins: int
    weights: Callable[[Floats], Floats]


def faces(*, half: bool = False) -> Binning:
    """By the faces of an icosahedron; `half` takes opposite directions for one."""
    normals = icosahedron()[::2].astype(np.float32)

    def weights(gradients: Floats) -> Floats:
        flat = gradients.reshape(3, -1)
        along: Floats = normals @ flat
        size = np.sqrt((flat * flat).sum(axis=0))
        strength = np.abs(along)
        strength -= np.float32(CUT) * size
        np.maximum(strength, 0, out=strength)
        left = np.sqrt(np.einsum("ij,ij->j", strength, strength))
        strength *= np.divide(size, left, out=np.zeros_like(size), where=left > 0)
        found = strength if half else _both_ways(strength, along)
        return found.reshape(-1, *gradients.shape[1:])

    return Binning(len(normals) * (1 if half else 2), weights)


def _both_ways(strength: Floats, along: Floats) -> Floats:
    """Strength along pairs of opposite normals, each for the one that the gradient points to."""
    found = np.empty((len(strength), 2, strength.shape[1]), np.float32)
    np.multiply(strength, along > 0, out=found[:, 0])
    np.subtract(strength, found[:, 0], out=found[:, 1])
    return found


def polar(azimuths: int = 5, elevations: int = 3) -> Binning:
    """By azimuth in the picture and elevation towards time, shared between neighbouring bins.

    Opposite directions are one, so the azimuth goes half round, and beyond its end it begins again with the elevation
    upside down. A gradient purely in time has no azimuth: from the middle of the outermost elevations on, more and more
    of it is spread over all bins around the pole.
    """

    def weights(gradients: Floats) -> Floats:
        x, y, t = gradients
        flat = np.sqrt(x * x + y * y)
        turned = np.where((y < 0) | ((y == 0) & (x < 0)), np.float32(-1), np.float32(1))
        azimuth = np.arctan2(turned * y, turned * x) * np.float32(azimuths / np.pi) - np.float32(0.5)
        elevation = np.arctan2(turned * t, flat) * np.float32(elevations / np.pi) + np.float32((elevations - 1) / 2)
        size = np.sqrt(flat * flat + t * t)
        pole = 2 * np.maximum(np.maximum(-elevation, elevation - (elevations - 1)), 0)
        around = [size * (1 - pole) * _near(elevation.clip(0, elevations - 1), at) for at in range(elevations)]
        found = _shared(azimuth, around, azimuths)
        found[:, [0, -1]] += size * pole / (2 * azimuths)
        return found.reshape(-1, *gradients.shape[1:])

    return Binning(azimuths * elevations, weights)


def _shared(azimuth: Floats, around: list[Floats], azimuths: int) -> Floats:
    """The part of every elevation, divided between the two azimuths beside it by nearness: `[azimuths, elevations, …]`;
    the one before the first is the last upside down, and the one after the last is the first."""
    found = np.empty((azimuths, len(around), *azimuth.shape), np.float32)
    beyond = {azimuths - 1: _near(azimuth, -1), 0: _near(azimuth, azimuths)}
    for place, near in enumerate(_near(azimuth, at) for at in range(azimuths)):
        for height, part in enumerate(around):
            np.multiply(part, near, out=found[place, height])
            if place in beyond:
                found[place, height] += beyond[place] * around[-1 - height]
    return found


def _near(places: Floats, middle: int) -> Floats:
    """How near places are to a bin's middle: 1 there, and 0 at the next one."""
    found: Floats = np.maximum(1 - np.abs(places - np.float32(middle)), 0)
    return found
