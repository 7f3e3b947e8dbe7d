"""Systems in order: p adjusted for the number of pairs, groups with clean cuts, and the ranks that remain possible.

That two cannot be told apart is not transitive, so a group is never called equal: it has no clean cut inside (S-11).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from basanite.analysis.interval_methods import Floats
from basanite.analysis.intervals import jackknife
from basanite.analysis.paired import Entry
from basanite.analysis.resampling import drawn_values, weight_blocks
from basanite.analysis.results import Design, Difference, Ranking
from basanite.errors import SettingError
from basanite.kernel import Metric, Rows

FEWEST_TEST_DRAWS = 10_000
DRAWS_PER_COMPARISON = 100


def holm(p_values: Sequence[float]) -> list[float]:
    """p adjusted for their number by Holm's step-down (1979); undefined ones stay so but are counted.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [float("nan")] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(_defined(p_values), key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def romano_wolf(observed: Floats, draws: Rows) -> list[float]:
    """p adjusted by the step-down of Romano and Wolf (2005): each statistic against the largest of those not above it.

    `observed[k]` is studentised; `draws[d, k]` is centred and studentised, all columns from the same draw.
    """
    order = np.argsort(-np.abs(observed), kind="stable")
    largest = np.maximum.accumulate(np.abs(draws)[:, order[::-1]], axis=1)[:, ::-1]
    exceeding = np.count_nonzero(largest >= np.abs(observed)[order], axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate((exceeding + 1) / (len(draws) + 1))
    return [float(p) for p in adjusted]


def draws_for(design: Design, comparisons: int) -> int:
    """How many draws the tests of a family take; refused where no adjusted p could reach alpha (S-1)."""
    draws = max(design.test_draws, FEWEST_TEST_DRAWS, DRAWS_PER_COMPARISON * comparisons)
    if comparisons / (draws + 1) > design.alpha:
        needed = math.ceil(comparisons / design.alpha)
        raise SettingError(
            f"With {draws:,} draws no adjusted p of {comparisons} comparisons can reach {design.alpha:g}: "
            f"set test_draws to {needed:,} or more."
        )
    return draws


def adjusted(
    found: Sequence[Difference], pairs: Sequence[tuple[Entry, Entry]], *, draws: int, design: Design
) -> list[Difference]:
    """The differences of one metric with p adjusted over all of them, by the design's method."""
    p_values = holm([one.p for one in found])
    if design.adjustment == "romano-wolf":
        p_values = _stepped_down(found, pairs, draws=draws, seed=design.seed)
    return [replace(one, p_adjusted=p) for one, p in zip(found, p_values, strict=True)]


def ranking(metric: Metric, values: Mapping[str, float], found: Sequence[Difference]) -> Ranking:
    """The systems best first, their groups (S-11), the ranks each may have, and those not shown worse than the best."""
    order = sorted(values, key=lambda system: _badness(metric, values[system]))
    beaten = beats(found)
    return Ranking(
        metric.name,
        tuple(order),
        groups(order, beaten),
        rank_ranges(order, beaten),
        tuple(system for system in order if (order[0], system) not in beaten),
    )


def beats(found: Sequence[Difference]) -> set[tuple[str, str]]:
    """The pairs (winner, loser) that the differences decide."""
    won = {(one.first, one.second) for one in found if one.verdict == "first"}
    return won | {(one.second, one.first) for one in found if one.verdict == "second"}


def groups(order: Sequence[str], beaten: set[tuple[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Stretches of the order, cut only where every system above beats every system below.

    >>> groups(["a", "b", "c"], {("a", "c"), ("b", "c")})
    (('a', 'b'), ('c',))
    """
    cuts = [0, *(at for at in range(1, len(order)) if _clean(order[:at], order[at:], beaten)), len(order)]
    return tuple(tuple(order[start:stop]) for start, stop in pairwise(cuts) if start < stop)


def rank_ranges(order: Sequence[str], beaten: set[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Best and worst rank of each system: one more than those shown better, all but those shown worse.

    >>> rank_ranges(["a", "b", "c"], {("a", "c")})
    {'a': (1, 2), 'b': (1, 3), 'c': (2, 3)}
    """
    return {
        system: (
            1 + sum((other, system) in beaten for other in order),
            len(order) - sum((system, other) in beaten for other in order),
        )
        for system in order
    }


def studentised(pairs: Sequence[tuple[Entry, Entry]], *, draws: int, seed: int) -> tuple[Floats, Rows]:
    """The studentised difference of every pair, and the same centred in every draw of weights shared by all."""
    frame = pairs[0][0].frame
    entries = {entry.system: entry for pair in pairs for entry in pair}
    columns = max(entry.portion.rows.shape[1] for entry in entries.values())
    pulls = np.stack([_influence(first) - _influence(second) for first, second in pairs], axis=1)
    gaps = np.array([first.value - second.value for first, second in pairs])
    blocks = weight_blocks(frame.size, draws=draws, seed=seed, kind=f"{frame.kind}, tests", columns=columns)
    centred = [
        _over((_gaps(block, entries, pairs) - gaps), block @ pulls, block @ pulls**2, len(pulls)) for block in blocks
    ]
    return _over(gaps, pulls.sum(axis=0), (pulls**2).sum(axis=0), len(pulls)), np.concatenate(centred)


def _stepped_down(
    found: Sequence[Difference], pairs: Sequence[tuple[Entry, Entry]], *, draws: int, seed: int
) -> list[float]:
    """Romano-Wolf p over the pairs that differ; no p becomes smaller by being adjusted."""
    p_values = np.array([one.p for one in found])
    tested = [place for place in _defined([one.p for one in found]) if found[place].verdict != "identical"]
    if tested:
        stepped = romano_wolf(*studentised([pairs[place] for place in tested], draws=draws, seed=seed))
        p_values[tested] = np.maximum(p_values[tested], stepped)
    return [float(p) for p in p_values]


def _gaps(block: Rows, entries: Mapping[str, Entry], pairs: Sequence[tuple[Entry, Entry]]) -> Rows:
    """The difference of every pair in each draw of a block."""
    values = {
        name: drawn_values(entry.metric, entry.portion.rows, block[:, entry.portion.members])
        for name, entry in entries.items()
    }
    return np.stack([values[first.system] - values[second.system] for first, second in pairs], axis=1)


def _influence(entry: Entry) -> Floats:
    """How much each drawn unit moves the value: the value less that without it; undefined ones are 0."""
    return np.nan_to_num(entry.value - jackknife(entry.metric, entry.portion))


def _over(gaps: Floats, sums: Floats, squares: Floats, units: int) -> Floats:
    """Gaps in their standard errors; an undefined draw counts as far out."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(gaps / np.sqrt(np.maximum(squares - sums**2 / units, 0.0)), nan=np.inf, posinf=np.inf)


def _defined(p_values: Sequence[float]) -> list[int]:
    return [place for place, p in enumerate(p_values) if not math.isnan(p)]


def _badness(metric: Metric, value: float) -> float:
    if math.isnan(value):
        return math.inf
    return value if metric.best == "low" else -value


def _clean(above: Sequence[str], below: Sequence[str], beaten: set[tuple[str, str]]) -> bool:
    return all((winner, loser) in beaten for winner in above for loser in below)
