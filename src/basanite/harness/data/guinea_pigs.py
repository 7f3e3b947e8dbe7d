"""Guinea pigs: made-up rows and clips on which a claim is supported, or refuted, by construction (H-39).

**traits**: each of eight hidden traits switches its own columns on and off, and the label is a weighted sum of the
traits. Columns of one trait restore each other, so a learner without labels sees the traits, and a linear
classifier of few labels does better on what was learned than a strong one on the columns.

**product**: columns are independent, and the label says whether the first two lie on the same side of their middle. A
denoising learner restores each column from itself alone, so its codes are sums over single columns. No such sum knows
the label: a linear classifier on them stays at the floor, and a kernel machine on the columns does not.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.data.dataset import Dataset
from basanite.harness.video.data import encode, made_folder

Kind = Literal["traits", "product"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
TARGET: Final = "yes"
TRAITS: Final = 8
WEIGHTS: Final = np.tile([1.0, -1.0], TRAITS // 2)
SLOPE, BIAS = 1.2, -1.5
"""How surely a trait switches its columns on."""
COLUMNS_OF_A_TRAIT: Final = 25
COLUMNS_OF_A_PRODUCT: Final = 6

LAMPS: Final = (9, 16)
"""Rows and columns of lamps in a picture; each trait has a ninth of a row, 18 in all."""
LAMP: Final = 10
"""Pixels of a lamp on each side."""
FRAMES: Final = 12
DARK, BRIGHT, FLICKER = 90.0, 150.0, 12.0
DRAWN_AS: Final = "1"


def guinea_pig_rows(kind: str, rows: int, seed: int) -> Dataset:
    """A table whose label follows from its construction.

    >>> made = guinea_pig_rows("product", 100, seed=1)
    >>> same_side = (made.items[:, 0] > 0.5) == (made.items[:, 1] > 0.5)
    >>> bool((same_side == made.targets["yes"]).all())
    True
    """
    dice = np.random.default_rng([seed, KINDS.index(known_kind(kind))])
    if kind == "traits":
        items, labels = _traits(rows, COLUMNS_OF_A_TRAIT, dice)
    else:
        items = dice.random((rows, COLUMNS_OF_A_PRODUCT))
        labels = (items[:, 0] > 0.5) == (items[:, 1] > 0.5)
    return _dataset(f"generated table: {kind}", items, labels)


def _traits(rows: int, columns: int, dice: np.random.Generator) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Columns of all traits side by side, and the label of every row."""
    traits = dice.normal(size=(rows, TRAITS))
    chance = 1 / (1 + np.exp(-(SLOPE * np.repeat(traits, columns, axis=1) + BIAS)))
    return (dice.random(chance.shape) < chance).astype(np.float64), traits @ WEIGHTS > 0


def _dataset(name: str, items: Any, labels: NDArray[np.bool_]) -> Dataset:
    counts = {"rows": len(labels), "positives": int(labels.sum())}
    return Dataset(
        name, items, {TARGET: labels.astype(np.float64)}, first_labels=labels.astype(np.int64), counts=counts
    )


def known_kind(kind: str) -> Kind:
    """The kind of construction, or the ones there are."""
    if kind not in KINDS:
        raise SettingError(f'kind = "{kind}" cannot be used: write {" or ".join(KINDS)}.')
    return "traits" if kind == "traits" else "product"


def guinea_pig_clips(kind: str, clips: int, seed: int, folder: Path | None = None) -> Path:
    """A folder of encoded clips of a wall of lamps, in folders `no` and `yes`; made as a whole when first asked for.

    The lamps are the columns of `traits`; of `product`, the left and the right half of the wall are bright or dark.
    """
    known_kind(kind)
    return made_folder(f"lamps-{DRAWN_AS}-{kind}-{clips}-{seed}", folder, lambda made: _write(made, kind, clips, seed))


def _write(folder: Path, kind: str, clips: int, seed: int) -> None:
    dice = np.random.default_rng([seed, KINDS.index(known_kind(kind)), 1])
    lamps, labels = _lamps(kind, clips, dice)
    for name in ("no", TARGET):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for at, (wall, label) in enumerate(zip(lamps, labels, strict=True)):
        large = np.kron(wall, np.ones((LAMP, LAMP)))
        frames = DARK + (BRIGHT - DARK) * large + dice.normal(0, FLICKER, (FRAMES, *large.shape))
        encode(folder / (TARGET if label else "no") / f"clip{at:05}.avi", np.clip(frames, 0, 255).astype(np.uint8))


def _lamps(kind: str, clips: int, dice: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """How bright each lamp of each wall is, 0 to 1, and the labels."""
    if kind == "traits":
        items, labels = _traits(clips, LAMPS[0] * LAMPS[1] // TRAITS, dice)
        return items.reshape(clips, *LAMPS), labels
    halves = dice.random((clips, 2)) < 0.5
    middle = LAMPS[1] // 2
    walls = np.repeat(np.repeat(halves[:, None, :], middle, axis=2), LAMPS[0], axis=1).astype(np.float64)
    noise = dice.random(walls.shape) < 0.2
    return np.abs(walls - noise), halves[:, 0] == halves[:, 1]
