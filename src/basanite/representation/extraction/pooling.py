"""What a layer gives for each row, made one row of numbers: by the layout of its axes, which is never guessed (F-22).

A map of a convolution has its channels first, that of other networks last; a transformer gives tokens with the hidden
units last. The mean over the wrong axis is a row of numbers too, and after a layer norm it is all zeros. So the axis of
the features is taken from the last weights that the values went through, and a shape that this does not settle is
refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.representation.measures.results import named_rows

Pool = Literal["mean", "cls", "flatten"]
Layout = Literal["auto", "channels-first", "channels-last", "tokens"]
POOLS: Final[tuple[str, ...]] = get_args(Pool)
LAYOUTS: Final[tuple[str, ...]] = get_args(Layout)
Floats = NDArray[np.floating[Any]]
FAINT: Final = 1e-6
"""Features that are no larger than this anywhere say nothing: they are what rounding left."""


@dataclass(frozen=True)
class Evidence:
    """What is known of the axis that holds the features: from the last weights that the values went through."""

    width: int | None = None
    """How many features those weights give."""
    axis: int | None = None
    """Their axis, where it is certain: 1 or -1."""


@dataclass(frozen=True)
class Reading:
    """How outputs are turned into rows: what is taken of the places, and how the axes lie where that is said."""

    pool: Pool = "mean"
    layout: Layout = "auto"

    def __post_init__(self) -> None:
        for word, known, name in ((self.pool, POOLS, "pool"), (self.layout, LAYOUTS, "layout")):
            if word not in known:
                raise FeaturesError(f"There is no {name} {word!r}. Choose one of {', '.join(known)}.")


def pool_output(
    layer: str, made: NDArray[Any], reading: Reading, evidence: Evidence, mask: NDArray[Any] | None = None
) -> NDArray[np.float32]:
    """One row of features for each row of a layer's output.

    >>> tokens = np.arange(12.0).reshape(1, 3, 4)
    >>> [pool_output("x", tokens, Reading(how), Evidence(axis=-1)).tolist() for how in ("mean", "cls")]
    [[[4.0, 5.0, 6.0, 7.0]], [[0.0, 1.0, 2.0, 3.0]]]
    """
    if made.ndim <= 2 or reading.pool == "flatten":
        return made.reshape(len(made), -1).astype(np.float32)
    axis = feature_axis(layer, made.shape, reading, evidence, mask)
    places = np.moveaxis(made, axis, -1).reshape(len(made), -1, made.shape[axis])
    fits = mask is not None and axis != 1 and made.ndim == 3 and mask.shape == places.shape[:2]
    if reading.pool == "cls":
        if made.ndim != 3 or axis == 1:
            raise FeaturesError(
                f"Layer {layer!r} gives a map {made.shape[1:]}, which has no first token. Fix: pool by mean or flatten."
            )
        first = mask.argmax(axis=1) if mask is not None and fits else np.zeros(len(made), np.int64)
        return np.asarray(places[np.arange(len(places)), first], dtype=np.float32)
    if mask is None or not fits:
        return np.asarray(places.mean(axis=1, dtype=np.float64), dtype=np.float32)
    return _masked_mean(places, mask)


def _masked_mean(places: Floats, mask: NDArray[Any]) -> NDArray[np.float32]:
    """The mean over the tokens that are no padding."""
    weights = mask.astype(np.float64)
    counts = weights.sum(axis=1)
    if not counts.all():
        raise FeaturesError(
            f"Every token is padding {named_rows(np.flatnonzero(counts == 0))} of a batch. Leave empty texts out."
        )
    return np.asarray(np.einsum("np,npd->nd", weights, places) / counts[:, None], dtype=np.float32)


def feature_axis(
    layer: str, shape: tuple[int, ...], reading: Reading, evidence: Evidence, mask: NDArray[Any] | None = None
) -> int:
    """The axis that holds the features: as said, as the weights before it tell, or as a shape allows only one."""
    last = len(shape) - 1
    if reading.layout != "auto":
        return 1 if reading.layout == "channels-first" else last
    if evidence.axis is not None:
        return last if evidence.axis == -1 else 1
    fits = [axis for axis in (1, last) if shape[axis] == evidence.width]
    if len(fits) == 1:
        return fits[0]
    if len(shape) == 3 and mask is not None and mask.shape[1] == shape[1] != shape[2]:
        return last
    square = [axis for axis, sides in ((1, shape[2:]), (last, shape[1:-1])) if len(sides) == 2 and len(set(sides)) == 1]
    if len(square) == 1 and not fits:
        return square[0]
    by_name = f"channels-first ({shape[1]} features) or {'tokens' if last == 2 else 'channels-last'} ({shape[last]})"
    raise FeaturesError(
        f"Layer {layer!r} gives {shape[1:]} for each row, and nothing tells which axis holds the features. "
        f"Fix: say the layout, {by_name}; or pool by flatten, which keeps every number."
    )


@dataclass
class Watch:
    """What features look like as they come: which never change, and which rows are all zero."""

    rows: int = 0
    zero_rows: int = 0
    low: Floats = field(default_factory=lambda: np.empty(0))
    high: Floats = field(default_factory=lambda: np.empty(0))

    def see(self, features: Floats) -> None:
        """Take in a batch; numbers that are not finite are refused by row."""
        bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if bad.size:
            raise FeaturesError(
                f"The model gives nan or infinite features {named_rows(bad, self.rows)} (rows count from 0). "
                "Fix: look at these inputs, or take features as float32."
            )
        low, high = features.min(axis=0), features.max(axis=0)
        self.low, self.high = (low, high) if not self.rows else (np.minimum(self.low, low), np.maximum(self.high, high))
        self.rows += len(features)
        self.zero_rows += int((~features.any(axis=1)).sum())

    @property
    def constant(self) -> int:
        """How many features are the same in every row, but for rounding."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        return int((self.high - self.low <= 2e-7 * largest).sum()) if self.rows > 1 else 0

    def flags(self) -> Iterator[str]:
        """What must be known about the features before they are measured."""
        size, constant = len(self.low), self.constant
        faint = self.rows and float(np.maximum(np.abs(self.low), np.abs(self.high)).max()) <= FAINT
        if faint:
            yield f"all {size} features are zero or nearly so: is this the right layer, and the right pooling?"
        elif constant == size:
            yield f"all {size} features are the same in every row: is this the right layer, and the right pooling?"
        elif constant:
            yield f"{constant:,} of {size:,} features are the same in every row"
        if self.zero_rows and not faint:
            yield f"{self.zero_rows:,} of {self.rows:,} rows are all zero"


def feature_flags(features: Floats) -> tuple[str, ...]:
    """Whether features are constant or zero.

    >>> feature_flags(np.array([[0.0, 1.0], [0.0, 2.0]]))
    ('1 of 2 features are the same in every row',)
    """
    watch = Watch()
    watch.see(np.asarray(features))
    return tuple(watch.flags())
