"""Two systems on the same units: is the one better, and by how much?

The test swaps the two systems on random units; its null is that on each unit they could change places (S-12). Swaps
leave the middle of the two sums where it is, so every draw is `middle +- half the signed sum of gaps`, and a unit's
pull (the step between the two sides of the middle that its gap alone makes) just changes its sign. Pulls are the
linearised contributions that studentise the statistic, and where the metric is linear they are the statistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from basanite.analysis import paired_draws
from basanite.analysis.interval_methods import NARROW, Floats, Sample
from basanite.analysis.intervals import Span, left_out, method_of, method_span, too_few, too_few_flag
from basanite.analysis.own_draws import own_difference
from basanite.analysis.resampling import (
    BLOCK,
    Frame,
    Job,
    Numbers,
    Portion,
    all_signs,
    cluster_sums,
    estimate,
    frame_of,
    is_additive,
    resample,
    sign_blocks,
    table_portion,
    values_of,
)
from basanite.analysis.restriction import some_units
from basanite.analysis.results import Design, Difference, Reason
from basanite.errors import BasaniteError
from basanite.kernel import OF_SHARES, Metric, Rows, UnitRows, settled

DOMINANT = 0.2
MOVED = 10
NARROW_TABLE = 64
"""Tables of so few columns are drawn together; a copy of a wide one would cost more than it saves."""


class IncomparableError(BasaniteError):
    """Two results that were not made from the same units by the same rules cannot be compared."""


@dataclass(frozen=True)
class Entry:
    """One system on one metric: its rows by drawn unit, and its value in every draw of the shared weights."""

    system: str
    metric: Metric
    table: UnitRows
    frame: Frame
    portion: Portion
    draws: Floats
    value: float
    executor: Executor | None = field(default=None, compare=False, repr=False)

    @cached_property
    def left_out(self) -> Floats:
        """The value without each drawn unit, once for all pairs that need it."""
        return left_out(self.metric, self.portion, self.executor)


@dataclass(frozen=True)
class Contest:
    """Two entries: the middle of their sums, the gap between their rows on each drawn unit, and each gap's pull."""

    first: Entry
    second: Entry
    middle: Rows = field(repr=False)
    gaps: Rows = field(repr=False)
    pulls: Floats = field(repr=False)

    @property
    def value(self) -> float:
        """The difference as it is: first minus second."""
        return self.first.value - self.second.value

    @property
    def rows(self) -> tuple[Rows, Rows]:
        """The rows of both systems by drawn unit."""
        return self.first.portion.rows, self.second.portion.rows

    @cached_property
    def linear(self) -> bool:
        """Whether pulls add up to the difference, so that flipping them is as good as swapping rows (S-12)."""
        rest = abs(float(self.pulls.sum()) - self.value)
        return self.first.metric.linear and rest <= NARROW * float(np.abs(self.pulls).sum())

    @property
    def is_summed(self) -> bool:
        """Whether draws are made of sums of rows."""
        return not self.linear and self.first.metric.compute is None

    @cached_property
    def moving(self) -> Numbers:
        """Which drawn units make a difference when swapped."""
        return np.flatnonzero(self.pulls if self.linear else self.gaps.any(axis=1)).astype(np.int64)

    @property
    def identical(self) -> bool:
        """Whether no swap could change anything."""
        return not self.gaps.any() or (self.value == 0 and not self.pulls.any())


def difference(
    metric: Metric,
    first: UnitRows,
    second: UnitRows,
    *,
    design: Design,
    draws: int | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> Difference:
    """First minus second on one metric, with its interval, p of the sign-flip test, and verdict."""
    entries = enter([(name, table, (metric,)) for name, table in zip(names, (first, second), strict=True)], design)
    found = differences([(entries[0], entries[1])], draws=draws or design.test_draws, design=design)
    return give_verdict(found[0], metric, alpha=design.alpha)


def between_levels(
    metric: Metric, table: UnitRows, factor: str, levels: tuple[str, str], *, design: Design
) -> Difference:
    """Two levels of an item factor, over the units that both have, which is the only fair comparison (S-9)."""
    first, second = (table.levels[factor][level] for level in levels)
    shared, *places = np.intersect1d(first.index, second.index, return_indices=True)
    one, other = (some_units(table, shared, part.rows[at]) for part, at in zip((first, second), places, strict=True))
    return difference(metric, one, other, design=design, names=levels)


def enter(systems: Iterable[tuple[str, UnitRows, tuple[Metric, ...]]], design: Design) -> list[Entry]:
    """Entries of systems with their tables and metrics; all with the same units share one matrix of weights."""
    entries: list[Entry] = []
    groups: dict[tuple[str, int], list[tuple[str, UnitRows, Frame, Job]]] = {}
    for system, table, metrics in systems:
        if table.own is not None:
            entries += _enter_own(system, table, metrics, design)
            continue
        frame = frame_of(table)
        job = Job(table_portion(frame, table, additive=is_additive(metrics)), metrics, table.columns)
        groups.setdefault(frame.key, []).append((system, table, frame, job))
    for group in groups.values():
        entries += _enter_group(group, design)
    return entries


def differences(pairs: Sequence[tuple[Entry, Entry]], *, draws: int, design: Design) -> list[Difference]:
    """The difference of every pair, with one matrix of signs for all; p is not adjusted and the verdict is open."""
    own = {place: pair for place, pair in enumerate(pairs) if pair[0].table.own is not None}
    for pair in own.values():
        check_same_units(*pair)
    contests = [contest(*pair, design.executor) for place, pair in enumerate(pairs) if place not in own]
    p_values = test_contests(contests, draws=draws, seed=design.seed, executor=design.executor)
    swapped = iter([_difference(one, p, draws, design) for one, p in zip(contests, p_values, strict=True)])
    return [
        own_difference(*own[place], draws, design) if place in own else next(swapped) for place in range(len(pairs))
    ]


def contest(first: Entry, second: Entry, executor: Executor | None = None) -> Contest:
    """Two systems lined up unit by unit; refused if they do not have the same units."""
    check_same_units(first, second)
    gaps = first.portion.rows - second.portion.rows
    if first.metric.compute is not None:
        members = first.portion.members
        by_thing = cluster_sums(np.abs(gaps), members)[1]
        pair = (first.portion.rows, second.portion.rows)
        alone = paired_draws.single_pulls(first.metric, pair, members, executor)
        return Contest(first, second, np.zeros(gaps.shape[1]), by_thing, alone)
    middle = (first.portion.total + second.portion.total) / 2
    return Contest(first, second, middle, gaps, pulls(first.metric, middle, gaps))


def pulls(metric: Metric, middle: Rows, gaps: Rows) -> Floats:
    """How far each gap alone pulls two systems apart that start from the middle; undefined pulls are 0."""
    step = max(1, BLOCK // max(1, gaps.shape[1]))
    halves = [gaps[start : start + step] / 2 for start in range(0, len(gaps), step)]
    steps = [_apart(metric, middle, half) for half in halves]
    return np.nan_to_num(np.concatenate(steps), posinf=0.0, neginf=0.0) if steps else np.zeros(0)


def test_contests(contests: Sequence[Contest], *, draws: int, seed: int, executor: Executor | None) -> list[float]:
    """Two-sided p of every contest: exact where all splits are no more than `draws`, else from shared random signs."""
    found = {number: _certain(one, draws) for number, one in enumerate(contests)}
    open_ = [number for number, p in found.items() if p is None]
    for key in {contests[number].first.frame.key for number in open_}:
        group = [number for number in open_ if contests[number].first.frame.key == key]
        found |= dict(zip(group, _sample_p([contests[number] for number in group], draws, seed, executor), strict=True))
    return [p for p in found.values() if p is not None]


def smallest_p(one: Contest, draws: int) -> float:
    """The smallest p the test can give: two of all splits (both signs), or one of the draws with the observed one."""
    moving = len(one.moving)
    return min(1.0, 2.0 ** (1 - moving)) if 2**moving <= draws else 1 / (draws + 1)


def give_verdict(found: Difference, metric: Metric, *, alpha: float, family: int = 1) -> Difference:
    """The same difference with its verdict by the adjusted p, open where S-12 says so."""
    if found.verdict in ("identical", "undefined") or math.isnan(found.p):
        return found
    doubts, shown = tuple(_doubts(found, alpha, family)), found.p_adjusted <= alpha
    figures = {"p": found.p, "p_adjusted": found.p_adjusted, "pairs": family}
    lost = (Reason("adjusted", figures),) if found.p <= alpha and not shown else ()
    verdict = "undecided" if doubts else better(found.difference, metric) if shown else "no difference shown"
    note = "; ".join(filter(None, [found.note, *map(str, doubts + lost)]))
    return replace(found, verdict=verdict, reasons=doubts + lost, note=note)


def better(gap: float, metric: Metric) -> str:
    """Which of two systems is better if first minus second is `gap`."""
    if metric.best == "none":
        return "different"
    return "first" if (gap > 0) == (metric.best == "high") else "second"


def same_rule(first: Metric, second: Metric) -> bool:
    """Whether two systems' rows mean the same: a metric whose settings come from the submission cannot be swapped."""
    if first.settings.keys() != second.settings.keys():
        return False
    return all(np.array_equal(setting, second.settings[key]) for key, setting in first.settings.items())


def _doubts(found: Difference, alpha: float, family: int) -> Iterator[Reason]:
    """Why no verdict can be given."""
    differing, among, things = found.swapped
    if found.dominant:
        yield Reason("dominated", {"share": found.dominant_share, "most": DOMINANT}, found.dominant, things)
    if found.smallest_p * family > alpha:
        figures = {"differing": differing, "among": among, "smallest_p": min(1.0, found.smallest_p * family)}
        yield Reason("few", figures, things=things)
    if found.low is not None and found.high is not None and (found.p <= alpha) == (found.low <= 0 <= found.high):
        yield Reason("disagree", {"p": found.p, "alpha": alpha, "low": found.low, "high": found.high}, things=things)


def _enter_group(group: Sequence[tuple[str, UnitRows, Frame, Job]], design: Design) -> Iterator[Entry]:
    jobs = [job for *_, job in group]
    draws = resample(group[0][2], jobs, draws=design.draws, seed=design.seed, executor=design.executor)
    for (system, table, frame, job), outcomes in zip(group, draws, strict=True):
        for metric, outcome in zip(job.metrics, outcomes, strict=True):
            value = estimate(metric, job.portion)
            yield Entry(system, metric, table, frame, job.portion, outcome, value, design.executor)


def _enter_own(system: str, table: UnitRows, metrics: tuple[Metric, ...], design: Design) -> Iterator[Entry]:
    """Entries of measures that their task draws itself; their portion says only what is drawn, and how many."""
    frame = frame_of(table)
    portion = Portion(np.sort(frame.place), np.zeros((len(table.units), 0)), len(table.units), cluster=frame.cluster)
    values, draws = table.own.values(table, metrics, design), table.own.draws(table, metrics, design)
    for metric in metrics:
        yield Entry(system, metric, table, frame, portion, draws[metric.name], values[metric.name].value)


def _certain(one: Contest, draws: int) -> float | None:
    """The p that needs no random signs: of an undefined difference, identical systems, or all splits."""
    if not np.isfinite(one.value):
        return float("nan")
    if one.identical:
        return 1.0
    moving = one.moving
    if 2 ** len(moving) > draws:
        return None
    patterns, step = all_signs(len(moving)), max(1, BLOCK // max(1, one.gaps.shape[1]))
    blocks = [patterns[start : start + step] for start in range(0, len(patterns), step)]
    return sum(_exceeding(one, block @ one.pulls[moving], _split(one, block)) for block in blocks) / len(patterns)


def _split(one: Contest, patterns: Rows) -> Floats:
    """The difference in every split of the units that move."""
    if one.linear:
        return patterns @ one.pulls[one.moving]
    if one.first.metric.compute is not None:
        signs = np.ones((len(patterns), len(one.gaps)))
        signs[:, one.moving] = patterns
        return paired_draws.apart(one.first.metric, one.rows, one.first.portion.members, signs)
    first, second = (patterns @ rows[one.moving] for rows in one.rows)
    return _apart(one.first.metric, one.middle, (first - second) / 2)


def _sample_p(contests: Sequence[Contest], draws: int, seed: int, executor: Executor | None = None) -> list[float]:
    """p from random signs: the observed split is itself a possible draw, so never 0."""
    frame = contests[0].first.frame
    together = np.stack([one.pulls for one in contests], axis=1)
    tables = {id(rows): rows for one in contests if one.is_summed for rows in one.rows}
    narrow = {key: rows for key, rows in tables.items() if rows.shape[1] <= NARROW_TABLE}
    stacked = np.concatenate([together, *narrow.values()], axis=1)  # one product in place of many small ones
    edges = np.cumsum([together.shape[1], *(rows.shape[1] for rows in narrow.values())])[:-1]
    columns = sum(rows.shape[1] for rows in tables.values())
    exceeding = np.zeros(len(contests), dtype=np.int64)
    blocks = partial(sign_blocks, frame.size, draws=draws, seed=seed, kind=frame.kind, columns=columns // 4)
    far: dict[int, Iterator[Floats]] = {}
    for place, one in enumerate(contests):
        if executor is not None and not one.linear and not one.is_summed:
            work = partial(paired_draws.apart, one.first.metric, one.rows, one.first.portion.members)
            far[place] = iter(list(executor.map(work, (block.astype(np.int8) for block in blocks()))))
    for block in blocks():
        shifts, *parts = np.split(block @ stacked, edges, axis=1)
        sums = {key: block @ rows for key, rows in tables.items() if key not in narrow}
        sums |= dict(zip(narrow, parts, strict=True))
        for place, one in enumerate(contests):
            gap = next(far[place]) if place in far else _drawn_apart(one, shifts[:, place], sums, block)
            exceeding[place] += _exceeding(one, shifts[:, place], gap)
    return [float(count + 1) / (draws + 1) for count in exceeding]


def _drawn_apart(one: Contest, shifts: Floats, sums: Mapping[int, Rows], signs: Rows) -> Floats:
    """The difference in every draw of signs: the shifts themselves, from sums, or computed again."""
    if one.linear:
        return shifts
    if not one.is_summed:
        return paired_draws.apart(one.first.metric, one.rows, one.first.portion.members, signs)
    first, second = (sums[id(rows)] for rows in one.rows)
    return _apart(one.first.metric, one.middle, (first - second) / 2)


def _exceeding(one: Contest, shifts: Floats, apart: Floats) -> int:
    """How many draws are as far apart as observed, in their own standard errors; undefined draws count too."""
    slack = NARROW * float(np.abs(one.pulls).sum())
    spread, own = _spread(one.pulls, shifts), _spread(one.pulls, one.pulls.sum())
    return int(np.count_nonzero(~((np.abs(apart) + slack) * own < abs(one.value) * spread)))


def _apart(metric: Metric, middle: Rows, half: Rows) -> Floats:
    """The difference of two systems that lie as far on either side of the middle; infinite ones have none."""
    with np.errstate(invalid="ignore"):
        return values_of(metric, middle + half) - values_of(metric, middle - half)


def _spread(pulls: Floats, shifts: Floats) -> Floats:
    """The standard error of the shifts, but for a constant; what rounding leaves of nothing is nothing."""
    squares = float(np.sum(pulls**2))
    if squares == 0:
        return np.ones_like(shifts)
    left = squares - shifts**2 / len(pulls)
    return np.sqrt(np.where(left < NARROW * squares, 0.0, left))


def _difference(one: Contest, p: float, draws: int, design: Design) -> Difference:
    names = one.first.metric.name, one.first.system, one.second.system
    if np.isnan(p):
        unsure = [entry.system for entry in (one.first, one.second) if not np.isfinite(entry.value)]
        note = f"the value of {' and '.join(unsure)} is undefined"
        return Difference(*names, float("nan"), None, None, p, p, "undefined", note)
    if one.identical:
        return Difference(*names, 0.0, None, None, 1.0, 1.0, "identical", "the same on every unit")
    bounds, (units, shares) = _bounds(one, design), _unit_pulls(one)
    ends = one.first.metric.difference_ends
    far = np.argsort(-np.abs(shares), kind="stable")[:MOVED]
    dominant, share = _dominant(one, units, shares)
    things = "clusters" if one.first.table.has_clusters else "units"
    return Difference(
        *names,
        settled(one.value, ends),
        settled(bounds.low, ends),
        settled(bounds.high, ends),
        p,
        p,
        "no difference shown",
        "; ".join(bounds.flags),
        moved=tuple((units[place], float(shares[place])) for place in far if shares[place]),
        flags=bounds.flags,
        dominant=dominant,
        dominant_share=share,
        swapped=(len(one.moving), len(one.pulls), things),
        smallest_p=smallest_p(one, draws),
        method=bounds.method,
    )


def _bounds(one: Contest, design: Design) -> Span:
    """The interval of the difference by the metric's method, under the same rules as that of a value (S-13, S-25).

    A difference is no share, so methods for shares give way to the studentized one.
    """
    first, second = one.first, one.second
    for entry in (first, second):
        job = Job(entry.portion, (entry.metric,), entry.table.columns)
        if too_few(entry.metric, job):
            return Span(None, None, (too_few_flag(entry.metric, job),))
    with np.errstate(invalid="ignore"):
        draws = first.draws - second.draws
    method = method_of(first.metric, design)
    sample = Sample(
        one.value,
        draws,
        first.portion.size,
        design.level,
        lambda: np.subtract(first.left_out, second.left_out),
        first.metric.difference_ends,
    )
    return method_span("studentized" if method in OF_SHARES else method, sample)


def _unit_pulls(one: Contest) -> tuple[Sequence[str], Floats]:
    """The names of the units in order, and the pull of each, clusters taken apart."""
    first, second = one.first.table, one.second.table
    if not first.has_clusters:  # each unit is a thing of its own
        return sorted(first.units), one.pulls
    pair = first.rows[_by_name(first)], second.rows[_by_name(second)]
    if one.first.metric.compute is not None:
        return sorted(first.units), paired_draws.single_pulls(one.first.metric, pair, np.arange(len(first.units)))
    return sorted(first.units), pulls(one.first.metric, one.middle, pair[0] - pair[1])


def _dominant(one: Contest, units: Sequence[str], shares: Floats) -> tuple[str, float]:
    """The unit, or cluster, that more than a fifth of the squared pulls come from, and how much does."""
    squares = one.pulls**2
    place = int(np.argmax(squares))
    if squares[place] <= DOMINANT * squares.sum():
        return "", 0.0
    share = float(squares[place] / squares.sum())
    if not one.first.table.has_clusters:
        return units[place], share
    inside = one.first.frame.place[_by_name(one.first.table)] == place
    return f"the cluster of {units[int(np.argmax(np.abs(shares) * inside))]}", share


def check_same_units(first: Entry, second: Entry) -> None:
    """Refuse to compare unless both have the same units, drawn in the same clusters."""
    same = sorted(first.table.units) == sorted(second.table.units) and first.table.columns == second.table.columns
    if not same or not same_rule(first.metric, second.metric):
        raise IncomparableError(_unlike(first, second))
    if not np.array_equal(first.frame.place[_by_name(first.table)], second.frame.place[_by_name(second.table)]):
        raise IncomparableError(
            f"{first.system} and {second.system} group their units in different clusters: score both again with the "
            "same metadata."
        )


def _unlike(first: Entry, second: Entry) -> str:
    odd = sorted(set(first.table.units) ^ set(second.table.units))
    what = (
        f"{len(odd)} units, such as {odd[0]!r}, are in one of them only" if odd else "their rows mean different things"
    )
    return (
        f"{first.system} and {second.system} cannot be compared on {first.metric.name}: {what}. Score both against the "
        "same reference, with the same settings."
    )


def _by_name(table: UnitRows) -> Numbers:
    return np.argsort(np.asarray(table.units, dtype=np.str_), kind="stable").astype(np.int64)
