"""Many systems on the same units: which differences hold, and the ranks that remain possible.

Up to a dozen systems, pairs are tested as `compare` tests them. A board of a hundred systems has thousands of pairs,
for which that would take long, so beyond a dozen the paired t test stands in: on hundreds of units both give the same p
to two digits. All pairs then come from one matrix of covariances between systems.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.comparison import groups, holm, rank_ranges
from basanite.analysis.interval_methods import METHODS, Sample, student_tails
from basanite.analysis.intervals import FEWEST_UNITS
from basanite.analysis.power import Enough, Goal, Spread
from basanite.analysis.results import Comparison
from basanite.errors import SettingError
from basanite.kernel import Metric, Rows

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class BoardRows:
    """The rows of one metric for all systems on the same units: `rows[systems, units, s]`."""

    systems: tuple[str, ...]
    units: tuple[str, ...]
    metric: Metric
    rows: Rows
    clusters: NDArray[np.int64] | None = None
    cluster: str = ""


@dataclass(frozen=True)
class Claim:
    """One difference that the order of a board claims: the first system is above the second."""

    first: str
    second: str
    difference: float
    """How much better the first is, in the sense of the metric."""
    p_adjusted: float
    holds: bool
    units_needed: int | None
    """How many units would show it in 80% of cases, if it is as large as observed; None where it is nothing."""


@dataclass(frozen=True)
class Standing:
    """One system of a board."""

    system: str
    value: float
    low: float | None
    high: float | None
    ranks: tuple[int, int]


@dataclass(frozen=True)
class Ranked:
    """A board: systems best first, groups with clean cuts between them, and every claimed difference."""

    standings: tuple[Standing, ...]
    groups: tuple[tuple[str, ...], ...]
    claims: tuple[Claim, ...]
    """All pairs, those of neighbors first."""
    things: int
    """How many units, or clusters of them, are behind it."""


def rank_compared(found: Comparison, metric: Metric) -> Ranked:
    """The same from a comparison: the rules of `compare` for systems few enough."""
    ranking = found.rankings[metric.name]
    sign = 1.0 if metric.best == "high" else -1.0
    known = {(one.first, one.second): one for one in found.differences if one.metric == metric.name}
    claims = []
    for first, second in combinations(ranking.order, 2):
        turned = (first, second) not in known
        one = known[second, first] if turned else known[first, second]
        gap = sign * (-one.difference if turned else one.difference)
        holds = one.verdict == ("second" if turned else "first")
        claims.append(Claim(first, second, gap, one.p_adjusted, holds, None if holds else one.units_needed))
    values = {name: found.analyses[name].values[metric.name] for name in ranking.order}
    standings = [
        Standing(name, one.value, one.low, one.high, ranking.rank_ranges[name]) for name, one in values.items()
    ]
    things = next((one.swapped[1] for one in found.differences if one.swapped[1]), 0)
    return Ranked(tuple(standings), ranking.groups, _neighbors_first(claims, ranking.order), things)


def _neighbors_first(claims: Sequence[Claim], order: Sequence[str]) -> tuple[Claim, ...]:
    place = {name: at for at, name in enumerate(order)}
    return tuple(sorted(claims, key=lambda one: place[one.second] - place[one.first]))


def rank_board(board: BoardRows, *, alpha: float = 0.05, level: float = 0.95) -> Ranked:
    """Rank all systems by paired t tests over whole units, adjusted by Holm over all pairs."""
    pulls, values = _pulls(board)
    things = pulls.shape[1]
    if things < FEWEST_UNITS:
        raise SettingError(f"{things} units are too few for any test: at least {FEWEST_UNITS} are needed.")
    sign = 1.0 if board.metric.best == "high" else -1.0
    order = sorted(range(len(values)), key=lambda at: -sign * values[at])
    pairs = list(combinations(range(len(order)), 2))
    first, second = (np.array([order[pair[side]] for pair in pairs], np.int64) for side in (0, 1))
    spread = _spreads(pulls)
    variance = np.maximum(spread[first, first] + spread[second, second] - 2 * spread[first, second], 0.0)
    gaps = sign * (values[first] - values[second])
    p_values = [_p(gap, one, things) for gap, one in zip(gaps.tolist(), variance.tolist(), strict=True)]
    adjusted = holm(p_values)
    names = [board.systems[at] for at in order]
    goal = Goal(alpha / max(len(pairs), 1), level=level)
    claims = [
        Claim(
            names[one], names[two], gap, p, p <= alpha, None if p <= alpha else _units_needed(each * things, gap, goal)
        )
        for (one, two), gap, p, each in zip(pairs, gaps.tolist(), adjusted, variance.tolist(), strict=True)
    ]
    beaten = {(one.first, one.second) for one in claims if one.holds}
    ranks = rank_ranges(names, beaten)
    ends = [_ends(board.metric, values[at], pulls[at], level) for at in order]
    return Ranked(
        tuple(
            Standing(name, float(values[at]), low, high, ranks[name])
            for name, at, (low, high) in zip(names, order, ends, strict=True)
        ),
        groups(names, beaten),
        _neighbors_first(claims, names),
        things,
    )


def _pulls(board: BoardRows) -> tuple[Floats, Floats]:
    """How much each drawn unit moves each value away from what it is, and the values; for ratios of two columns."""
    top, bottom = board.rows[..., 0], board.rows[..., 1]
    totals = bottom.sum(axis=1)
    if (totals <= 0).any():
        lost = [name for name, total in zip(board.systems, totals, strict=True) if total <= 0]
        raise SettingError(f"{board.metric.display_name} has no value for {', '.join(lost[:5])}.")
    values = top.sum(axis=1) / totals
    pulls = (top - values[:, None] * bottom) / totals[:, None]
    if board.clusters is not None:
        size = int(board.clusters.max()) + 1
        pulls = np.stack([np.bincount(board.clusters, weights=one, minlength=size) for one in pulls])
    return pulls, values


def _spreads(pulls: Floats) -> Floats:
    """The covariances of the values of all systems."""
    things = pulls.shape[1]
    return np.asarray(pulls @ pulls.T * (things / (things - 1)))


def _p(gap: float, variance: float, things: int) -> float:
    """The two-sided p of a paired t test; systems that are alike on every unit differ by nothing."""
    if variance <= 1e-24:
        return 1.0 if abs(gap) <= 1e-12 else 1.0 / 2 ** (things - 1) if things < 1000 else 0.0
    return student_tails(gap / math.sqrt(variance), things - 1)


def _units_needed(variance: float, gap: float, goal: Goal) -> int | None:
    return Enough(Spread(variance), goal, systems=("", ""), value=gap).units_for_difference() if gap else None


def _ends(metric: Metric, value: float, pulls: Floats, level: float) -> tuple[float | None, float | None]:
    """The interval of one value by the metric's method, from the value without each unit."""
    things = len(pulls)
    left_out = value - pulls * (things / (things - 1))
    found = METHODS[metric.interval](Sample(value, np.zeros(0), things, level, lambda: left_out, metric.ends))
    return (None, None) if isinstance(found, str) else found


@dataclass(frozen=True)
class ItemFacts:
    """What the items of a board tell of the systems."""

    everybody: tuple[str, ...]
    """Items that every system has the best score on, in every repeat."""
    nobody: tuple[str, ...]
    """Items that no system ever has more than the lowest score on."""
    alike: tuple[tuple[str, ...], ...]
    """Groups of items that all systems answer alike, or that ask the same."""


FEWEST_ALIKE = 20
"""With fewer systems items with the same pattern of scores are no news."""


def item_facts(
    units: Sequence[str], trials: NDArray[np.int64], best: NDArray[np.int64], worst: NDArray[np.int64]
) -> ItemFacts:
    """Items without information, from how many trials each has in all systems, and how many are the best or worst."""
    everybody = tuple(units[at] for at in np.flatnonzero(best == trials).tolist())
    nobody = tuple(units[at] for at in np.flatnonzero(worst == trials).tolist())
    return ItemFacts(everybody, nobody, ())


def same_patterns(units: Sequence[str], values: Floats) -> tuple[tuple[str, ...], ...]:
    """Groups of items on which every one of many systems has the same value, though systems differ on them.

    >>> values = np.vstack([np.tile([0.0, 1.0], 10), np.tile([0.0, 1.0], 10), np.ones(20)]).T
    >>> same_patterns(["a", "b", "c"], values)
    (('a', 'b'),)
    """
    if len(values) < FEWEST_ALIKE:
        return ()
    mixed = np.flatnonzero(values.max(axis=0) > values.min(axis=0))
    found: dict[bytes, list[str]] = {}
    columns = np.ascontiguousarray(values.T[mixed])
    for at, column in zip(mixed.tolist(), columns, strict=True):
        found.setdefault(column.tobytes(), []).append(units[at])
    return tuple(tuple(group) for group in found.values() if len(group) > 1)
