"""Values of a result as pages show them: the one that counts with its interval, the others, and breakdowns as charts.

Everything comes from what the release policy let through (`results/seeing.py`); nothing here reads a result itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from basanite.figures import Axis, Chart, Table
from basanite.reports.metric_names import display_name, meaning
from basanite.server.catalogue import say, say_plain
from basanite.server.pages.templates import DrawnChart, draw_chart, figure

FEW = 10
MOST_LEVELS = 60
"""Levels of a factor that a chart draws; a table beside it holds more."""
MOST_FACTORS = 12


@dataclass(frozen=True)
class Place:
    """A value with its interval on an axis, in percent of its length, and in words for those who hear it."""

    at: float | None
    low: float | None
    high: float | None
    words: str


@dataclass(frozen=True)
class Value:
    """One value of a result."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    units: int | None
    place: Place
    primary: bool = False
    note: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class Values:
    """All values of a result that may be seen."""

    primary: Value | None
    all: tuple[Value, ...]
    charts: tuple[DrawnChart, ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...]
    signature: str = ""
    curves: tuple[DrawnChart, ...] = ()
    """The charts of the task itself: its values over thresholds, misses against false alarms."""
    losses: tuple[Table, ...] = ()
    """The tables of the task itself."""


def values_of(data: Mapping[str, Any], figures: Iterable[Chart | Table] = ()) -> Values:
    """What a page shows of a `score --json` object, and the task's own figures as far as they may be seen."""
    own = tuple(figures)
    entries = {str(name): one for name, one in data.get("values", {}).items() if isinstance(one, Mapping)}
    first = str(data.get("primary", ""))
    axis = _axis(entries.values())
    task = str(data.get("task", ""))
    shown = tuple(
        replace(_value(name, one, axis, name == first), name=display_name(name, task), meaning=meaning(name, task))
        for name, one in sorted(entries.items(), key=lambda entry: entry[0] != first)
    )
    charts = tuple(_charts(data.get("breakdowns", {}), first, task))
    tables = () if charts else tuple(_tables(data.get("breakdowns", {}), task))
    primary = next((one for one in shown if one.primary), None)
    notes = tuple(str(note) for note in data.get("notes", ()))
    curves = tuple(draw_chart(one) for one in own if isinstance(one, Chart))
    losses = tuple(one for one in own if isinstance(one, Table))
    return Values(primary, shown, charts, tables, notes, str(data.get("signature", "")), curves, losses)


def place(value: float | None, low: float | None, high: float | None, axis: tuple[float, float]) -> Place:
    """Where a value lies on an axis.

    >>> place(0.5, 0.4, 0.6, (0.0, 1.0)).words
    '0.5000, from 0.4000 to 0.6000'
    """
    start, end = axis
    at, left, right = (
        None
        if one is None or not math.isfinite(one)
        else round(min(max(100 * (one - start) / (end - start), 0), 100), 2)
        for one in (value, low, high)
    )
    bounds = low is not None and high is not None
    words = say("{value}, from {low} to {high}", value=figure(value), low=figure(low), high=figure(high))
    return Place(at, left, right, str(words) if bounds else figure(value))


def axis_of(values: Iterable[float | None]) -> tuple[float, float]:
    """An axis that holds all values: 0 to 1 where that is enough, else with a little room.

    >>> axis_of([0.2, 0.9]), axis_of([-1.0, 1.0])
    ((0.0, 1.0), (-1.1, 1.1))
    """
    known = [one for one in values if one is not None and math.isfinite(one)]
    low, high = min(known, default=0.0), max(known, default=1.0)
    if low >= 0 and high <= 1:
        return 0.0, 1.0
    room = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return low - room, high + room


def _axis(entries: Iterable[Mapping[str, Any]]) -> tuple[float, float]:
    return axis_of(one.get(name) for one in entries for name in ("value", "low", "high"))


def _value(name: str, one: Mapping[str, Any], axis: tuple[float, float], primary: bool) -> Value:
    value, low, high = (one.get(part) for part in ("value", "low", "high"))
    near = axis if axis == (0.0, 1.0) else axis_of((value, low, high))
    method = (f"{one['method']} interval",) if one.get("method") else ()
    note = "; ".join(map(str, (*method, *one.get("flags", ()))))
    return Value(name, value, low, high, one.get("units"), place(value, low, high, near), primary, note)


def _charts(breakdowns: Mapping[str, Any], primary: str, task: str) -> Iterator[DrawnChart]:
    for factor, levels in list(breakdowns.items())[:MOST_FACTORS]:
        rows = [row for row in (_level(name, one.get(primary)) for name, one in levels.items()) if row]
        if rows and 1 < len(rows) <= MOST_LEVELS:
            yield draw_chart(_chart(str(factor), display_name(primary, task), rows))


def _chart(factor: str, metric: str, rows: list[tuple[str, float, float | None, float | None, int | None]]) -> Chart:
    few = frozenset(index for index, row in enumerate(rows) if (row[4] or 0) < FEW)
    low, high = say_plain("low"), say_plain("high")
    title = say_plain("{metric} by {factor}", metric=metric, factor=factor)
    table = Table(title, (factor, metric, low, high, say_plain("units")), rows, muted=few)
    bounds = all(row[2] is not None and row[3] is not None for row in rows)
    return Chart(
        table.title,
        _summary(rows, bounds),
        "bars",
        table,
        Axis(metric, metric),
        Axis(factor, factor, "category"),
        low=low if bounds else None,
        high=high if bounds else None,
    )


def _summary(rows: list[tuple[str, float, float | None, float | None, int | None]], bounds: bool) -> str:
    best, worst = max(rows, key=lambda row: row[1]), min(rows, key=lambda row: row[1])
    if best[1] == worst[1]:
        return say_plain("The same on all {count} levels: {value}.", count=len(rows), value=figure(best[1]))
    values = {"low": figure(worst[1]), "worst": worst[0], "high": figure(best[1]), "best": best[0], "count": len(rows)}
    words = say_plain("From {low} ({worst}) to {high} ({best}) over {count} levels.", **values)
    return f"{words} {say_plain('Lines show 95% CIs.')}" if bounds else words


def _level(
    name: str, one: Mapping[str, Any] | None
) -> tuple[str, float, float | None, float | None, int | None] | None:
    if not one or one.get("value") is None:
        return None
    return str(name), float(one["value"]), one.get("low"), one.get("high"), one.get("units")


def _tables(breakdowns: Mapping[str, Any], task: str) -> Iterator[Table]:
    """Tasks without a primary value (domain and language identification) show their levels as tables."""
    for factor, levels in list(breakdowns.items())[:MOST_FACTORS]:
        names = list(dict.fromkeys(name for one in levels.values() for name in one))
        rows = [(str(level), *(one.get(name, {}).get("value") for name in names)) for level, one in levels.items()]
        yield Table(
            say_plain("By {factor}", factor=factor),
            (str(factor), *(display_name(str(name), task) for name in names)),
            rows,
        )
