"""What a shift curve tells: is it monotone, where does it step the wrong way for sure, and is it more than noise?

A step is a violation only if its paired interval over draws excludes 0; draws take classes and rows again (S-22).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from basanite.analysis.interval_methods import tails_of
from basanite.analysis.intervals import MOST_UNDEFINED
from basanite.kernel import Direction
from basanite.representation.data import Data, threads_for
from basanite.representation.measures.results import DIRECTIONS, Floats
from basanite.representation.rank_correlation import kendall_tau_b
from basanite.representation.settings import Choices
from basanite.representation.shift import Curves, Report, ShiftPlan, curves
from basanite.representation.values import moved_to

FLAT = "flat"
NOISE = "the range is within the deviation of source-only draws"
UNDEFINED = "undefined at some levels"
NO_DRAWS = "no draws: no step is called a violation"
NOTHING = 1e-12


@dataclass(frozen=True)
class Step:
    """A step of the normalised mean curve the wrong way, whose interval excludes 0."""

    start: int
    """The level it starts from; it ends at the next."""
    size: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """One measure over all levels, with the figures that judge it."""

    name: str
    best: Direction
    mean: Floats
    deviation: Floats
    """Over repeats."""
    normalised: Floats
    low: Floats
    """Of the normalised curve, over draws; nan without draws."""
    high: Floats
    raw_range: float
    source_only_deviation: float
    """Over draws, at the level without target rows; over repeats where there are no draws."""
    wrong_steps: int
    """Steps the wrong way, shown or not."""
    violations: tuple[Step, ...]
    tau_b: float
    flags: tuple[str, ...]

    @property
    def largest_violation(self) -> float:
        """The largest step the wrong way that is shown; 0 if there is none."""
        return max((abs(step.size) for step in self.violations), default=0.0)


def curve_of(name: str, curves: Curves, level: float) -> Curve:
    """One measure's curve from all repeats and draws."""
    repeats, draws = curves.repeats[name], curves.draws.get(name, np.empty((0, len(curves.levels))))
    mean, deviation = column_means(repeats), _deviations(repeats)
    best = DIRECTIONS[name]
    normal = scale_to_unit(mean)
    each = np.array([scale_to_unit(draw) for draw in draws]).reshape(len(draws), len(mean))
    low, high = _band(normal, each, level)
    wrong = _wrong(np.diff(normal), best)
    noise = float(np.nanstd(draws[:, 0])) if len(draws) else float(deviation[0])
    noise = 0.0 if noise <= NOTHING * abs(mean[0]) else noise
    raw = float(np.nanmax(mean) - np.nanmin(mean)) if np.isfinite(mean).any() else float("nan")
    flags = _flags(mean, raw, noise, len(draws))
    violations = () if FLAT in flags else tuple(_violations(normal, each, wrong, level))
    return Curve(
        name=name,
        best=best,
        mean=mean,
        deviation=deviation,
        normalised=normal,
        low=low,
        high=high,
        raw_range=raw,
        source_only_deviation=noise,
        wrong_steps=0 if FLAT in flags else int(wrong.sum()),
        violations=violations,
        tau_b=float("nan") if FLAT in flags else kendall_tau_b(curves.shares, mean),
        flags=flags,
    )


def scale_to_unit(curve: Floats) -> Floats:
    """Min-max to 0..1 over levels; a flat curve is all 0.

    >>> scale_to_unit(np.array([2.0, 4.0, 3.0])).tolist(), scale_to_unit(np.array([2.0, 2.0])).tolist()
    ([0.0, 1.0, 0.5], [0.0, 0.0])
    """
    finite = curve[np.isfinite(curve)]
    if not finite.size:
        return np.full_like(curve, np.nan)
    low, wide = finite.min(), np.ptp(finite)
    if wide <= NOTHING * max(abs(low), NOTHING):
        return np.where(np.isfinite(curve), 0.0, np.nan)
    return np.where(np.isfinite(curve), (curve - low) / wide, np.nan)


def column_means(table: Floats) -> Floats:
    """The mean of each column over what is finite; nan where nothing is."""
    finite = np.isfinite(table)
    count = finite.sum(axis=0)
    total = np.where(finite, table, 0.0).sum(axis=0)
    return np.asarray(np.divide(total, count, out=np.full(table.shape[1], np.nan), where=count > 0))


def _deviations(table: Floats) -> Floats:
    centre = column_means(table)
    finite = np.isfinite(table)
    squares = np.where(finite, (table - centre) ** 2, 0.0).sum(axis=0)
    count = finite.sum(axis=0)
    found = np.divide(squares, count - 1, out=np.full(table.shape[1], np.nan), where=count > 1)
    spread = np.sqrt(found)
    return np.where(spread <= NOTHING * np.abs(centre), 0.0, spread)  # equal but for rounding (S-26)


def _wrong(steps: Floats, best: Direction) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which steps go the wrong way: a measure should get worse as the target comes in."""
    return np.asarray(steps > NOTHING if best == "high" else steps < -NOTHING)


def _band(normal: Floats, each: Floats, level: float) -> tuple[Floats, Floats]:
    """The interval of the normalised curve at every level."""
    if not len(each):
        return np.full_like(normal, np.nan), np.full_like(normal, np.nan)
    ends = [_bounds(float(normal[at]), each[:, at], level) for at in range(len(normal))]
    low, high = (np.array([end[side] for end in ends]) for side in (0, 1))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _bounds(value: float, draws: Floats, level: float) -> tuple[float, float]:
    """The percentile interval of draws whose median is moved to the value, which is therefore inside (S-24)."""
    defined = draws[np.isfinite(draws)]
    if not np.isfinite(value) or draws.size - defined.size > MOST_UNDEFINED * draws.size or not defined.size:
        return float("nan"), float("nan")
    low, high = np.quantile(moved_to(value, defined), tails_of(level))
    return float(low), float(high)


def _violations(
    normal: Floats, each: Floats, wrong: np.ndarray[tuple[int], np.dtype[np.bool_]], level: float
) -> list[Step]:
    """Steps the wrong way whose paired interval excludes 0: both ends of a step come from the same draw."""
    found = []
    for at in np.flatnonzero(wrong).tolist():
        size = float(normal[at + 1] - normal[at])
        low, high = _bounds(size, each[:, at + 1] - each[:, at], level) if len(each) else (np.nan, np.nan)
        if low > 0 or high < 0:
            found.append(Step(at, size, low, high))
    return found


def _flags(mean: Floats, raw: float, noise: float, draws: int) -> tuple[str, ...]:
    largest = float(np.nanmax(np.abs(mean))) if np.isfinite(mean).any() else 0.0
    tests = {
        FLAT: not raw > NOTHING * max(largest, NOTHING),
        NOISE: raw > NOTHING * largest and raw < noise,
        UNDEFINED: not np.isfinite(mean).all(),
        NO_DRAWS: draws == 0,
    }
    return tuple(flag for flag, holds in tests.items() if holds)


@dataclass(frozen=True)
class Shift:
    """What the experiment found."""

    source: Data
    target: Data
    plan: ShiftPlan
    curves: Curves
    judged: tuple[Curve, ...]
    """By measure, in the order of reports."""

    @property
    def settings(self) -> dict[str, Any]:
        """What another run needs to give the same."""
        plan = self.plan
        mine = {"steps": plan.steps, "repeats": plan.repeats, "draws": plan.draws, "seed": plan.seed}
        unused = ("plan", "otce_rows", "accurate", "misplaced")
        used = {name: value for name, value in Choices(plan.options).as_dict.items() if name not in unused}
        return {**mine, **used, "level": plan.level}


def shift(
    source: Data,
    target: Data,
    plan: ShiftPlan,
    *,
    progress: Report = lambda name, done, of: None,
    executor: Executor | None = None,
) -> Shift:
    """Mix the target into the source level by level and judge every measure's curve (F-7)."""
    with threads_for((source.rows + target.rows) * source.dimensions):
        found = curves(source, target, plan, progress=progress, executor=executor)
    judged = tuple(curve_of(name, found, plan.level) for name in found.repeats)
    return Shift(source, target, plan, found, judged)
