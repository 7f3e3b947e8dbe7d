"""Two or more systems on one task: every pair on every metric, adjusted, judged and ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from basanite.analysis.intervals import check_design, tables_of
from basanite.analysis.paired import Entry, IncomparableError, differences, enter, judged, same_rule
from basanite.analysis.power import Goal, enough
from basanite.analysis.ranking import adjusted, draws_for, ranking
from basanite.analysis.results import Analysis, Comparison, Design, Difference, Ranking
from basanite.errors import UnknownNameError
from basanite.kernel import Metric

Pair = tuple[Entry, Entry]
NULL = "null of the tests: on each unit the two systems could change places"


def compare(analyses: Sequence[Analysis], metrics: Sequence[str] | None, design: Design) -> Comparison:
    """Compare systems on the named metrics (all they share, if None); the family is the pairs of one metric."""
    check_design(design)
    check_comparable(analyses)
    names = tuple(analysis.scores.system for analysis in analyses)
    chosen = _chosen(analyses, metrics)
    family = len(names) * (len(names) - 1) // 2
    draws = draws_for(design, family)
    found = _differences(analyses, chosen, draws, design)
    ranked = {metric.name: _ranked(metric, analyses, found) for metric in chosen if metric.best != "none"}
    by_name = dict(zip(names, analyses, strict=True))
    noun = "comparison" if family == 1 else "comparisons"
    said = f"{family} {noun} in the family of each metric, {draws:,} draws, {design.adjustment}"
    notes = (said, NULL, *_shared_notes(analyses), *_left_out(analyses, chosen, metrics))
    return Comparison(analyses[0].scores.task, names, by_name, tuple(found), ranked, family, draws, notes)


def check_comparable(analyses: Sequence[Analysis]) -> None:
    """Refuse systems that share a name, or were scored by different rules or against different references."""
    names = [analysis.scores.system for analysis in analyses]
    if len(analyses) < 2:
        raise IncomparableError("A comparison needs at least two systems: give one more submission.")
    if len(set(names)) < len(names):
        raise IncomparableError(f"Two systems have the same name among {', '.join(names)}: name them NAME=PATH.")
    for other in analyses[1:]:
        for first, second in _must_agree(analyses[0], other):
            if first != second:
                raise IncomparableError(
                    f"{names[0]} and {other.scores.system} were not scored alike ({first} against {second}): score "
                    "both with the same version and settings against the same reference."
                )


def _must_agree(first: Analysis, other: Analysis) -> Iterator[tuple[str | None, str | None]]:
    yield first.signature, other.signature
    yield first.scores.digests.get("reference"), other.scores.digests.get("reference")


def _chosen(analyses: Sequence[Analysis], names: Sequence[str] | None) -> list[Metric]:
    """The metrics to compare, of those named, which every system must have, or of all: whose rows may be swapped."""
    shared = {metric.name: metric for metric in analyses[0].scores.metrics if _in_all(metric, analyses)}
    missing = sorted(set(names or ()) - shared.keys())
    if missing:
        raise UnknownNameError(f"Not every system has {', '.join(missing)}. They share: {', '.join(shared)}.")
    wanted = shared.keys() if names is None else names
    return [one for one in shared.values() if one.name in wanted and one.overall and _swappable(one, analyses)]


def _in_all(metric: Metric, analyses: Sequence[Analysis]) -> bool:
    return all(metric.name in analysis.scores.tables for analysis in analyses)


def _swappable(metric: Metric, analyses: Sequence[Analysis]) -> bool:
    """Whether the metric's rows mean the same in every system; a grid of each system's own scores does not."""
    return all(same_rule(metric, analysis.scores.metric(metric.name)) for analysis in analyses)


def _shared_notes(analyses: Sequence[Analysis]) -> list[str]:
    """What is said of every system: what was held fixed, and what moves together in a draw (S-10)."""
    return [note for note in analyses[0].notes if all(note in other.notes for other in analyses)]


def _left_out(analyses: Sequence[Analysis], chosen: Sequence[Metric], names: Sequence[str] | None) -> list[str]:
    """Notes on the shared metrics that could not be compared."""
    shared = [metric for metric in analyses[0].scores.metrics if _in_all(metric, analyses)]
    tested = {metric.name for metric in chosen}
    wanted = {metric.name for metric in shared if names is None or metric.name in names}
    odd = [metric.name for metric in shared if metric.overall and metric.name in wanted - tested]
    parts = [metric.name for metric in shared if not metric.overall]
    notes = [f"not compared, for each system has rows of its own kind: {', '.join(odd)}"] if odd else []
    if parts:
        notes.append(f"shown side by side and not tested, for there is no value of the whole: {', '.join(parts)}")
    return notes


def _differences(
    analyses: Sequence[Analysis], metrics: Sequence[Metric], draws: int, design: Design
) -> list[Difference]:
    """All pairs on all metrics, metric by metric, from one set of draws."""
    pairs = _pairs(analyses, metrics, design)
    found = iter(differences([pair for family in pairs for pair in family], draws=draws, design=design))
    judgements: list[Difference] = []
    for metric, family in zip(metrics, pairs, strict=True):
        changed = adjusted([next(found) for _ in family], family, draws=draws, design=design)
        goal = Goal(design.alpha / len(family), level=design.level)
        judgements += [
            _with_power(judged(one, metric, alpha=design.alpha, family=len(family)), pair, goal)
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


def _ranked(metric: Metric, analyses: Sequence[Analysis], found: Sequence[Difference]) -> Ranking:
    values = {analysis.scores.system: analysis.values[metric.name].value for analysis in analyses}
    return ranking(metric, values, [one for one in found if one.metric == metric.name])
