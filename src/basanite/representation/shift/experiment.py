"""The shift ("corruption") experiment of the FERM paper: a target domain is mixed into the source, level by level.

Rows of a repeat are nested: a level takes the first rows of each class in an order drawn once, so the state of the
linear measures at one level is that of the level before plus the rows that came: a repeat reads each row once (F-5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from basanite.errors import FeaturesError, UnknownNameError
from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.dice import drawn_rows, source_of
from basanite.metrics.representation.everything import (
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
from basanite.metrics.representation.pairwise.sweep import pairwise_sweep
from basanite.metrics.representation.passes import LinearPass, radii, total
from basanite.metrics.representation.results import Floats, Numbers
from basanite.metrics.representation.sums import ClassSums
from basanite.registry import suggestion
from basanite.representation.data import Data
from basanite.representation.shift.levels import Level, levels_of

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
    """Every measure at every level: `[repeats, levels]`, and `[draws, levels]` with classes and rows drawn anew."""

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
    work = _Work(sides, levels, names, plan.options)
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
    return Curves(levels, sides.counts, _stacked(repeats, names), _stacked(draws, names), fixed)


def measured_names(sides: Sides, plan: ShiftPlan) -> tuple[str, ...]:
    """The measures of the experiment: those asked for, or all but OTCE, which takes long."""
    for name in plan.names:
        if name not in NAMES:
            raise UnknownNameError(f"There is no measure {name!r}. {suggestion(name, NAMES)}")
    if sides.theta is None and "leep" in plan.names:
        raise FeaturesError("LEEP needs source_probabilities in both files, with the same number of columns.")
    usual = [
        name for name in NAMES if name not in ("otce_wd", "otce_wt") and (name != "leep" or sides.theta is not None)
    ]
    return tuple(name for name in NAMES if name in (plan.names or usual))


def _sides(source: Data, target: Data, plan: ShiftPlan) -> Sides:
    if source.dimensions != target.dimensions:
        raise FeaturesError(
            f"{source.name} has {source.dimensions} features a row and {target.name} {target.dimensions}: "
            "both must come from the same layer of one model."
        )
    wanted = (plan.source_classes, plan.target_classes)
    members, names = [], []
    for side, data, count, offset in zip(SIDES, (source, target), wanted, (0, source.rows), strict=True):
        chosen = _chosen(data, count, plan.seed, side)
        members.append(tuple(data.classes.members(place)[: plan.rows] + offset for place in chosen))
        names.append(tuple(f"{side} {data.classes.names[place]}" for place in chosen))
    features = np.concatenate([np.asarray(data.features[...]) for data in (source, target)])
    theta = _probabilities(source, target)
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


def _probabilities(source: Data, target: Data) -> Floats | None:
    parts = [data.source.probabilities for data in (source, target)]
    if parts[0] is None or parts[1] is None or parts[0].shape[1] != parts[1].shape[1]:
        return None
    return np.concatenate([np.asarray(part, np.float64) for part in parts if part is not None])


def _curve_of(work: _Work, seed: int, which: tuple[str, int]) -> list[dict[str, float]]:
    """The curve of one repeat, with all classes, or of one draw, with half of them."""
    (kind, number), sides = which, work.sides
    halves = (_half(count, seed, side, number) for side, count in zip(SIDES, sides.counts, strict=True))
    chosen = _everything(sides) if kind == "repeat" else tuple(halves)
    return work.curve(_ordered(sides, chosen, seed, kind, number))


def _everything(sides: Sides) -> tuple[Numbers, Numbers]:
    return np.arange(sides.counts[0]), np.arange(sides.counts[1])


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

    def taken(self, level: Level) -> tuple[Numbers, Classes]:
        """The rows of a level and their classes."""
        counts = (level.source, level.target)
        parts = [rows[:count] for side, count in zip(self.rows, counts, strict=True) if count for rows in side]
        names = [name for side, count in zip(self.names, counts, strict=True) if count for name in side]
        codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return np.concatenate(parts), Classes(tuple(names), codes)


def _ordered(sides: Sides, chosen: Sequence[Numbers], seed: int, kind: str, number: int) -> _Ordered:
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
class _Work:
    """What is the same for all repeats and draws."""

    sides: Sides
    levels: tuple[Level, ...]
    names: tuple[str, ...]
    options: Options

    def curve(self, order: _Ordered) -> list[dict[str, float]]:
        """Every measure at every level; linear states grow from level to level."""
        moments = bool(set(self.names) & {*LINEAR, *PAIRWISE} - {"ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse"})
        states = [self._states(order, side, moments) for side in (0, 1)]
        found = []
        for level in self.levels:
            parts = [states[0].get(level.source), states[1].get(level.target)]
            found.append(self._values(order, level, total(part for part in parts if part is not None)))
        return found

    def _states(self, order: _Ordered, side: int, moments: bool) -> dict[int, ClassSums]:
        """The state of one side at every number of rows that a level takes: each is the one before plus new rows."""
        counts = sorted({(level.source, level.target)[side] for level in self.levels})
        stream, found = LinearPass(moments=moments), {}
        for low, high in pairwise(counts):
            rows = np.concatenate([own[low:high] for own in order.rows[side]])
            labels = np.repeat(np.array(order.names[side]), high - low)
            stream.add(self.sides.features[rows], labels)
            found[high] = stream.sums()
        return found

    def _values(self, order: _Ordered, level: Level, sums: ClassSums) -> dict[str, float]:
        rows, classes = order.taken(level)
        features, wanted = self.sides.features[rows], set(self.names)
        placed = sums.placed(classes.names)
        second = radii(features, classes, placed) if "davies_bouldin" in wanted else None
        values = linear_values(placed, second, self.options)
        if wanted & set(PAIRWISE):
            pairs = pairwise_sweep(features, classes, precision=self.options.precision, sums=placed)
            values |= pairwise_values(pairs, features, classes, placed, self.options)
        if wanted & set(TRANSFER):
            theta = None if self.sides.theta is None else self.sides.theta[rows]
            given = Source(theta, self.sides.source.features, self.sides.source.labels)
            values |= transfer_values(self.names, features, classes, given, self.options)
        return {name: values[name].value for name in self.names}


def _stacked(found: Sequence[Sequence[dict[str, float]]], names: Sequence[str]) -> dict[str, Floats]:
    return {name: np.array([[level[name] for level in curve] for curve in found]) for name in names} if found else {}


def measured_families(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The measures by family, as the FERM paper draws them."""
    families = {
        "Cosine measures": ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse"),
        "Clustering measures": (*PAIRWISE, "davies_bouldin", "calinski_harabasz", "rs", "c_root_k"),
        "Transferability measures": TRANSFER,
    }
    for title, members in families.items():
        kept = tuple(name for name in names if name in members)
        if kept:
            yield title, kept
