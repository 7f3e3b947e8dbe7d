"""The shift experiment: new classes are mixed in step by step, and every measure gives a curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from basanite.errors import FeaturesError, UnknownNameError
from basanite.kernel import source_of
from basanite.registry import suggestion
from basanite.representation.data import Data
from basanite.representation.measures.all_measures import (
    COSINE,
    LINEAR,
    NAMES,
    PAIRWISE,
    TRANSFER,
    Options,
    Source,
    linear_values,
    pairwise_values,
    transfer_values,
)
from basanite.representation.measures.further import FURTHER, further_values
from basanite.representation.measures.resamples import drawn_rows
from basanite.representation.measures.results import Classes, Floats, Numbers
from basanite.representation.measures.sums import ClassSums, LinearPass, radii, total
from basanite.representation.measures.sweep import pairwise_sweep
from basanite.representation.measures.transfer import h_score_of
from basanite.representation.shift_states import (
    SidePairs,
    Table,
    level_moments,
    level_pairs,
    products_fit,
    side_pairs,
    side_products,
)


@dataclass(frozen=True)
class Level:
    """How many rows each source class and each target class has."""

    source: int
    target: int

    def rows(self, source_classes: int, target_classes: int) -> int:
        """How many rows there are in all."""
        return source_classes * self.source + target_classes * self.target

    def classes(self, source_classes: int, target_classes: int) -> int:
        """K at this level: both end points change it."""
        return (source_classes if self.source else 0) + (target_classes if self.target else 0)

    def share(self, source_classes: int, target_classes: int) -> float:
        """x: the share of target rows.

        >>> Level(50, 50).share(200, 100)
        0.3333333333333333
        """
        return target_classes * self.target / self.rows(source_classes, target_classes)


def levels_of(source: int, target: int, steps: int) -> tuple[Level, ...]:
    """The levels from nothing but source rows to nothing but target rows, about so many steps each way.

    >>> [(level.source, level.target) for level in levels_of(3, 2, 9)]
    [(3, 0), (3, 1), (3, 2), (2, 2), (1, 2), (0, 2)]
    """
    added = [Level(source, count) for count in _counts(target, steps)]
    taken = [Level(count, target) for count in reversed(_counts(source, steps)[:-1])]
    return (*added, *taken)


def _counts(most: int, steps: int) -> list[int]:
    """0, 1 and further numbers of rows up to the most, evenly spread."""
    if most <= steps:
        return list(range(most + 1))
    return [0, *sorted({round(float(count)) for count in np.linspace(1, most, max(steps, 2))})]


REPEATS: Final = 10
STEPS: Final = 6
DRAWS: Final = 100
FEWEST_RESAMPLED: Final = 4
"""A side with fewer classes than this keeps all of them in every draw."""
SIDES: Final = ("source", "target")
Report = Callable[[str, int, int], None]


@dataclass(frozen=True)
class ShiftPlan:
    """Everything that is fixed before the experiment."""

    names: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    source_classes: int | None = None
    """So many source classes, chosen once by the seed; all without it."""
    target_classes: int | None = None
    rows: int | None = None
    """The most rows of a class; as many as the smallest class has without it."""
    steps: int = STEPS
    repeats: int = REPEATS
    draws: int = DRAWS
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True)
class Sides:
    """The classes of the experiment with the rows of each: row numbers of the union, source first."""

    features: Any
    members: tuple[tuple[Numbers, ...], tuple[Numbers, ...]]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    theta: Floats | None
    source: Source

    @property
    def counts(self) -> tuple[int, int]:
        """How many classes either side has."""
        return len(self.members[0]), len(self.members[1])


@dataclass(frozen=True)
class Curves:
    """Every measure at every level: `[repeats, levels]`, and `[draws, levels]` with classes and rows drawn again."""

    levels: tuple[Level, ...]
    classes: tuple[int, int]
    repeats: dict[str, Floats]
    draws: dict[str, Floats]
    fixed: tuple[str, ...]
    """Sides whose classes were too few to be drawn."""

    @property
    def shares(self) -> Floats:
        """x at every level."""
        return np.array([level.share(*self.classes) for level in self.levels])


def curves(
    source: Data,
    target: Data,
    plan: ShiftPlan,
    *,
    progress: Report = lambda name, done, of: None,
    executor: Executor | None = None,
) -> Curves:
    """Run the experiment: repeats with all classes, then draws with half of the classes of each side (S-22)."""
    sides = _sides(source, target, plan)
    most = [min(len(rows) for rows in side) for side in sides.members]
    levels = levels_of(most[0], most[1], plan.steps)
    names = measured_names(sides, plan)
    work = _Work(sides, levels, names, plan.options, _table(sides, names, plan.options))
    every = [("repeat", number) for number in range(plan.repeats)] + [("draw", number) for number in range(plan.draws)]
    each = partial(_curve_of, work, plan.seed)
    found = []
    for (kind, number), curve in zip(
        every, map(each, every) if executor is None else executor.map(each, every), strict=True
    ):
        found.append(curve)
        progress(kind, number + 1, plan.repeats if kind == "repeat" else plan.draws)
    repeats, draws = found[: plan.repeats], found[plan.repeats :]
    fixed = tuple(side for side, count in zip(SIDES, sides.counts, strict=True) if count < FEWEST_RESAMPLED)
    return Curves(levels, sides.counts, _stack_curves(repeats, names), _stack_curves(draws, names), fixed)


def _table(sides: Sides, names: Sequence[str], options: Options) -> Table | None:
    """The distances that all repeats share; rival definitions of Dunn and few levels need nothing else."""
    if not set(names) & set(PAIRWISE):
        return None
    everything = (*sides.members[0], *sides.members[1])
    codes = np.repeat(np.arange(len(everything)), list(map(len, everything)))
    return Table.of(sides.features, Classes(tuple(range(len(everything))), codes), options.precision)


def measured_names(sides: Sides, plan: ShiftPlan) -> tuple[str, ...]:
    """The measures of the experiment: those asked for, or all but OTCE, which takes long."""
    for name in plan.names:
        if name not in NAMES:
            raise UnknownNameError(f"There is no measure {name!r}. {suggestion(name, NAMES)}")
    if sides.theta is None and {"leep", "nce"} & set(plan.names):
        raise FeaturesError("LEEP and NCE need source_probabilities in both files, with the same number of columns.")
    left_out = {"otce_wd", "otce_wt", *FURTHER, *(("leep",) if sides.theta is None else ())}
    usual = [name for name in NAMES if name not in left_out]
    return tuple(name for name in NAMES if name in (plan.names or usual))


def _sides(source: Data, target: Data, plan: ShiftPlan) -> Sides:
    if source.dimensions != target.dimensions:
        raise FeaturesError(
            f"{source.name} has {source.dimensions} features a row and {target.name} {target.dimensions}: "
            "both must come from the same layer of one model."
        )
    wanted = (plan.source_classes, plan.target_classes)
    members, names = [], []
    taken: list[Numbers] = []
    start = 0
    for side, data, count in zip(SIDES, (source, target), wanted, strict=True):
        chosen = _chosen(data, count, plan.seed, side)
        rows = [data.classes.members(place)[: plan.rows] for place in chosen]
        edges = start + np.cumsum([0, *map(len, rows)])
        members.append(tuple(np.arange(low, high) for low, high in pairwise(edges.tolist())))
        names.append(tuple(f"{side} {data.classes.names[place]}" for place in chosen))
        taken.append(np.concatenate(rows))
        start = int(edges[-1])
    features = np.concatenate(
        [np.asarray(data.features[...])[own] for data, own in zip((source, target), taken, strict=True)]
    )
    theta = _probabilities((source, target), taken)
    given = Source(theta, source.features, source.classes)
    return Sides(features, (members[0], members[1]), (names[0], names[1]), theta, given)


def _chosen(data: Data, count: int | None, seed: int, side: str) -> Numbers:
    """The classes that take part: they are fixed for the whole experiment."""
    have = len(data.classes)
    if have < 2 or (count is not None and not 2 <= count <= have):
        raise FeaturesError(
            f"{data.name} has {have} classes; the {side} side needs at least 2, and no more than it has."
        )
    return np.arange(have) if count is None else drawn_rows(have, count, source_of(seed, "shift classes", side))


def _probabilities(sides: tuple[Data, Data], taken: Sequence[Numbers]) -> Floats | None:
    parts = [data.source.probabilities for data in sides]
    if parts[0] is None or parts[1] is None or parts[0].shape[1] != parts[1].shape[1]:
        return None
    chosen = [np.asarray(part, np.float64)[own] for part, own in zip(parts, taken, strict=True) if part is not None]
    return np.concatenate(chosen)


def _curve_of(work: _Work, seed: int, which: tuple[str, int]) -> list[dict[str, float]]:
    """The curve of one repeat, with all classes, or of one draw, with half of them."""
    (kind, number), sides = which, work.sides
    chosen = [
        np.arange(count) if kind == "repeat" else _half(count, seed, side, number)
        for side, count in zip(SIDES, sides.counts, strict=True)
    ]
    return work.curve(_shuffle_rows(sides, chosen, seed, kind, number))


def _half(count: int, seed: int, side: str, draw: int) -> Numbers:
    """Half of the classes, without replacement: a class taken twice would be its own rival."""
    if count < FEWEST_RESAMPLED:
        return np.arange(count)
    return drawn_rows(count, (count + 1) // 2, source_of(seed, "shift", side, str(draw)))


@dataclass(frozen=True)
class _Ordered:
    """The classes of one repeat or draw, each with its rows in the order in which levels take them."""

    rows: tuple[tuple[Numbers, ...], tuple[Numbers, ...]]
    names: tuple[tuple[str, ...], tuple[str, ...]]

    def level_rows(self, level: Level) -> tuple[Numbers, Classes]:
        """The rows of a level and their classes."""
        counts = (level.source, level.target)
        parts = [rows[:count] for side, count in zip(self.rows, counts, strict=True) if count for rows in side]
        names = [name for side, count in zip(self.names, counts, strict=True) if count for name in side]
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return np.concatenate(parts), Classes(tuple(names), codes)


def _shuffle_rows(sides: Sides, chosen: Sequence[Numbers], seed: int, kind: str, number: int) -> _Ordered:
    rows, names = [], []
    for side, places, members, labels in zip(SIDES, chosen, sides.members, sides.names, strict=True):
        dice = source_of(seed, "shift rows", kind, str(number), side)
        shuffled = {
            place: own[np.argsort(dice.random_raw(len(own)), kind="stable")] for place, own in enumerate(members)
        }
        rows.append(tuple(shuffled[int(place)] for place in places))
        names.append(tuple(labels[int(place)] for place in places))
    return _Ordered((rows[0], rows[1]), (names[0], names[1]))


@dataclass(frozen=True)
class _Merged:
    """The states of both sides at one level; those of pairs and products where measures need them."""

    sums: ClassSums
    pairs: Sequence[SidePairs] | None
    products: Sequence[Floats] | None
    shift: Floats
    """What was taken off before products were made."""


@dataclass(frozen=True)
class _Work:
    """What is the same for all repeats and draws."""

    sides: Sides
    levels: tuple[Level, ...]
    names: tuple[str, ...]
    options: Options

    table: Table | None = None
    """The distances between all rows, where a measure of pairs is wanted and they fit into memory."""

    def curve(self, order: _Ordered) -> list[dict[str, float]]:
        """Every measure at every level; states grow from level to level."""
        states = [self._states(order, side) for side in (0, 1)]
        pairs = self._pairs(order)
        shift = states[0][max(states[0])].shift
        products = self._products(order, shift)
        found = []
        for level in self.levels:
            present = [(side, count) for side, count in enumerate((level.source, level.target)) if count]
            state = total(states[side][count] for side, count in present)
            near = [pairs[side][count] for side, count in present] if pairs else None
            whole = [products[side][count] for side, count in present] if products else None
            found.append(self._values(order, level, _Merged(state, near, whole, shift)))
        return found

    def _counts(self, side: int) -> list[int]:
        """How many rows of each class of a side levels take."""
        return sorted({(level.source, level.target)[side] for level in self.levels} - {0})

    def _pairs(self, order: _Ordered) -> list[dict[int, SidePairs]] | None:
        if self.table is None:
            return None
        extremes = "dunn" in self.names
        return [side_pairs(self.table, order.rows[side], self._counts(side), extremes=extremes) for side in (0, 1)]

    def _products(self, order: _Ordered, shift: Floats) -> list[dict[int, Floats]] | None:
        """The products that the H-score takes, of both sides about one shift."""
        wanted = "h_score" in self.names and not self.options.shrunk
        if not wanted or not products_fit(len(shift), len(self.levels)):
            return None
        return [side_products(self.sides.features, order.rows[side], self._counts(side), shift) for side in (0, 1)]

    def _states(self, order: _Ordered, side: int) -> dict[int, ClassSums]:
        """The state of one side at every number of rows that a level takes: each is the one before plus new rows."""
        moments = bool(set(self.names) & {*LINEAR, *PAIRWISE, "h_score"} - set(COSINE))
        stream, found = LinearPass(moments=moments), {}
        for low, high in pairwise((0, *self._counts(side))):
            rows = np.concatenate([own[low:high] for own in order.rows[side]])
            labels = np.repeat(np.array(order.names[side]), high - low)
            stream.add(self.sides.features[rows], labels)
            found[high] = stream.sums()
        return found

    def _values(self, order: _Ordered, level: Level, merged: _Merged) -> dict[str, float]:
        rows, classes = order.level_rows(level)
        features, wanted = self.sides.features[rows], set(self.names)
        placed = merged.sums.in_order(classes.names)
        second = radii(features, classes, placed) if "davies_bouldin" in wanted else None
        values = linear_values(placed, second, self.options)
        if wanted & set(PAIRWISE):
            if merged.pairs is not None and self.table is not None:
                pairs = level_pairs(self.table, merged.pairs, rows, classes, placed)
            else:
                pairs = pairwise_sweep(features, classes, precision=self.options.precision, sums=placed)
            values |= pairwise_values(pairs, features, classes, placed, self.options)
        if merged.products is not None:
            moments = level_moments(merged.products, placed.about(merged.shift))
            values["h_score"] = h_score_of(moments, len(rows), factored=True)
        others = tuple(name for name in self.names if name in TRANSFER and name not in values)
        if others:
            theta = None if self.sides.theta is None else self.sides.theta[rows]
            given = Source(theta, self.sides.source.features, self.sides.source.labels)
            values |= transfer_values(others, features, classes, given, self.options)
        if further := tuple(name for name in self.names if name in FURTHER):
            theta = None if self.sides.theta is None else self.sides.theta[rows]
            values |= further_values(further, features, classes, theta)
        return {name: values[name].value for name in self.names}


def _stack_curves(found: Sequence[Sequence[dict[str, float]]], names: Sequence[str]) -> dict[str, Floats]:
    return {name: np.array([[level[name] for level in curve] for curve in found]) for name in names} if found else {}
