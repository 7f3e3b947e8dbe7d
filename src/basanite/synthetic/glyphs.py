"""Small pictures of any number of classes, made on the spot: glyphs, textures, and glyphs that differ in a dot.

For studies of representations: a network learns some glyphs; other glyphs are near to what it knows, textures are not,
and glyphs that differ only in the place of a dot need exactly what it has learnt to overlook.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

SIDE: Final = 16
STROKES: Final = 3
NOISE: Final = 0.12
KINDS: Final = ("glyphs", "textures", "dots")
Floats = NDArray[np.float64]
Pictures = NDArray[np.uint8]


def made_pictures(kind: str, *, classes: int, rows: int, seed: int, part: int) -> tuple[Pictures, NDArray[np.int64]]:
    """So many pictures of each class with their labels; another `part` gives other pictures of the same classes.

    >>> pictures, labels = made_pictures("glyphs", classes=3, rows=2, seed=0, part=0)
    >>> pictures.shape, labels.tolist()
    ((6, 16, 16), [0, 0, 1, 1, 2, 2])
    """
    rng = np.random.default_rng([seed, part, KINDS.index(kind)])
    labels = np.repeat(np.arange(classes), rows)
    if kind == "textures":
        plain = _textures(labels, classes, rng)
    else:
        plain = _glyphs(labels, _strokes(kind, classes, seed), rng)
    noisy = np.clip(plain + NOISE * rng.normal(size=plain.shape), 0, 1)
    return (255 * noisy).round().astype(np.uint8), labels


def _strokes(kind: str, classes: int, seed: int) -> Floats:
    """The strokes of each class, `[K, strokes, 4]`: both ends of each, in -1..1."""
    rng = np.random.default_rng([seed, 7])
    if kind == "glyphs":
        return rng.uniform(-0.8, 0.8, size=(classes, STROKES, 4))
    base = np.broadcast_to(rng.uniform(-0.7, 0.7, size=(1, STROKES, 4)), (classes, STROKES, 4))
    turns = 2 * np.pi * np.arange(classes) / classes
    dots = 0.75 * np.stack([np.cos(turns), np.sin(turns), np.cos(turns), np.sin(turns)], axis=1)
    return np.concatenate([base, dots[:, None]], axis=1)


def _glyphs(labels: NDArray[np.int64], strokes: Floats, rng: np.random.Generator) -> Floats:
    """Strokes seen from a little to the side: moved, turned and scaled at random."""
    rows = len(labels)
    axis = np.linspace(-1.1, 1.1, SIDE)
    places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(1, -1, 2)
    turn, scale = rng.normal(scale=0.15, size=rows), rng.uniform(0.9, 1.1, size=rows)
    matrix = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], axis=1).reshape(rows, 2, 2)
    seen = (places @ matrix) * scale[:, None, None] + rng.uniform(-0.15, 0.15, size=(rows, 1, 2))
    made = np.zeros((rows, SIDE * SIDE))
    for stroke in np.moveaxis(strokes[labels], 1, 0):
        start, way = stroke[:, None, :2], stroke[:, None, 2:] - stroke[:, None, :2]
        long = np.maximum((way**2).sum(axis=-1), 1e-9)
        at = np.clip(((seen - start) * way).sum(axis=-1) / long, 0, 1)
        apart = ((seen - start - at[..., None] * way) ** 2).sum(axis=-1)
        made = np.maximum(made, np.exp(-apart / (2 * 0.09**2)))
    return made.reshape(rows, SIDE, SIDE)


def _textures(labels: NDArray[np.int64], classes: int, rng: np.random.Generator) -> Floats:
    """Waves of a direction and a length for each class, from a random start."""
    angle = np.pi * (labels % ((classes + 1) // 2)) / ((classes + 1) // 2) + rng.normal(scale=0.06, size=len(labels))
    length = np.where(labels < (classes + 1) // 2, 1.2, 1.9) * rng.uniform(0.93, 1.07, size=len(labels))
    axis = np.arange(SIDE)
    across, down = np.meshgrid(axis, axis)
    way = np.cos(angle)[:, None, None] * across + np.sin(angle)[:, None, None] * down
    start = rng.uniform(0, 2 * np.pi, size=(len(labels), 1, 1))
    return 0.5 + 0.45 * np.sin(length[:, None, None] * way + start)


def digit_pictures(classes: tuple[int, ...], *, rows: int, part: int) -> tuple[Pictures, NDArray[np.int64]]:
    """Handwritten digits of scikit-learn at twice their size; another `part` gives other pictures."""
    from sklearn.datasets import load_digits

    found: Any = load_digits()
    chosen = [np.flatnonzero(found.target == digit)[part::2][:rows] for digit in classes]
    kept = np.concatenate(chosen)
    pictures = np.kron(found.images[kept] / 16, np.ones((1, 2, 2)))
    return (255 * pictures).round().astype(np.uint8), found.target[kept].astype(np.int64)
