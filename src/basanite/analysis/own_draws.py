"""Measures that are no function of rows: their task computes and draws them, and the rules of analysis stay the same.

Swapping two systems on a unit means nothing where a unit is a vector in a space of each system's own. What they share
is the labels, so every draw takes the same units of both, and the difference is tested against its own standard error
over these draws (ADR 28). The interval is made of the same two numbers, so test and interval never disagree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from basanite.analysis.interval_methods import NARROW, Floats, student_quantile, student_tails
from basanite.analysis.intervals import MOST_UNDEFINED
from basanite.analysis.results import Breakdowns, Design, Difference, Value
from basanite.kernel import Metric, Rows, UnitRows, settled, within

if TYPE_CHECKING:
    from basanite.analysis.paired import Entry

METHOD: Final = "shared draws"
"""How the interval of a difference is made."""
NULL: Final = (
    "null of the tests: both systems have the same value; the standard error of the difference is that over draws of "
    "units which both share"
)
UNTESTED: Final = "not tested: this measure has no draws of whole rows that two systems could share"


class OwnDraws(Protocol):
    """What a task gives in place of rows: values with intervals, breakdowns, and the value in every draw."""

    def values(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> dict[str, Value]:
        """The value of each metric with its interval."""

    def breakdowns(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> Breakdowns:
        """The values of each level of each factor."""

    def notes(self, table: UnitRows, values: Mapping[str, Value]) -> Iterable[str]:
        """What must be said of these values."""

    def draws(self, table: UnitRows, metrics: Sequence[Metric], design: Design) -> Mapping[str, Floats]:
        """The value of each metric in every draw; none where another system on the same units has no such draws."""

    def freedom(self, table: UnitRows) -> int:
        """How many degrees of freedom a standard error over the draws has."""

    def subset(self, index: Rows) -> OwnDraws:
        """The same for some of the units."""


def own_difference(first: Entry, second: Entry, draws: int, design: Design) -> Difference:
    """First minus second, its interval, and p by Student's t; p is not adjusted and the verdict is open.

    No p is given that a test by this number of draws could not reach: so far out, t is an approximation.
    """
    metric, gap = first.metric, first.value - second.value
    names = metric.name, first.system, second.system
    things = "clusters" if first.table.has_clusters else "units"
    swapped = (first.portion.size, first.portion.size, things)
    if not np.isfinite(gap):
        unsure = [entry.system for entry in (first, second) if not np.isfinite(entry.value)]
        note = f"the value of {' and '.join(unsure)} is undefined"
        return Difference(*names, math.nan, None, None, math.nan, math.nan, "undefined", note)
    gap = settled(gap, metric.difference_ends)
    error = _standard_error(first, second)
    if error is None:
        return Difference(*names, gap, None, None, math.nan, math.nan, "undecided", UNTESTED, swapped=swapped)
    if error <= NARROW * max(abs(first.value), abs(second.value)):
        if gap == 0:
            return Difference(*names, 0.0, None, None, 1.0, 1.0, "identical", "the same in every draw")
        note = "no interval: every draw gives the same difference"
        return Difference(*names, gap, None, None, math.nan, math.nan, "undecided", note, swapped=swapped)
    freedom = first.table.own.freedom(first.table)
    half = error * student_quantile((1 + design.level) / 2, freedom)
    low, high = (settled(within(gap + side, metric.difference_ends), metric.difference_ends) for side in (-half, half))
    smallest = 1 / (draws + 1)
    p = max(student_tails(gap / error, freedom), smallest)
    open_verdict = "no difference shown"
    return Difference(*names, gap, low, high, p, p, open_verdict, swapped=swapped, smallest_p=smallest, method=METHOD)


def shared_statistics(pairs: Sequence[tuple[Entry, Entry]]) -> tuple[Floats, Rows]:
    """The studentised difference of every pair, and the same centred in every draw that all share."""
    size = min(min(len(first.draws), len(second.draws)) for first, second in pairs)
    gaps = np.stack([first.draws[:size] - second.draws[:size] for first, second in pairs], axis=1)
    errors = np.array([_standard_error(first, second) or math.nan for first, second in pairs])
    observed = np.array([first.value - second.value for first, second in pairs])
    with np.errstate(all="ignore"):
        centred = (gaps - np.nanmedian(gaps, axis=0)) / errors
    return observed / errors, np.nan_to_num(centred, nan=np.inf, posinf=np.inf)


def _standard_error(first: Entry, second: Entry) -> float | None:
    """The deviation of the difference over shared draws; None where there are none, or too many are undefined."""
    size = min(len(first.draws), len(second.draws))
    with np.errstate(invalid="ignore"):  # two infinite draws have no difference, and count as undefined
        gaps = first.draws[:size] - second.draws[:size]
    defined = gaps[np.isfinite(gaps)]
    if len(defined) < 2 or size - len(defined) > MOST_UNDEFINED * size:
        return None
    return float(defined.std(ddof=1))
