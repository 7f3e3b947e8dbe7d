"""One value over several tasks or windows: declared, with an interval, and with what each task decides (S-32).

Values of tasks have no common scale. Anchors that are declared beforehand bring them to one, never the best and worst
of those who entered; or only ranks are used. Units are resampled inside each task, the same for all its systems and for
other tasks on the same reference, and apart from those of all other tasks. The choice of tasks is not resampled, so the
order without each of them is part of the result.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from basanite.analysis.interval_methods import NARROW, Floats, tails_of
from basanite.analysis.intervals import MOST_UNDEFINED, UNDEFINED_DRAWS, Span, span, too_few
from basanite.analysis.paired import IncomparableError, enter
from basanite.analysis.resampling import Job
from basanite.analysis.results import Design
from basanite.kernel import Direction, Scores

NORMALIZED, MEAN_RANK, BORDA = "normalized mean", "mean rank", "borda"
RULES = (NORMALIZED, MEAN_RANK, BORDA)
UNRANKED, WORST = "unranked", "worst"
MISSING = (UNRANKED, WORST)
NO_OPEN_RANK = "no interval: every rank is certain at this level"


@dataclass(frozen=True)
class TaskValues:
    """What systems reached on one task: their values and, where their rows are known, the values of every resample."""

    name: str
    task: str
    metric: str
    best: Direction
    values: Mapping[str, float]
    reference: str = ""
    """The digest of the reference, where it is known."""
    anchors: tuple[float, float] | None = None
    """The values that count 0 and 1."""
    weight: float = 1.0
    draws: Mapping[str, Floats] = field(default_factory=dict)
    no_interval: str = ""
    """Why there are no resamples, if there are none."""


@dataclass(frozen=True)
class Aggregated:
    """The value of one system over all tasks, its interval, and what each task adds to it."""

    system: str
    value: float
    rank: int
    low: float | None
    high: float | None
    flags: tuple[str, ...]
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Gap:
    """The difference of two systems over all tasks: first minus second."""

    first: str
    second: str
    difference: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class WithoutTask:
    """The order of systems if one task is left out, and the pairs whose order that changes."""

    task: str
    order: tuple[str, ...]
    changed: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Aggregate:
    """Systems over all tasks, best first; those without a value in every task; how far the order hangs on one task."""

    rule: str
    tasks: tuple[TaskValues, ...]
    systems: tuple[Aggregated, ...]
    unranked: Mapping[str, tuple[str, ...]]
    gaps: tuple[Gap, ...]
    sensitivity: tuple[WithoutTask, ...]


def resampled_values(name: str, metric: str, systems: Sequence[Scores], design: Design) -> TaskValues:
    """The values of all systems of one task, each in the same resamples of its units."""
    chosen = [(scores.system, scores.tables[metric], (scores.metric(metric),)) for scores in systems]
    units = {tuple(sorted(table.units)) for _, table, _ in chosen}
    if len(units) > 1:
        raise IncomparableError(
            f"The systems of {name!r} do not have the same units: score them against one reference."
        )
    reference = systems[0].digests.get("reference", "")
    # Tasks are resampled apart from each other, but for those on the same data: there the same units move.
    seed = hashlib.sha256(f"{design.seed}|across|{reference or name}".encode()).digest()[:7]
    entries = enter(chosen, replace(design, seed=int.from_bytes(seed, "big")))
    few = [
        entry.system
        for entry in entries
        if not entry.draws.size or too_few(entry.metric, Job(entry.portion, (entry.metric,), entry.table.columns))
    ]
    return TaskValues(
        name,
        systems[0].task,
        metric,
        systems[0].metric(metric).best,
        {entry.system: entry.value for entry in entries},
        reference,
        draws={} if few else {entry.system: entry.draws for entry in entries},
        no_interval=f"{name} has too few units for an interval" if few else "",
    )


def aggregate(tasks: Sequence[TaskValues], rule: str, design: Design, *, missing: str = UNRANKED) -> Aggregate:
    """Systems over several tasks by a declared rule; who lacks a task is not ranked, or is the worst there."""
    everybody = sorted({system for task in tasks for system in task.values})
    lacking = {system: tuple(task.name for task in tasks if not _has(task, system)) for system in everybody}
    names = [system for system in everybody if missing == WORST or not lacking[system]]
    if not names:
        raise IncomparableError(
            'No system has a value in every task: give more submissions, or write missing = "worst".'
        )
    weights = np.array([task.weight for task in tasks])
    parts = np.stack([_parts(task, rule, _column(task, names)) for task in tasks], axis=-1)
    values = _total(parts, weights, rule)
    known = not any(task.no_interval for task in tasks)
    draws = _total(_drawn_parts(tasks, names, design.draws), weights, rule) if known and rule == NORMALIZED else None
    order = _order(names, values, rule)
    if draws is not None:
        bounds = [span(float(values[at]), draws[:, at], tails_of(design.level)) for at in order]
    elif known:
        bounds = [_rank_span(tasks, names, at, parts[at], rule, design.level) for at in order]
    else:
        bounds = [Span(None, None, tuple(f"no interval: {task.no_interval}" for task in tasks if task.no_interval))]
        bounds *= len(order)
    systems = tuple(
        Aggregated(
            names[at],
            float(values[at]),
            1 + sum(_ahead(values[other], values[at], rule) > 0 for other in range(len(names))),
            bound.low,
            bound.high,
            bound.flags,
            dict(zip((task.name for task in tasks), parts[at].tolist(), strict=True)),
        )
        for at, bound in zip(order, bounds, strict=True)
    )
    gaps = tuple(_gap(names, values, draws, pair, design) for pair in combinations(order, 2))
    sensitivity = tuple(_without(tasks, at, names, parts, weights, rule) for at in range(len(tasks)))
    unranked = {system: absent for system, absent in lacking.items() if absent}
    return Aggregate(rule, tuple(tasks), systems, unranked, gaps, sensitivity if len(tasks) > 1 else ())


def _has(task: TaskValues, system: str) -> bool:
    return math.isfinite(task.values.get(system, math.nan))


def _column(task: TaskValues, names: Sequence[str]) -> Floats:
    return np.array([task.values[name] if _has(task, name) else math.nan for name in names])


def _drawn_parts(tasks: Sequence[TaskValues], names: Sequence[str], draws: int) -> Floats:
    """The normalized value of each system on each task in every resample, `[draws, systems, tasks]`."""
    absent, parts = np.zeros(draws), []
    for task in tasks:
        zero, one = task.anchors or (0.0, 1.0)
        columns = [(task.draws[name] - zero) / (one - zero) if _has(task, name) else absent for name in names]
        parts.append(np.stack(columns, axis=-1))
    return np.stack(parts, axis=-1)


def _parts(task: TaskValues, rule: str, values: Floats) -> Floats:
    """What values of one task `[..., systems]` count; nan (no value) counts as the worst."""
    if rule == NORMALIZED:
        zero, one = task.anchors or (0.0, 1.0)
        return np.where(np.isnan(values), 0.0, (values - zero) / (one - zero))
    better = values if task.best == "high" else -values
    places = ranks(np.where(np.isnan(better), -math.inf, better))
    return places if rule == MEAN_RANK else values.shape[-1] - places


def ranks(values: Floats) -> Floats:
    """The rank of each of the last axis's values, 1 for the highest; equal ones share the mean of their ranks.

    >>> ranks(np.array([0.3, 0.9, 0.3, -math.inf])).tolist()
    [2.5, 1.0, 2.5, 4.0]
    """
    others, own = values[..., None, :], values[..., :, None]
    size = np.maximum(np.abs(others), np.abs(own))
    with np.errstate(invalid="ignore"):  # of two that have no value the gap is undefined, and they are equal
        same = (others == own) | (np.isfinite(size) & (np.abs(others - own) <= NARROW * size))
    ahead = (others > own) & ~same
    return np.asarray(0.5 + ahead.sum(axis=-1) + same.sum(axis=-1) / 2)


def _total(parts: Floats, weights: Floats, rule: str) -> Floats:
    """The weighted mean over tasks; of Borda's points the weighted sum."""
    total = parts @ weights
    return np.asarray(total if rule == BORDA else total / weights.sum())


def _ahead(first: float, second: float, rule: str) -> int:
    """1 if the first value is better, -1 if the second is, 0 if they are equal."""
    if abs(first - second) <= NARROW * max(abs(first), abs(second)):
        return 0
    return 1 if (first > second) == (rule != MEAN_RANK) else -1


def _order(names: Sequence[str], values: Floats, rule: str) -> list[int]:
    rounded = [float(f"{value:.10g}") for value in values]
    return sorted(range(len(names)), key=lambda at: (rounded[at] if rule == MEAN_RANK else -rounded[at], names[at]))


def _rank_span(
    tasks: Sequence[TaskValues], names: Sequence[str], at: int, parts: Floats, rule: str, level: float
) -> Span:
    """The range of a mean of ranks, or of points, that the differences from all others leave open.

    Resampled ranks lean to the middle where systems are close, and their percentiles cover too little. So ranks come
    from intervals of all differences of the system, on all tasks at once (M. Mogstad and others, Inference for ranks,
    Review of Economic Studies 91, 2024): others count as better or worse only where their interval excludes 0.
    """
    apart = [_apart(task, names, names[at]) for task in tasks]
    reach = _furthest([errors for _, errors in apart], level)
    if reach is None:
        return Span(None, None, (UNDEFINED_DRAWS,))
    best, worst = parts.copy(), parts.copy()  # of a task that the system lacks, its last place is certain
    for place, (task, (gaps, errors)) in enumerate(zip(tasks, apart, strict=True)):
        if _has(task, names[at]):
            width = reach * np.nanstd(errors, axis=0)
            best[place] = 1 + np.count_nonzero(gaps + width < 0)
            worst[place] = np.count_nonzero(gaps - width <= 0) + 1
    if rule == BORDA:
        lacks = np.array([not _has(task, names[at]) for task in tasks])
        best, worst = np.where(lacks, parts, len(names) - worst), np.where(lacks, parts, len(names) - best)
    weights = np.array([task.weight for task in tasks])
    low, high = (float(_total(ends, weights, rule)) for ends in (best, worst))
    return Span(low, high) if high - low > NARROW else Span(None, None, (NO_OPEN_RANK,))


def _apart(task: TaskValues, names: Sequence[str], system: str) -> tuple[Floats, Floats]:
    """How far a system is ahead of each other one that has a value on a task, and how far off that is in resamples."""
    others = [name for name in names if name != system and _has(task, name)] if _has(task, system) else []
    if not others:
        return np.zeros(0), np.zeros((1, 0))
    sign = 1 if task.best == "high" else -1
    gaps = sign * np.array([task.values[system] - task.values[name] for name in others])
    gaps[np.abs(gaps) <= NARROW * abs(task.values[system])] = 0
    with np.errstate(invalid="ignore"):  # of two infinite values
        drawn = sign * np.stack([task.draws[system] - task.draws[name] for name in others], axis=-1)
    return gaps, np.where(np.isfinite(drawn), drawn - gaps, math.nan)


def _furthest(errors: Sequence[Floats], level: float) -> float | None:
    """How many standard errors the furthest of all differences is off at most, at this level; None if undefined."""
    scaled = []
    for one in errors:
        if (np.isnan(one).mean(axis=0) > MOST_UNDEFINED).any():
            return None
        spread = np.nanstd(one, axis=0) if one.size else np.zeros(one.shape[1])
        moving = spread > 0
        if moving.any():
            scaled.append(np.max(np.abs(one[:, moving]) / spread[moving], axis=1))
    if not scaled:
        return 0.0
    furthest = np.max(np.stack(scaled), axis=0)
    if np.mean(np.isnan(furthest)) > MOST_UNDEFINED:
        return None
    return float(np.nanquantile(furthest, level))


def _gap(names: Sequence[str], values: Floats, draws: Floats | None, pair: tuple[int, int], design: Design) -> Gap:
    first, second = pair
    apart = float(values[first] - values[second])
    bounds = (
        Span(None, None) if draws is None else span(apart, draws[:, first] - draws[:, second], tails_of(design.level))
    )
    return Gap(names[first], names[second], apart, bounds.low, bounds.high)


def _without(
    tasks: Sequence[TaskValues], left: int, names: Sequence[str], parts: Floats, weights: Floats, rule: str
) -> WithoutTask:
    """The order without one task."""
    kept = np.arange(len(tasks)) != left
    if not kept.any():
        return WithoutTask(tasks[left].name, (), ())
    before, after = _total(parts, weights, rule), _total(parts[:, kept], weights[kept], rule)
    changed = tuple(
        (names[first], names[second])
        for first, second in combinations(_order(names, before, rule), 2)
        if _ahead(before[first], before[second], rule) != _ahead(after[first], after[second], rule)
    )
    return WithoutTask(tasks[left].name, tuple(names[at] for at in _order(names, after, rule)), changed)
