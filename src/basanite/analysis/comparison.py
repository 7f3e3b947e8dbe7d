"""Two or more systems on one task: every pair on every metric, adjusted, judged and ranked.

Systems in order: p adjusted for the number of pairs, groups with clean cuts, and the ranks that remain possible.

Non-significance is not transitive, so a group is never called equal: it has no clean cut inside (S-11).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np

from basanite.analysis import own_draws
from basanite.analysis.interval_methods import Floats
from basanite.analysis.intervals import check_design, jackknife, tables_of
from basanite.analysis.paired import Entry, IncomparableError, differences, enter, give_verdict, same_rule
from basanite.analysis.power import Goal, enough
from basanite.analysis.resampling import drawn_values, weight_blocks
from basanite.analysis.results import Analysis, Comparison, Design, Difference, Ranking
from basanite.errors import SettingError, UnknownNameError
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
    for rank, place in enumerate(sorted(_defined_places(p_values), key=lambda place: p_values[place])):
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
    if design.adjustment == "romano-wolf":  # the smallest adjusted p is that of one comparison
        return max(design.test_draws, FEWEST_TEST_DRAWS)
    draws = max(design.test_draws, FEWEST_TEST_DRAWS, DRAWS_PER_COMPARISON * comparisons)
    if comparisons / (draws + 1) > design.alpha:
        needed = math.ceil(comparisons / design.alpha)
        raise SettingError(
            f"With {draws:,} draws no adjusted p of {comparisons} comparisons can reach {design.alpha:g}: "
            f"set test_draws to {needed:,} or more."
        )
    return draws


def adjust_p(
    found: Sequence[Difference], pairs: Sequence[tuple[Entry, Entry]], *, draws: int, design: Design
) -> list[Difference]:
    """The differences of one metric with p adjusted over all of them, by the design's method."""
    p_values = holm([one.p for one in found])
    if design.adjustment == "romano-wolf":
        p_values = _stepped_down(found, pairs, draws=draws, seed=design.seed)
        # Its smallest adjusted p does not grow with the family, but as many swaps there must be (S-1).
        least = 1 / ((draws + 1) * len(found))
        found = [replace(one, smallest_p=max(min(1.0, 2.0 ** (1 - one.swapped[0])), least)) for one in found]
    return [replace(one, p_adjusted=p) for one, p in zip(found, p_values, strict=True)]


def ranking(metric: Metric, values: Mapping[str, float], found: Sequence[Difference]) -> Ranking:
    """The systems best first, their groups (S-11), the ranks each may have, and those not shown worse than the best."""
    sign = 1 if metric.best == "low" else -1
    order = sorted(values, key=lambda name: math.inf if math.isnan(values[name]) else sign * values[name])
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
    cuts = [0, *(at for at in range(1, len(order)) if beaten.issuperset(product(order[:at], order[at:]))), len(order)]
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


def studentise(pairs: Sequence[tuple[Entry, Entry]], *, draws: int, seed: int) -> tuple[Floats, Rows]:
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
    tested = [place for place in _defined_places([one.p for one in found]) if found[place].verdict != "identical"]
    if tested:
        these = [pairs[place] for place in tested]
        own = these[0][0].table.own is not None
        stepped = romano_wolf(
            *(own_draws.shared_statistics(these) if own else studentise(these, draws=draws, seed=seed))
        )
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


def _defined_places(p_values: Sequence[float]) -> list[int]:
    return [place for place, p in enumerate(p_values) if not math.isnan(p)]


Pair = tuple[Entry, Entry]
NULL = "null hypothesis of the tests: on each unit the two systems are exchangeable"


def compare(analyses: Sequence[Analysis], metrics: Sequence[str] | None, design: Design) -> Comparison:
    """Compare systems on the named metrics (all they share, if None); the family is the pairs of one metric."""
    check_design(design)
    check_comparable(analyses)
    names = tuple(analysis.scores.system for analysis in analyses)
    chosen = _chosen(analyses, metrics)
    family = len(names) * (len(names) - 1) // 2
    own = any(analyses[0].scores.tables[metric.name].own is not None for metric in chosen)
    draws = draws_for(design, family)
    found = _differences(analyses, chosen, draws, design)
    ranked = {}
    for metric in chosen:
        if metric.best != "none":
            values = {analysis.scores.system: analysis.values[metric.name].value for analysis in analyses}
            ranked[metric.name] = ranking(metric, values, [one for one in found if one.metric == metric.name])
    by_name = dict(zip(names, analyses, strict=True))
    draws = design.draws if own else draws
    noun = "comparison" if family == 1 else "comparisons"
    said = f"{family} {noun} for each metric, {draws:,} resamples, adjusted by {design.adjustment}"
    # What is said of every system: what stayed fixed, and what moves together in a draw (S-10).
    shared = [note for note in analyses[0].notes if all(note in other.notes for other in analyses)]
    null = own_draws.NULL if own else NULL
    notes = (said, null, *shared, *_left_out(analyses, chosen, metrics))
    return Comparison(analyses[0].scores.task, names, by_name, tuple(found), ranked, family, draws, notes)


def check_comparable(analyses: Sequence[Analysis]) -> None:
    """Refuse systems that share a name, or were scored by different rules or against different references."""
    names = [analysis.scores.system for analysis in analyses]
    if len(analyses) < 2:
        raise IncomparableError("A comparison needs at least two systems: give one more submission.")
    if len(set(names)) < len(names):
        raise IncomparableError(f"Two systems have the same name among {', '.join(names)}: name them NAME=PATH.")
    for other in analyses[1:]:
        references = (one.scores.digests.get("reference") for one in (analyses[0], other))
        for first, second in ((analyses[0].signature, other.signature), tuple(references)):
            if first != second:
                raise IncomparableError(
                    f"{names[0]} and {other.scores.system} were scored differently ({first} against {second}): score "
                    "both with the same version and settings against the same reference."
                )


def _chosen(analyses: Sequence[Analysis], names: Sequence[str] | None) -> list[Metric]:
    """The metrics to compare, of those named, which every system must have, or of all: whose rows may be swapped."""
    shared = {metric.name: metric for metric in analyses[0].scores.metrics if _in_all(metric, analyses)}
    missing = sorted(set(names or ()) - shared.keys())
    if missing:
        raise UnknownNameError(f"Not every system has {', '.join(missing)}. They share: {', '.join(shared)}.")
    wanted = shared.keys() if names is None else names
    return [
        one
        for one in shared.values()
        if one.name in wanted
        and one.overall
        # rows mean the same in every system; those of a grid of each system's own scores do not
        and all(same_rule(one, analysis.scores.metric(one.name)) for analysis in analyses)
    ]


def _in_all(metric: Metric, analyses: Sequence[Analysis]) -> bool:
    return all(metric.name in analysis.scores.tables for analysis in analyses)


def _left_out(analyses: Sequence[Analysis], chosen: Sequence[Metric], names: Sequence[str] | None) -> list[str]:
    """Notes on the shared metrics that could not be compared."""
    shared = [metric for metric in analyses[0].scores.metrics if _in_all(metric, analyses)]
    tested = {metric.name for metric in chosen}
    wanted = {metric.name for metric in shared if names is None or metric.name in names}
    odd = [metric.name for metric in shared if metric.overall and metric.name in wanted - tested]
    parts = [metric.name for metric in shared if not metric.overall]
    notes = [f"not compared, because the systems have different kinds of rows: {', '.join(odd)}"] if odd else []
    if parts:
        notes.append(f"shown side by side and not tested, because there is no overall value: {', '.join(parts)}")
    return notes


def _differences(
    analyses: Sequence[Analysis], metrics: Sequence[Metric], draws: int, design: Design
) -> list[Difference]:
    """All pairs on all metrics, metric by metric, from one set of draws."""
    pairs = _pairs(analyses, metrics, design)
    found = iter(differences([pair for family in pairs for pair in family], draws=draws, design=design))
    judgements: list[Difference] = []
    for metric, family in zip(metrics, pairs, strict=True):
        changed = adjust_p([next(found) for _ in family], family, draws=draws, design=design)
        goal = Goal(design.alpha / len(family), level=design.level)
        judgements += [
            _with_power(give_verdict(one, metric, alpha=design.alpha, family=len(family)), pair, goal)
            for one, pair in zip(changed, family, strict=True)
        ]
    return judgements


def _with_power(found: Difference, pair: Pair, goal: Goal) -> Difference:
    """The same with what these units can show, and how many would show as much as was seen (S-30)."""
    answer = enough(pair, goal)
    if answer is None:
        return found
    return replace(found, detectable=answer.detectable, units_needed=answer.units_for_difference())


def _pairs(analyses: Sequence[Analysis], metrics: Sequence[Metric], design: Design) -> list[list[Pair]]:
    """For each metric all pairs of systems, in the order they were given."""
    wanted = {metric.name for metric in metrics}
    systems = [
        (analysis.scores.system, table, tuple(metric for metric in readers if metric.name in wanted))
        for analysis in analyses
        for table, readers in tables_of(analysis.scores)
    ]
    entries = enter([system for system in systems if system[2]], design)
    by_name = {(entry.metric.name, entry.system): entry for entry in entries}
    names = [analysis.scores.system for analysis in analyses]
    return [
        [(by_name[metric.name, first], by_name[metric.name, second]) for first, second in combinations(names, 2)]
        for metric in metrics
    ]
