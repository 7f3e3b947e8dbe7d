"""Every measure for each group of rows, and paired differences of groups on the classes that both have (F-14)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.intervals import FEWEST_UNITS, MOST_UNDEFINED
from basanite.analysis.results import Value
from basanite.kernel import Ends, settled, within
from basanite.representation.catalogue import BEST, measure_metric
from basanite.representation.data import Data
from basanite.representation.intervals import Drawn, Weights, draw_all, row_draws
from basanite.representation.measures.all_measures import Options, measure
from basanite.representation.measures.results import (
    UNDEFINED,
    Floats,
    Measured,
    Numbers,
    different_classes_note,
)
from basanite.representation.values import FIXED, share_value, value_with_interval

MOST_LEVELS: Final = 20
"""Groups of a factor that are measured: the largest."""
NOT_PAIRED: Final = ("dunn", "otce_wd", "otce_wt")
"""Measures without draws that two groups could share."""


@dataclass(frozen=True)
class GroupDifference:
    """One group against another on the classes that both have; `difference` is first minus second."""

    factor: str
    metric: str
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    level: float
    """The level of the interval: all pairs of a factor and measure hold together."""
    classes: int
    verdict: str
    """`first` or `second` (the better one), `no difference shown` or `undefined`."""
    note: str = ""


@dataclass(frozen=True)
class Grouped:
    """What was found for the groups of all factors."""

    values: Mapping[str, Mapping[str, Mapping[str, Value]]]
    differences: tuple[GroupDifference, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Grouping:
    """How groups are measured: which measures, by which definitions, in which draws."""

    names: tuple[str, ...]
    options: Options
    level: float
    seed: int
    weights: Weights
    each: Mapping[str, Floats]
    """Figures of each row in the whole set: accuracy, misplaced."""


def measure_groups(data: Data, how: Grouping) -> Grouped:
    """The values of every group of every factor, and the differences between groups."""
    values: dict[str, Mapping[str, Mapping[str, Value]]] = {}
    differences: list[GroupDifference] = []
    notes: list[str] = []
    for factor, column in data.groups.items():
        members, left_out = group_members(column)
        values[factor] = {level: group_values(data, rows, how) for level, rows in members.items()}
        differences += _differences(data, factor, members, how)
        notes += _notes(data, factor, members, left_out, how.names)
    return Grouped(values, tuple(differences), tuple(notes))


def group_members(column: NDArray[np.str_]) -> tuple[dict[str, Numbers], int]:
    """The rows of each group in the order of names, the largest groups only; and how many groups were left out."""
    names, counts = np.unique(column[column != ""], return_counts=True)
    kept = sorted(names[np.argsort(-counts, kind="stable")][:MOST_LEVELS].tolist())
    return {name: np.flatnonzero(column == name) for name in kept}, max(len(names) - MOST_LEVELS, 0)


def _notes(
    data: Data, factor: str, members: Mapping[str, Numbers], left_out: int, names: Collection[str]
) -> Iterator[str]:
    if left_out:
        yield f"{factor}: the {MOST_LEVELS} largest groups are measured, {left_out} more are not."
    missing = int((data.groups[factor] == "").sum())
    if missing:
        yield f"{factor}: the group of {missing} rows is not known."
    counts = [len(np.unique(data.classes.codes[rows])) for rows in members.values()]
    found = (different_classes_note(name, counts) for name in names)
    yield from (f"{factor}: {note}" for note in found if note is not None)


def group_values(data: Data, rows: Numbers, how: Grouping) -> dict[str, Value]:
    """Every measure of some rows as if they stood alone, and the means of each row's figures."""
    part = data.subset(rows)
    shares = {name: _share(array, rows, how) for name, array in how.each.items()}
    if len(part.classes) < 2:
        nothing = Measured(float("nan"), (UNDEFINED,), notes=("fewer than two classes in this group",))
        return {
            name: value_with_interval(name, nothing, Drawn(), rows=len(rows), level=how.level) for name in how.names
        } | shares
    found = measure(part.features, part.classes, names=how.names, source=part.source, options=how.options)
    few = len(rows) < FEWEST_UNITS
    drawn = Drawn() if few else draw_all(part, how.names, how.options, _some(how.weights, rows), seed=how.seed)
    values = {
        name: value_with_interval(name, one, drawn, rows=len(rows), level=how.level)
        for name, one in found.values.items()
    }
    return values | shares


def _share(array: Floats, rows: Numbers, how: Grouping) -> Value:
    draws = [_weighted_mean(array[rows], block[:, rows]) for block in how.weights()]
    return share_value(
        float(array[rows].mean()),
        np.concatenate(draws) if draws else None,
        rows=len(rows),
        level=how.level,
        flags=(FIXED,) if array is how.each.get("misplaced") else (),
    )


def _weighted_mean(values: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=1)
    return np.asarray(np.divide(weights @ values, total, out=np.full(len(weights), np.nan), where=total > 0))


def _some(weights: Weights, rows: Numbers) -> Weights:
    return lambda: (block[:, rows] for block in weights())


def _differences(data: Data, factor: str, members: Mapping[str, Numbers], how: Grouping) -> Iterator[GroupDifference]:
    pairs = list(combinations(members, 2))
    level = 1 - (1 - how.level) / max(len(pairs), 1)  # Bonferroni: all intervals of a measure hold together
    known: dict[tuple[str, tuple[int, ...]], _Side] = {}
    for first, second in pairs:
        shared = _common_classes(data, members[first], members[second])
        sides = []
        for name in (first, second):
            key = name, tuple(shared)
            if key not in known:
                known[key] = _side(data, members[name], shared, how)
            sides.append(known[key])
        for metric in sides[0].values:
            yield _difference(factor, metric, (first, second), sides, level, len(shared))


@dataclass(frozen=True)
class _Side:
    values: Mapping[str, float]
    draws: Mapping[str, Floats]
    rows: int
    ends: Mapping[str, Ends] = field(default_factory=dict)


def _common_classes(data: Data, first: Numbers, second: Numbers) -> Numbers:
    """The classes that have two rows or more in both groups."""
    counts = [np.bincount(data.classes.codes[rows], minlength=len(data.classes)) for rows in (first, second)]
    return np.flatnonzero((counts[0] > 1) & (counts[1] > 1))


def _side(data: Data, members: Numbers, shared: Numbers, how: Grouping) -> _Side:
    """One group on the shared classes alone."""
    rows = members[np.isin(data.classes.codes[members], shared)]
    shares = {name: float(array[rows].mean()) if len(rows) else float("nan") for name, array in how.each.items()}
    part = data.subset(rows)
    names = tuple(name for name in how.names if name not in NOT_PAIRED)
    if len(shared) < 2:
        return _Side(dict.fromkeys(names, float("nan")) | shares, {}, len(rows))
    found = measure(part.features, part.classes, names=names, source=part.source, options=how.options)
    weights = _some(how.weights, rows)
    drawn = draw_all(part, [n for n in names if n != "dunn"], how.options, weights, seed=how.seed)
    each = {name: array[rows] for name, array in how.each.items()}
    draws = {**drawn.values, **row_draws(each, part.classes, weights).values}
    return _Side({name: one.value for name, one in found.values.items()} | shares, draws, len(rows), drawn.ends)


def _difference(
    factor: str, metric: str, names: tuple[str, str], sides: Sequence[_Side], level: float, shared: int
) -> GroupDifference:
    value = sides[0].values[metric] - sides[1].values[metric]
    half, note = _half_width(metric, sides, level)
    if shared < 2:
        note = "fewer than two classes with two rows in both groups"
    least, most = sides[0].ends.get(metric, measure_metric(metric).ends)
    ends = least - most, most - least
    bounds = (None, None) if half is None or not np.isfinite(value) else (value - half, value + half)
    verdict = _verdict(metric, value, bounds)
    first, second = names
    low, high = (settled(within(bound, ends), ends) for bound in bounds)
    return GroupDifference(factor, metric, first, second, settled(value, ends), low, high, level, shared, verdict, note)


def _half_width(metric: str, sides: Sequence[_Side], level: float) -> tuple[float | None, str]:
    """Half the width of a normal interval: the deviation of the difference over draws that both groups share."""
    if min(side.rows for side in sides) < FEWEST_UNITS:
        return None, "too few rows for an interval"
    draws = [side.draws.get(metric) for side in sides]
    if draws[0] is None or draws[1] is None or not min(len(one) for one in draws if one is not None):
        return None, "no interval: not drawn"
    size = min(len(draws[0]), len(draws[1]))
    with np.errstate(invalid="ignore"):  # two infinite draws have no difference, and are counted as undefined
        apart = draws[0][:size] - draws[1][:size]
    defined = apart[np.isfinite(apart)]
    if size - len(defined) > MOST_UNDEFINED * size or not defined.std() > 0:
        return None, "no interval: draws are undefined or all alike"
    return float(NormalDist().inv_cdf((1 + level) / 2) * defined.std()), ""


def _verdict(metric: str, value: float, bounds: tuple[float | None, float | None]) -> str:
    low, high = bounds
    if np.isnan(value):
        return "undefined"
    if low is None or high is None or low <= 0 <= high:
        return "no difference shown"
    return "first" if (value > 0) == (BEST[metric] == "high") else "second"
