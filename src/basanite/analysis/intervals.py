"""Intervals by resampling units: all resamples are matrix products, and an unreliable interval is not given.

The rules are those of S-13: fewer than 15 drawn units, fewer than 5 that carry the value, or more than 5% undefined
draws give a value with a flag; an interval never has width zero. One that would exclude its own estimate is not given
either: its ends are never moved to hold it (S-24).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.interval_methods import METHODS, NARROW, NO_WIDTH, Floats, Sample, exact_bounds, percentile
from basanite.analysis.resampling import (
    BLOCK,
    Frame,
    Job,
    Portion,
    cluster_count,
    drawn_values,
    estimate,
    frame_of,
    is_additive,
    portion_of,
    resample,
    table_portion,
    values_of,
)
from basanite.analysis.results import Design, Value
from basanite.errors import SettingError
from basanite.kernel import Metric, Rows, Scores, UnitRows, ends_around, has_width, settled

FEWEST_UNITS = 15
FEWEST_CARRIERS = 5
MOST_UNDEFINED = 0.05
MOST_LEFT_OUT = 1_000
"""The number of groups that are left out in turn where there are more units: it costs no more than the draws."""

TOO_FEW = "too few for an interval"
UNDEFINED = "undefined"
UNDEFINED_DRAWS = "no interval: more than 5% of the draws are undefined"
OUTSIDE = "no interval: the estimate lies outside it"
OPTIMISTIC = "optimistic (oracle: uses the reference)"
PERCENTILE_INSTEAD = "percentile interval instead of BCa: "
OWN = "metric"
"""The setting `interval` that leaves the method to each metric (S-25)."""


@dataclass(frozen=True)
class Span:
    """The two ends of an interval, or none; why it is as it is; and how many draws were undefined."""

    low: float | None
    high: float | None
    flags: tuple[str, ...] = ()
    undefined: int = 0
    method: str = ""
    """The name of the method where there is an interval."""


def values(scores: Scores, design: Design) -> dict[str, Value]:
    """The value of every metric of a system, with its interval; metrics of one table share every product."""
    found: dict[str, Value] = {}
    for table, metrics in tables_of(scores):
        whole = tuple(metric for metric in metrics if metric.overall)
        if table.own is not None:
            found |= table.own.values(table, whole, design)
        elif whole:
            frame = frame_of(table)
            portion = table_portion(frame, table, additive=is_additive(whole))
            found |= assess(frame, [Job(portion, whole, table.columns)], design)[0]
    return {
        metric.name: _label_value(scores, metric, found[metric.name])
        for metric in scores.metrics
        if metric.name in found
    }


def tables_of(scores: Scores) -> list[tuple[UnitRows, tuple[Metric, ...]]]:
    """The distinct tables of a system, each with the metrics that read it."""
    groups: dict[tuple[int, bool], list[Metric]] = {}
    tables = {metric.name: scores.tables[metric.name] for metric in scores.metrics if metric.name in scores.tables}
    for name, table in tables.items():
        metric = scores.metric(name)
        groups.setdefault((id(table.rows), metric.compute is None), []).append(metric)
    return [(tables[metrics[0].name], tuple(metrics)) for metrics in groups.values()]


def interval(metric: Metric, table: UnitRows, design: Design) -> Value:
    """The value of one metric on one table, with its interval."""
    frame = frame_of(table)
    portion = portion_of(frame, table.rows, additive=metric.compute is None)
    return assess(frame, [Job(portion, (metric,), table.columns)], design)[0][metric.name]


def assess(frame: Frame, jobs: Sequence[Job], design: Design) -> list[dict[str, Value]]:
    """The values of all metrics of each job, with intervals; portions too small for any are not drawn at all."""
    enough = [[not too_few(metric, job) for metric in job.metrics] for job in jobs]
    drawn = [job for job, ok in zip(jobs, enough, strict=True) if any(ok)]
    found = resample(frame, drawn, draws=design.draws, seed=design.seed, executor=design.executor) if drawn else []
    draws = iter(found)
    return [
        _assess_job(job, ok, next(draws) if any(ok) else None, design) for job, ok in zip(jobs, enough, strict=True)
    ]


def too_few(metric: Metric, job: Job) -> bool:
    """Whether there are too few drawn units, or too few that carry the value, for an interval (S-13)."""
    few = job.portion.size < max(FEWEST_UNITS, metric.fewest)
    return few or carriers(metric, job.portion.rows, job.columns) < FEWEST_CARRIERS


def too_few_flag(metric: Metric, job: Job) -> str:
    """That there are too few for an interval, of which clusters (S-28), and how many the metric needs (S-25)."""
    portion, needed = job.portion, f" (this metric needs {metric.fewest})" if metric.fewest else ""
    if not portion.cluster or carriers(metric, portion.rows, job.columns) < min(FEWEST_CARRIERS, portion.size):
        return TOO_FEW + needed
    return f"{TOO_FEW}: {cluster_count(portion.cluster, portion.size)}{needed}"


def carriers(metric: Metric, rows: Rows, columns: Sequence[str]) -> int:
    """How many rows carry the metric's value: those with something in its carrier column, or all of them."""
    if metric.carrier is None or metric.carrier not in columns:
        return len(rows)
    return int(np.count_nonzero(rows[:, list(columns).index(metric.carrier)]))


def span(estimate: float, draws: Floats, tails: tuple[float, float]) -> Span:
    """The interval between two tails of the defined draws; none where it would exclude its own estimate (S-24).

    >>> span(2.0, np.arange(5.0), (0.25, 0.75))
    Span(low=1.0, high=3.0, flags=(), undefined=0, method='percentile')
    >>> span(4.0, np.arange(5.0), (0.25, 0.75)).flags
    ('no interval: the estimate lies outside it',)
    """
    defined = draws[np.isfinite(draws)]
    undefined = draws.size - defined.size
    if undefined > MOST_UNDEFINED * draws.size:
        return Span(None, None, (UNDEFINED_DRAWS,), undefined)
    low, high = (float(bound) for bound in np.quantile(defined, tails))
    return _check_interval(estimate, (low, high), undefined, "percentile")


def method_span(method: str, sample: Sample) -> Span:
    """The interval by a method, inside the possible values; BCa gives way to the percentile one, saying so (S-13)."""
    undefined = sample.draws.size - sample.defined_draws.size
    if undefined > MOST_UNDEFINED * sample.draws.size:
        return Span(None, None, (UNDEFINED_DRAWS,), undefined)
    flags: tuple[str, ...] = ()
    ends = METHODS[method](sample)
    if isinstance(ends, str) and method == "bca":
        flags, method, ends = (PERCENTILE_INSTEAD + ends,), "percentile", percentile(sample)
    if isinstance(ends, str):
        return Span(None, None, (ends,), undefined)
    low, high = (min(max(end, sample.possible[0]), sample.possible[1]) for end in ends)
    found = _check_interval(sample.estimate, (low, high), undefined, method)
    return found if found.low is None else replace(found, flags=flags)


def method_of(metric: Metric, design: Design) -> str:
    """The method of the metric's own definition, unless the design names one for all (S-25)."""
    method = metric.interval if design.interval == OWN else design.interval
    if method not in METHODS:
        raise SettingError(f"{metric.name} asks for intervals by {method!r}: use one of {', '.join(METHODS)}.")
    return method


def _check_interval(estimate: float, ends: tuple[float, float], undefined: int, method: str) -> Span:
    """The interval between two ends; none where it would have no width, or exclude its own estimate (S-24)."""
    around = ends_around(estimate, ends)
    if around is None or not has_width(ends):
        return Span(None, None, (OUTSIDE if around is None else NO_WIDTH,), undefined)
    return Span(*around, (), undefined, method)


def left_out(metric: Metric, portion: Portion, executor: Executor | None = None) -> Floats:
    """The value without each drawn thing, or without each of `MOST_LEFT_OUT` groups where there are more."""
    if metric.compute is None and len(portion.rows) > MOST_LEFT_OUT:  # a large table is not copied
        sums = np.stack([portion.rows[at::MOST_LEFT_OUT].sum(axis=0) for at in range(MOST_LEFT_OUT)])
        portion = Portion(np.arange(MOST_LEFT_OUT), sums, portion.units)
    elif metric.compute is not None:
        things, place = np.unique(portion.members, return_inverse=True)
        portion = replace(portion, members=place % MOST_LEFT_OUT if len(things) > MOST_LEFT_OUT else place)
    return jackknife(metric, portion, executor)


def jackknife(metric: Metric, portion: Portion, executor: Executor | None = None) -> Floats:
    """The value without each drawn thing in turn.

    >>> from basanite.kernel import ANY, Metric
    >>> mean = Metric("mean", "", "", "", len, lambda sums: sums[..., 0] / sums[..., 1], range=ANY)
    >>> jackknife(mean, Portion(np.arange(3), np.array([[1.0, 1], [2, 1], [6, 1]]), 3)).tolist()
    [4.0, 3.5, 1.5]
    """
    if metric.compute is not None:
        rows = portion.rows
        things, step = np.unique(portion.members), max(1, BLOCK // max(1, len(rows)))
        work, pieces = (
            partial(_without, metric, portion),
            (things[at : at + step] for at in range(0, len(things), step)),
        )
        return np.concatenate(list(map(work, pieces) if executor is None else executor.map(work, pieces)))
    with np.errstate(over="ignore", invalid="ignore"):  # a sum of numbers that are as large as can be
        return np.concatenate(list(_differences(metric, portion)))


def _differences(metric: Metric, portion: Portion) -> Iterator[Floats]:
    """The value of the sum without each row."""
    rows, total = portion.rows, portion.total
    step = max(1, BLOCK // rows.shape[1])
    for start in range(0, len(rows), step):
        yield values_of(metric, total - rows[start : start + step])


def _without(metric: Metric, portion: Portion, things: NDArray[np.int64]) -> Floats:
    """The value without each of some things."""
    return drawn_values(metric, portion.rows, (portion.members != things[:, None]).astype(np.float64))


def check_design(design: Design) -> Design:
    """The same design, if we know its interval method and adjustment."""
    for name, known in (("interval", (OWN, "percentile", "bca")), ("adjustment", ("holm", "romano-wolf"))):
        if getattr(design, name) not in known:
            raise SettingError(f"No {name} is called {getattr(design, name)!r}: use {' or '.join(known)}.")
    if not (0 < design.level < 1 and 0 < design.alpha < 1 and design.draws > 0):
        raise SettingError("Use a level and an alpha between 0 and 1, and at least one draw.")
    return design


def _assess_job(job: Job, enough: Iterable[bool], draws: Rows | None, design: Design) -> dict[str, Value]:
    """The values of one job's metrics from their draws."""
    portion, found = job.portion, {}
    for number, (metric, ok) in enumerate(zip(job.metrics, enough, strict=True)):
        value = estimate(metric, portion)
        bounds = Span(None, None, (too_few_flag(metric, job),))
        if not np.isfinite(value):
            bounds = Span(None, None, (UNDEFINED,) if np.isnan(value) else ("infinite",))
        elif ok and draws is not None:
            bounds = _bounds(metric, job, value, draws[number], design)
        low, high = settled(bounds.low, metric.ends), settled(bounds.high, metric.ends)
        rest = portion.units, bounds.undefined, bounds.flags
        found[metric.name] = Value(settled(value, metric.ends), low, high, *rest, method=bounds.method)
    return found


def _bounds(metric: Metric, job: Job, value: float, draws: Floats, design: Design) -> Span:
    """The interval by the metric's method; the exact binomial one where a share would have no width (S-13)."""
    leave_out = partial(left_out, metric, job.portion, design.executor)
    sample = Sample(value, draws, job.portion.size, design.level, leave_out, metric.ends)
    found = method_span(method_of(metric, design), sample)
    return _exact_span(metric, job, value, design.level, found) if found.flags == (NO_WIDTH,) else found


def _exact_span(metric: Metric, job: Job, estimate: float, level: float, narrow: Span) -> Span:
    """The exact binomial bound over the units that carry it where the metric is a share, else no interval."""
    if not metric.proportion or not -NARROW <= estimate <= 1 + NARROW:
        return narrow
    trials = carriers(metric, job.portion.rows, job.columns)
    low, high = exact_bounds(min(max(estimate, 0.0), 1.0), trials, level)
    flags = (f"exact binomial bound over {trials} units",)
    return replace(narrow, low=low, high=high, flags=flags, method="exact")


def _label_value(scores: Scores, metric: Metric, value: Value) -> Value:
    """The value with what its task says of it."""
    flags = (*scores.flags.get(metric.name, ()), *((OPTIMISTIC,) if metric.optimistic else ()), *value.flags)
    parts, signature = {**value.parts, **scores.parts.get(metric.name, {})}, scores.signatures.get(metric.name, "")
    return replace(value, flags=tuple(dict.fromkeys(flags)), parts=parts, signature=signature)
