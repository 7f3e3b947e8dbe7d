"""The band in which a batch's measures lie while nothing has changed, made at the batch's own size and mix (S-22).

Batches of the same size and class mix are drawn from the reference without replacement (copies would look like similar
rows). Such draws scatter less than a new batch would, because they share the reference's rows; the band is widened for
that. One factor serves all measures, so that the stated false-alarm rate is that of a whole batch, not of one measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from basanite.kernel import within
from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.dice import drawn_rows, source_of
from basanite.metrics.representation.everything import Options, measure
from basanite.metrics.representation.results import Floats, Numbers
from basanite.representation.batches import in_batches
from basanite.representation.catalogue import described
from basanite.representation.data import Data

LARGEST_SHARE: Final = 0.5
"""At most this share of a class's rows is in one draw."""


@dataclass(frozen=True)
class Drawing:
    """How batches are drawn from a set: how many rows of which class, and by how much draws scatter too little."""

    places: Numbers
    counts: Numbers
    widened: float
    """What deviations are multiplied by, because draws share the rows of one reference."""
    short: bool
    """Whether the reference has too few rows to draw batches of the full size."""

    @property
    def size(self) -> int:
        """How many rows a draw has."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Band:
    """Where a measure lies while nothing has changed."""

    low: float
    high: float
    centre: float
    outside: float
    """The share of drawn batches that leave this measure's band: its own false-alarm rate."""


@dataclass(frozen=True)
class Bands:
    """The bands of all measures for one size and mix."""

    bands: Mapping[str, Band]
    drawing: Drawing
    false_alarms: float
    """The share of unchanged batches for which some measure leaves its band: fixed beforehand."""
    draws: int


def drawing_of(reference: Data, batch: Classes) -> Drawing:
    """Batches like this one: its size, and its mix of the classes that the reference knows."""
    known = {name: place for place, name in enumerate(reference.classes.names)}
    counts = {known[name]: int(count) for name, count in zip(batch.names, batch.counts, strict=True) if name in known}
    if len(counts) < 2:  # one class alone cannot be measured: take the reference's own mix
        counts = {}
    places = np.array(sorted(counts) or range(len(known)), dtype=np.int64)
    mix = np.array([counts[int(place)] for place in places]) if counts else reference.classes.counts[places]
    size = int(batch.counts.sum())
    wanted = _apportioned(mix / mix.sum(), size)
    have = reference.classes.counts[places]
    taken = np.minimum(wanted, np.maximum(np.floor(have * LARGEST_SHARE), 1)).astype(np.int64)
    kept = taken > 0
    return Drawing(
        places[kept], taken[kept], _widening(size, int(taken.sum()), int(have.sum())), bool((taken < wanted).any())
    )


def _apportioned(shares: Floats, size: int) -> Numbers:
    """Whole numbers in these shares that sum to the size (largest remainders).

    >>> _apportioned(np.array([0.5, 0.3, 0.2]), 9).tolist()
    [4, 3, 2]
    """
    exact = shares * size
    whole = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - whole), kind="stable")
    whole[order[: size - int(whole.sum())]] += 1
    return whole


def _widening(size: int, drawn: int, have: int) -> float:
    """A new batch differs from the reference by 1/n + 1/N of a row's variance; a draw of m rows shows 1/m - 1/N."""
    return float(np.sqrt((1 / size + 1 / have) / max(1 / drawn - 1 / have, 1e-12)))


def drawn_batch(reference: Data, drawing: Drawing, source: np.random.PCG64) -> Numbers:
    """The rows of one drawn batch."""
    parts = [
        reference.classes.members(int(place))[drawn_rows(int(reference.classes.counts[place]), int(count), source)]
        for place, count in zip(drawing.places, drawing.counts, strict=True)
    ]
    return np.concatenate(parts)


def bands_of(
    reference: Data,
    drawing: Drawing,
    names: Sequence[str],
    options: Options,
    *,
    draws: int,
    seed: int,
    false_alarms: float,
    executor: Executor | None = None,
) -> Bands:
    """The bands of all measures: the middle of drawn batches, and as many deviations as the false-alarm rate asks."""
    source = source_of(seed, "monitor", str(drawing.size))
    batches = (drawn_batch(reference, drawing, source) for _ in range(draws))
    work = partial(_measured, reference, names, options)
    found = np.array(in_batches(work, batches, executor)).reshape(draws, len(names))
    centre, spread = _middle(found), _spread(found)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.abs((found - centre) / spread)
    away = np.where(np.isfinite(away), away, 0.0)
    reach = float(np.quantile(away.max(axis=1), 1 - false_alarms))
    half = reach * spread * drawing.widened
    ends = {
        name: described(name, classes=len(reference.classes), definition=options.point_biserial).ends for name in names
    }
    made = {
        name: Band(
            within(float(centre[at] - half[at]), ends[name]),
            within(float(centre[at] + half[at]), ends[name]),
            float(centre[at]),
            float((away[:, at] > reach).mean()),
        )
        for at, name in enumerate(names)
    }
    return Bands(made, drawing, false_alarms, draws)


def _measured(reference: Data, names: Sequence[str], options: Options, rows: Numbers) -> list[float]:
    part = reference.taken(rows)
    found = measure(part.features, part.classes, names=names, source=part.source, options=options).values
    return [found[name].value for name in names]


def _middle(found: Floats) -> Floats:
    return np.array(
        [np.median(column[np.isfinite(column)]) if np.isfinite(column).any() else np.nan for column in found.T]
    )


def _spread(found: Floats) -> Floats:
    return np.array([column[np.isfinite(column)].std() if np.isfinite(column).any() else np.nan for column in found.T])
