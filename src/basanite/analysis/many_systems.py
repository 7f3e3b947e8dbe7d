"""More systems than can be compared pair by pair: one metric, all pairs, one draw at a time (P-40, S-1).

Two thousand systems are two million pairs. What a pair needs is made of what each system has (its value in a draw, its
sums of squares), so a draw costs one matrix product, and only one draw's statistics are in memory. The tests are the
step-down of Romano and Wolf (2005) over all pairs, the same as `comparison.romano_wolf` on the same draws.

Pairs that differ on too few units, or on which one unit dominates, are undecided by S-1 and S-12 whatever the draws
say. Both are known from the sizes of the differences alone, which no swap changes, so these pairs are left out before
the step-down: near copies, of which a large board has many, would otherwise cost all others their power.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.clusters import with_clusters
from basanite.analysis.comparison import FEWEST_TEST_DRAWS
from basanite.analysis.interval_methods import NARROW, Floats
from basanite.analysis.intervals import MOST_UNDEFINED, check_design, jackknife, too_few
from basanite.analysis.packed_pairs import packed
from basanite.analysis.paired import DOMINANT, IncomparableError, same_rule
from basanite.analysis.power import Enough, Goal, Spread
from basanite.analysis.resampling import (
    BLOCK,
    Frame,
    Job,
    Portion,
    drawn_values,
    estimate,
    frame_of,
    table_portion,
    values_of,
    weight_blocks,
)
from basanite.analysis.results import COMPARISON_FORMAT, Design, Ranking
from basanite.kernel import Metric, Rows, Scores, UnitRows

MOST_BY_PAIRS = 100
"""More systems than this are compared on one metric, by the step-down of Romano and Wolf."""
MOST_THINGS = 5_000
"""More drawn units than this are drawn in as many groups, so that two thousand systems fit into memory."""
OWN_ERRORS = 300
"""Up to so many drawn units, each draw has standard errors of its own; with more, those of the data serve all."""
STRIP = 64
"""Systems whose pairs are computed together: few enough that their numbers stay in the processor's cache."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Entrants:
    """Systems on one metric and the same units: nothing is kept of each but its rows and its value."""

    metric: Metric
    frame: Frame
    names: tuple[str, ...]
    portions: tuple[Portion, ...]
    values: Floats
    table: UnitRows
    """That of the first system, without rows."""
    own_draws: Rows | None = None
    """`[draws, systems]` for measures that their task draws itself."""

    @property
    def things(self) -> int:
        """How many units or clusters are drawn."""
        return self.frame.size

    @property
    def family(self) -> int:
        """How many pairs there are."""
        return len(self.names) * (len(self.names) - 1) // 2


@dataclass(frozen=True)
class ManyCompared:
    """What is known of many systems: their ranking, who is better than whom, and what the units can show."""

    ranking: Ranking
    better: Flags
    """`better[i, j]`: the system at place i of the order is significantly better than the one at place j."""
    detectable: tuple[float, float] | None
    tested: int
    """How many of the pairs could be tested at all."""
    family: int
    draws: int
    notes: tuple[str, ...]

    def as_object(self, task: str, design: Design) -> dict[str, Any]:
        """The same as plain data, in the layout of a comparison by pairs, which lists no pair."""
        ranking, name = self.ranking, self.ranking.metric
        return {
            "format": COMPARISON_FORMAT,
            "task": task,
            "primary": name,
            "systems": list(ranking.order),
            "differences": [],
            "groups": {name: [list(group) for group in ranking.groups]},
            "rank_ranges": {name: {system: list(ranks) for system, ranks in ranking.rank_ranges.items()}},
            "not_worse_than_best": {name: list(ranking.not_worse_than_best)},
            "better": {name: packed(ranking.order, self.better)},
            "detectable": {} if self.detectable is None else {name: list(self.detectable)},
            "family": {"size": self.family, "draws": self.draws, "tested": self.tested},
            "settings": {"alpha": design.alpha, "adjustment": "romano-wolf", "test_draws": self.draws},
            "notes": list(self.notes),
        }


def entrants(scores: Iterable[Scores], metric: str, design: Design) -> Entrants:
    """The systems lined up on one metric, "" for the first one's primary; refused if they were not scored alike."""
    check_design(design)
    names: list[str] = []
    portions: list[Portion] = []
    values: list[float] = []
    own: list[Rows] = []
    first: tuple[Scores, UnitRows, Frame] | None = None
    for one in (with_clusters(system, design.cluster) for system in scores):
        metric = metric or one.primary
        table, rule = one.tables[metric], one.metric(metric)
        if first is None:
            first = one, table, frame_of(table)
        _check_alike(first, one, metric)
        names.append(one.system)
        if table.own is not None:
            values.append(table.own.values(table, (rule,), design)[metric].value)
            own.append(table.own.draws(table, (rule,), design)[metric])
            continue
        portion = table_portion(frame_of(table), replace(table, redrawn=None), additive=rule.compute is None)
        portions.append(_rows_in_groups(portion, first[2].size, additive=rule.compute is None))
        values.append(estimate(rule, portions[-1]))
    if first is None or len(names) < 2 or len(set(names)) < len(names):
        raise IncomparableError("A comparison needs at least two systems, each with a name of its own.")
    frame = replace(first[2], size=min(first[2].size, MOST_THINGS)) if portions else first[2]
    bare = replace(first[1], rows=first[1].rows[:0], factors={}, levels={}, attributes={}, judged=None, redrawn=None)
    drawn = np.stack([part[: min(map(len, own))] for part in own], axis=1) if own else None
    return Entrants(first[0].metric(metric), frame, tuple(names), tuple(portions), np.array(values), bare, drawn)


def compare_many(field: Entrants, design: Design) -> ManyCompared:
    """Rank many systems on their metric, all pairs tested in one family."""
    draws = FEWEST_TEST_DRAWS if field.own_draws is None else len(field.own_draws)
    drawn = _drawn_values(field, draws, design.seed)
    defined = np.isfinite(drawn)
    shared: Flags = np.asarray(defined.any(axis=1))  # a draw without a value for any system says nothing about any pair
    stable = np.isfinite(field.values) & defined[shared].all(axis=0)
    enough_draws = int(shared.sum()) >= max(2, (1 - MOST_UNDEFINED) * draws)
    pulls = (
        None if field.own_draws is not None else np.stack([_influence(field, one) for one in field.portions], axis=1)
    )
    better = np.zeros((len(field.names),) * 2, dtype=bool)
    open_pairs = _testable(field, pulls, stable, design.alpha) if enough_draws else np.empty(0, dtype=np.int64)
    if len(open_pairs):
        decided = _step_down(field, drawn, shared, pulls, open_pairs, design)
        sign = 1.0 if field.metric.best == "high" else -1.0
        first, second = np.divmod(open_pairs[decided], len(field.names))
        ahead = sign * (field.values[first] - field.values[second]) > 0
        better[np.where(ahead, first, second), np.where(ahead, second, first)] = True
    return _result(field, better, _detectable(field, drawn[shared], stable, design), len(open_pairs), draws, design)


def clean_cuts(better: Flags) -> list[int]:
    """The places of an order where every system above beats every system below (S-11).

    >>> clean_cuts(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]], dtype=bool))
    [2]
    """
    size = len(better)
    worst_not_beaten = np.where(better.all(axis=1), 0, size - np.argmax(~better[:, ::-1], axis=1))
    reach = np.maximum.accumulate(np.maximum(worst_not_beaten, np.arange(size) + 1))
    return [at for at in range(1, size) if reach[at - 1] <= at]


def _check_alike(first: tuple[Scores, UnitRows, Frame], other: Scores, metric: str) -> None:
    """Refuse systems with other units, clusters, settings or references than the first."""
    scores, table, frame = first
    there = other.tables[metric]
    same = (
        scores.digests.get("reference") == other.digests.get("reference")
        and scores.settings == other.settings
        and same_rule(scores.metric(metric), other.metric(metric))
        and table.columns == there.columns
    )
    if same and table.units != there.units:
        same = sorted(table.units) == sorted(there.units)
    if same and (table.clusters is not None or there.clusters is not None):
        places = [dict(zip(one.units, frame_of(one).place.tolist(), strict=True)) for one in (table, there)]
        same = places[0] == places[1] and frame.cluster == there.cluster
    if not same:
        raise IncomparableError(
            f"{scores.system} and {other.system} were scored differently: score both on the same units, with the same "
            "reference, settings and version."
        )


def _rows_in_groups(portion: Portion, things: int, *, additive: bool) -> Portion:
    """The same rows, drawn in at most `MOST_THINGS` groups."""
    if things <= MOST_THINGS:
        return portion
    places = portion.members % MOST_THINGS
    if not additive:
        return replace(portion, members=places)
    sums = np.zeros((MOST_THINGS, portion.rows.shape[1]))
    np.add.at(sums, places, portion.rows)
    return Portion(np.arange(MOST_THINGS), sums, portion.units, cluster=portion.cluster)


def _drawn_values(field: Entrants, draws: int, seed: int) -> Rows:
    """`[draws, systems]`: the value of every system in every draw of weights that all share."""
    if field.own_draws is not None:
        return field.own_draws
    found, start = np.empty((draws, len(field.names))), 0
    additive = field.metric.compute is None
    width = field.portions[0].rows.shape[1]
    rows = np.concatenate([_by_thing(field, one) for one in field.portions], axis=1) if additive else None
    for block in _weights(field, draws, seed):
        part = found[start : start + len(block)]
        if rows is not None:
            part[:] = values_of(field.metric, (block @ rows).reshape(len(block), len(field.names), width))
        else:
            for place, one in enumerate(field.portions):
                part[:, place] = drawn_values(field.metric, one.rows, block[:, one.members])
        start += len(block)
    return found


def _weights(field: Entrants, draws: int, seed: int) -> Iterator[Rows]:
    columns = max(one.rows.shape[1] for one in field.portions)
    if field.metric.compute is None:
        columns *= max(1, len(field.names) // 8)  # sums of all systems are in memory together
    yield from weight_blocks(
        field.things, draws=draws, seed=seed, kind=f"{field.frame.kind}, tests", columns=min(columns, BLOCK)
    )


def _by_thing(field: Entrants, portion: Portion) -> Rows:
    """The rows of a portion at the places of all drawn things; those that do not occur have none."""
    if len(portion.rows) == field.things:
        return portion.rows
    rows = np.zeros((field.things, portion.rows.shape[1]))
    rows[portion.members] = portion.rows
    return rows


def _influence(field: Entrants, portion: Portion) -> Floats:
    """How much each drawn thing moves the value; undefined ones are 0."""
    pulls = np.zeros(field.things)
    present = np.unique(portion.members)
    pulls[present] = np.nan_to_num(estimate(field.metric, portion) - jackknife(field.metric, portion))
    return pulls


def _testable(field: Entrants, pulls: Rows | None, stable: Flags, alpha: float) -> NDArray[np.int64]:
    """The flat numbers `i * systems + j` of the pairs (i before j) that a test could decide."""
    size = len(field.names)
    usable = stable.copy()
    if pulls is not None:
        jobs = (Job(one, (field.metric,), field.table.columns) for one in field.portions)
        usable &= ~np.array([too_few(field.metric, job) for job in jobs])
    fewest = 1 + math.log2(field.family / alpha)  # two of all swaps are the smallest p there is (S-1)
    found = [np.empty(0, dtype=np.int64)]
    shares = None if pulls is None else ((field.things - 1) * pulls + field.values) / field.things
    codes = None if pulls is None else _row_codes(field)
    for first in np.flatnonzero(usable):
        others = np.flatnonzero(usable[first + 1 :]) + first + 1
        if shares is not None and codes is not None and len(others):
            moving = (codes[others] != codes[first]).sum(axis=1)
            squares = (shares.T[others] - shares[:, first]) ** 2
            others = others[(moving >= fewest) & (squares.max(axis=1) <= DOMINANT * squares.sum(axis=1))]
        found.append(first * size + others)
    return np.concatenate(found)


def _row_codes(field: Entrants) -> NDArray[np.int32]:
    """`[systems, things]`: numbers that are equal where two systems have the same rows of a thing."""
    codes = np.zeros((len(field.names), field.things), dtype=np.int32)
    if field.metric.compute is None:
        table = np.stack([_by_thing(field, one) for one in field.portions])
        for thing in range(field.things):
            codes[:, thing] = np.unique(table[:, thing], axis=0, return_inverse=True)[1].ravel()
        return codes
    known: dict[tuple[int, bytes], int] = {}
    for system, one in enumerate(field.portions):
        order = np.argsort(one.members, kind="stable")
        starts = np.flatnonzero(np.diff(one.members[order], prepend=-1))
        for thing, rows in zip(one.members[order][starts], np.split(one.rows[order], starts[1:]), strict=True):
            codes[system, thing] = known.setdefault((int(thing), rows.tobytes()), len(known) + 1)
    return codes


def _step_down(
    field: Entrants, drawn: Rows, shared: Flags, pulls: Rows | None, pairs: NDArray[np.int64], design: Design
) -> Flags:
    """Which of these pairs differ, by p adjusted over all of them (Romano and Wolf 2005)."""
    # Six arguments: what is compared, its draws and which of them are defined, and the pairs of the family.
    statistics = _Statistics(field, drawn[shared], pulls)
    observed = np.abs(statistics.observed().ravel()[pairs])
    order = np.argsort(observed, kind="stable")
    places, rising = pairs[order], observed[order]
    exceeding, largest = np.zeros(len(pairs), dtype=np.int32), np.empty(len(pairs))
    count = 0
    for one in statistics.draws(shared, design.seed):
        np.take(one.ravel(), places, out=largest, mode="clip")
        np.maximum.accumulate(largest, out=largest)  # the largest of those not above each
        exceeding += largest >= rising
        count += 1
    p_values = np.maximum.accumulate(((exceeding + 1) / (count + 1))[::-1])[::-1]
    decided = np.empty(len(pairs), dtype=bool)
    decided[order] = p_values <= design.alpha
    return decided


@dataclass
class _Statistics:
    """The studentised difference of every pair, observed and, centred, in every draw."""

    field: Entrants
    drawn: Rows
    pulls: Rows | None

    def __post_init__(self) -> None:
        """What all draws share."""
        size = len(self.field.names)
        self.values = self.field.values if self.field.own_draws is None else self.drawn.mean(axis=0)
        self.found, self.product = np.zeros((size, size)), np.zeros((size, size))
        if self.pulls is not None:
            self.pulls = self.pulls - np.nan_to_num(self.pulls).mean(axis=1, keepdims=True)  # less is lost to rounding
        self.errors = self._errors()
        self.in_each_draw = self.pulls is not None and self.field.things <= OWN_ERRORS

    def observed(self) -> Rows:
        """The differences in their standard errors; undefined where there is none."""
        with np.errstate(all="ignore"):
            return np.asarray(np.nan_to_num(np.subtract.outer(self.field.values, self.field.values) / self.errors))

    def draws(self, shared: Flags, seed: int) -> Iterator[Rows]:
        """The same in every draw, without its sign; one array is filled again and again."""
        centred = self.drawn - self.values
        if not self.in_each_draw:
            for one in centred:
                self._fill(one)
                yield self.found
            return
        place = at = 0
        for block in _weights(self.field, len(shared), seed):
            for weights in block:
                if shared[at]:
                    self._fill(centred[place], weights)
                    place += 1
                    yield self.found
                at += 1

    def _errors(self) -> Rows:
        """The standard error of every difference in the data; 0 where it is only rounding."""
        if self.pulls is None:
            spread = np.cov(self.drawn, rowvar=False)
            squares = np.diag(spread)[:, None] + np.diag(spread) - 2 * spread
            return np.asarray(np.sqrt(np.where(squares > NARROW**2 * np.diag(spread).max(), squares, 0.0)))
        product, sums = self.pulls.T @ self.pulls, self.pulls.sum(axis=0)
        squares = np.diag(product)[:, None] + np.diag(product) - 2 * product
        left = squares - np.subtract.outer(sums, sums) ** 2 / self.field.things
        return np.asarray(np.sqrt(np.maximum(left, 0.0)))

    def _fill(self, centred: Floats, weights: Floats | None = None) -> None:
        """The statistics of one draw, above the diagonal; what is undefined counts as far out."""
        squares = sums = np.empty(0)
        if weights is not None and self.pulls is not None:
            some = np.flatnonzero(weights)
            scaled = np.sqrt(weights[some])[:, None] * self.pulls[some]
            np.matmul(scaled.T, scaled, out=self.product)
            squares, sums = self.product.diagonal().copy(), weights @ self.pulls
        with np.errstate(all="ignore"):
            for start in range(0, len(centred), STRIP):
                here, rest = slice(start, start + STRIP), slice(start, None)
                part = self.found[here, rest]
                np.subtract.outer(centred[here], centred[rest], out=part)
                np.abs(part, out=part)
                if weights is None:
                    part /= self.errors[here, rest]
                    continue
                left = np.subtract.outer(sums[here], sums[rest])
                left *= left
                left /= -self.field.things
                left += squares[here, None]
                left += squares[rest]
                left -= 2 * self.product[here, rest]
                np.maximum(left, 0.0, out=left)
                part /= np.sqrt(left, out=left)
                part[np.isnan(part)] = np.inf


def _detectable(field: Entrants, drawn: Rows, stable: Flags, design: Design) -> tuple[float, float] | None:
    """The smallest and the largest of the differences that pairs would show in 80% of cases (S-30)."""
    if stable.sum() < 2 or len(drawn) < 2:
        return None
    spread = np.cov(drawn[:, stable], rowvar=False)
    squares = np.diag(spread)[:, None] + np.diag(spread) - 2 * spread
    things, goal = field.things, Goal(design.alpha / field.family, level=design.level)
    above = squares[np.triu_indices(len(squares), 1)]
    above = above[above > NARROW * np.diag(spread).max()]
    if not len(above):
        return None
    ends = [
        Enough(Spread(float(one) * things * things / (things - 1)), goal, things).detectable
        for one in (above.min(), above.max())
    ]
    return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])


def _result(
    field: Entrants, better: Flags, detectable: tuple[float, float] | None, tested: int, draws: int, design: Design
) -> ManyCompared:
    """The ranking, systems best first."""
    # Six arguments: everything that was found out about one set of systems.
    sign = 1.0 if field.metric.best == "low" else -1.0
    order = sorted(
        range(len(field.names)),
        key=lambda at: math.inf if math.isnan(field.values[at]) else sign * float(field.values[at]),
    )
    names, better = [field.names[at] for at in order], better[np.ix_(order, order)]
    edges = [0, *clean_cuts(better), len(names)]
    ranges = zip((1 + better.sum(axis=0)).tolist(), (len(names) - better.sum(axis=1)).tolist(), strict=True)
    ranking = Ranking(
        field.metric.name,
        tuple(names),
        tuple(tuple(names[start:stop]) for start, stop in pairwise(edges)),
        dict(zip(names, ranges, strict=True)),
        tuple(name for name, beaten in zip(names, better[0], strict=True) if not beaten),
    )
    notes = [
        f"{field.family:,} comparisons on {field.metric.name} alone, because there are more than {MOST_BY_PAIRS} "
        f"systems; {draws:,} resamples, adjusted by romano-wolf"
    ]
    if tested < field.family:
        notes.append(
            f"{field.family - tested:,} of them are undecided without a test, because too few units differ, one unit "
            "dominates, or a value is undefined in a resample"
        )
    return ManyCompared(ranking, better, detectable, tested, field.family, draws, (*notes, NULL_OF_MANY))


NULL_OF_MANY = "null hypothesis of the tests: two systems have the same value in the population of units"
