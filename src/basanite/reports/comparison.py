"""The report on several systems: who is shown better than whom, and where no clean cut can be made (S-11)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from basanite import __version__
from basanite.analysis.results import Comparison, Difference, Ranking, compare_object
from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.reports.analysis import (
    LEVEL_COLUMNS,
    VALUE_COLUMNS,
    design_facts,
    drawn_metrics,
    few,
    headlines,
    interval_note,
    level_cells,
    meanings,
    metric_of,
    metrics_tables,
    name_of,
    notes_section,
    records,
    remarks,
    unit_of,
    value_cells,
)
from basanite.reports.report import (
    LONG_COLUMNS,
    Facts,
    Headline,
    Report,
    Section,
    facts_table,
    sections_with_content,
    tidy,
)
from basanite.reports.wording import enumeration, many, number, plural, with_interval

NO_CLEAN_CUT = "no clean cut inside"
DIFFERENCE_COLUMNS = ("First", "Second", "Difference", "Low", "High", "Method", "p", "Adjusted p", "Verdict", "Remarks")
COMPARISON_COLUMNS = (*LONG_COLUMNS[:-1], "against", "p", "p_adjusted", "verdict", LONG_COLUMNS[-1])
"""The method of the interval comes last, as in `LONG_COLUMNS`."""
PAIRS_IN_WORDS = 6
OPEN = ("no difference shown", "undecided")


def comparison_report(comparison: Comparison, figures: Sequence[Figure] = ()) -> Report:
    """The report on several systems, with the figures their task adds."""
    facts, primary, sentences = comparison_facts(comparison), _primary(comparison), tuple(_sentences(comparison))
    return Report(
        title=enumeration(comparison.systems) if len(comparison.systems) < 4 else f"{len(comparison.systems)} systems",
        subtitle=f"Compared on {comparison.task}",
        sections=sections_with_content(
            Section("Result", "", tuple(_result(comparison, primary))),
            Section("Pairs", _pairs_lead(comparison), tuple(_pairs(comparison, primary))),
            Section("A closer look", "", tuple(figures)),
            Section("Breakdowns", "", tuple(_breakdowns(comparison))),
            Section("Other metrics", "", tuple(_others(comparison, primary)), detail=not _metrics_asked(comparison)),
            Section("How this was computed", "", _how(comparison, facts), detail=True),
            notes_section(comparison.notes),
        ),
        facts=facts,
        data=compare_object(comparison),
        records=Table("Values and differences", COMPARISON_COLUMNS, tuple(_records(comparison))),
        headlines=tuple(_headlines(comparison, primary)),
        sentences=sentences,
        meanings=meanings(next(iter(comparison.analyses.values()))),
    )


def verdict_in_words(difference: Difference) -> str:
    """The verdict with the better system's name in it."""
    better = {"first": difference.first, "second": difference.second}.get(difference.verdict)
    return f"{better} better" if better is not None else difference.verdict


def differences_table(comparison: Comparison, metric: str) -> Table:
    """Every pair on one metric: difference (first minus second), interval, p values and verdict."""
    rows = tuple(
        (d.first, d.second, d.difference, d.low, d.high, d.method, d.p, d.p_adjusted, verdict_in_words(d), d.note)
        for d in _on(comparison, metric)
    )
    note = "Verdicts use the adjusted p and the interval of the difference. Remarks explain undecided verdicts."
    return tidy(Table(f"Differences in {_name(comparison, metric)}", DIFFERENCE_COLUMNS, rows, note))


def pairs_matrix(comparison: Comparison, ranking: Ranking) -> Table:
    """The matrix of pairs in order of rank: how the row's system stands to the column's.

    A difference stands in it once, with the sign that it has in every other table (S-29).
    """
    pairs = _on(comparison, ranking.metric)
    known = {(d.second, d.first): _sign(d, "second") for d in pairs}
    for d in pairs:
        plus = "+" if d.difference > 0 else ""
        known[d.first, d.second] = f"{_sign(d, 'first')} {plus}{number(d.difference).replace('-', '−')}"
    rows = tuple((row, *(known.get((row, column), "") for column in ranking.order)) for row in ranking.order)
    note = (
        "Differences are first minus second, in the row of the first. ▲ row significantly better, "
        "▼ row significantly worse, · no significant difference, ? undecided, = identical."
    )
    return Table(f"Matrix of pairs on {_name(comparison, ranking.metric)}", ("System", *ranking.order), rows, note)


def ranking_table(comparison: Comparison, ranking: Ranking) -> Table:
    """Systems in order: group, range of ranks, value with interval."""
    groups = _group_numbers(ranking)
    rows = tuple(
        (system, groups.get(system), _ranks(ranking, system), *_cells(comparison, system, ranking.metric))
        for system in ranking.order
    )
    note = (
        f"A group has {NO_CLEAN_CUT}: a new one starts only where every system above is significantly better than "
        "every system below. "
    )
    note += f"Not significantly worse than the best: {enumeration(ranking.not_worse_than_best)}."
    return tidy(
        Table(
            f"Ranking on {_name(comparison, ranking.metric)}", ("System", "Group", "Ranks", *VALUE_COLUMNS), rows, note
        )
    )


def comparison_facts(comparison: Comparison) -> Facts:
    """The family of tests, the design, and the digests of every system."""
    analyses = comparison.analyses
    design = next(iter(analyses.values())).design
    digests = tuple(
        (f"{system}: digest of {name}", digest)
        for system, analysis in analyses.items()
        for name, digest in sorted(analysis.scores.digests.items())
    )
    signatures = tuple((f"{system}: signature", analysis.signature) for system, analysis in analyses.items())
    family = (
        ("Family", f"{plural('comparison', comparison.family_size)} of one metric, {design.adjustment} adjustment"),
    )
    tests = (("Test draws", f"{comparison.draws:,}"), ("Test level", f"{design.alpha:g}"))
    software = (("Software", f"Basanite {__version__}"),)
    return (("Task", comparison.task), *family, *tests, *design_facts(design), *digests, *software, *signatures)


def _primary(comparison: Comparison) -> str:
    return next(iter(comparison.analyses.values())).scores.primary


def _name(comparison: Comparison, metric: str) -> str:
    return name_of(next(iter(comparison.analyses.values())), metric)


def _metrics_asked(comparison: Comparison) -> tuple[str, ...]:
    return next(iter(comparison.analyses.values())).scores.asked


def _on(comparison: Comparison, metric: str) -> tuple[Difference, ...]:
    return tuple(difference for difference in comparison.differences if difference.metric == metric)


def _group_numbers(ranking: Ranking) -> dict[str, int]:
    return {system: index for index, group in enumerate(ranking.groups, 1) for system in group}


def _ranks(ranking: Ranking, system: str) -> str:
    low, high = ranking.rank_ranges.get(system, (1, len(ranking.order)))
    return str(low) if low == high else f"{low} to {high}"


def _cells(comparison: Comparison, system: str, metric: str) -> tuple[Cell, ...]:
    analysis = comparison.analyses[system]
    return value_cells(analysis.values[metric], metric_of(analysis, metric))


def _sign(difference: Difference, row: str) -> str:
    """How the first or second system of a pair stands to the other, in one sign."""
    if difference.verdict in ("first", "second"):
        return "▲" if difference.verdict == row else "▼"
    return {"undecided": "?", "identical": "="}.get(difference.verdict, "·")


def _sentences(comparison: Comparison) -> Iterator[str]:
    primary = _primary(comparison)
    ranking = comparison.rankings.get(primary)
    if ranking:
        best = ranking.order[0]
        value, level = comparison.analyses[best].values[primary], comparison.analyses[best].design.level
        yield f"{best} comes first on {_name(comparison, primary)}: {with_interval(value, level)}."
        if any("optimistic" in remark for remark in remarks(value, metric_of(comparison.analyses[best], primary))):
            yield f"Values of {_name(comparison, primary)} are optimistic: each is selected on the test data."
        yield _groups_in_words(ranking)
    elif not any(analysis.values for analysis in comparison.analyses.values()):
        yield "There is no overall value, so nothing is tested; the values of the parts are shown side by side."
    yield from _pairs_in_words(_on(comparison, primary))
    yield from _power_in_words(comparison, primary)


def _power_in_words(comparison: Comparison, primary: str) -> Iterator[str]:
    """What difference the present units can show, and how many would show those that were seen (S-30)."""
    pairs = [one for one in _on(comparison, primary) if one.detectable is not None]
    sizes = [one.detectable for one in pairs if one.detectable is not None]
    if not sizes:
        return
    first = next(iter(comparison.analyses.values()))
    drawn = first.scores.tables[primary].drawn_unit
    unit = f"clusters of {many(unit_of(first, primary))}" if drawn == "cluster" else many(drawn)
    low, high = number(min(sizes)), number(max(sizes))
    shown = low if low == high else f"{low} to {high}, depending on the pair,"
    yield f"With these {unit}, a difference of {shown} in {_name(comparison, primary)} is detected in 80% of cases."
    open_ = [one for one in pairs if one.verdict in OPEN and one.units_needed is not None][:PAIRS_IN_WORDS]
    for one in open_:
        yield (
            f"If {one.first} and {one.second} really differ as observed ({number(abs(one.difference))}), about "
            f"{one.units_needed:,} {unit} detect it in 80% of cases."
        )


def _pairs_in_words(differences: tuple[Difference, ...]) -> Iterator[str]:
    if len(differences) <= PAIRS_IN_WORDS:
        yield from map(_pair_in_words, differences)
        return
    shown = sum(difference.verdict in ("first", "second") for difference in differences)
    yield f"{shown} of {plural('pair', len(differences))} show a difference after adjustment for all of them."


def _groups_in_words(ranking: Ranking) -> str:
    if len(ranking.groups) == 1:
        return f"All systems are in one group ({NO_CLEAN_CUT}): {enumeration(ranking.groups[0])}."
    groups = "; then ".join(
        enumeration(group) + (f" ({NO_CLEAN_CUT})" if len(group) > 1 else "") for group in ranking.groups
    )
    return f"Groups, best first: {groups}."


def _pair_in_words(difference: Difference) -> str:
    better = {"first": (difference.first, difference.second), "second": (difference.second, difference.first)}
    if difference.verdict in better:
        winner, loser = better[difference.verdict]
        gain = number(abs(difference.difference))
        return f"{winner} is significantly better than {loser}, by {gain} ({_figures(difference)})."
    note = difference.note if difference.note or difference.verdict != "no difference shown" else _figures(difference)
    return f"{difference.first} and {difference.second}: {difference.verdict}{': ' if note else ''}{note}."


def _figures(difference: Difference) -> str:
    """The numbers behind a verdict: the adjusted p, and the interval of first minus second if there is one."""
    p = f"adjusted p {number(difference.p_adjusted)}"
    if difference.low is None or difference.high is None:
        return p
    span = f"{number(difference.low)} to {number(difference.high)}"
    return f"{p}, interval of {difference.first} minus {difference.second} {span}"


def _headlines(comparison: Comparison, primary: str) -> Iterator[Headline]:
    ranking = comparison.rankings.get(primary)
    groups = _group_numbers(ranking) if ranking else {}
    for system in ranking.order if ranking else comparison.systems:
        yield from headlines(comparison.analyses[system], groups.get(system))


def _result(comparison: Comparison, primary: str) -> Iterator[Figure]:
    ranking = comparison.rankings.get(primary)
    if ranking:
        yield ranking_table(comparison, ranking)
        yield pairs_matrix(comparison, ranking)


def _pairs_lead(comparison: Comparison) -> str:
    return (
        f"{plural('comparison', comparison.family_size)} for each metric, tested with "
        f"{plural('resample', comparison.draws)}. Without a significant difference, two systems are not necessarily "
        "equal."
    )


def _pairs(comparison: Comparison, primary: str) -> Iterator[Figure]:
    if _on(comparison, primary):
        yield differences_table(comparison, primary)
        yield from _moved_units(comparison, primary)


def _moved_units(comparison: Comparison, primary: str) -> Iterator[Table]:
    unit = unit_of(next(iter(comparison.analyses.values())), primary)
    rows = tuple((d.first, d.second, name, share) for d in _on(comparison, primary) for name, share in d.moved)
    if rows:
        yield Table(
            f"{many(unit).capitalize()} with the largest differences",
            ("First", "Second", unit.capitalize(), "Contribution"),
            rows,
        )


def _breakdowns(comparison: Comparison) -> Iterator[Chart]:
    """Bars side by side for every factor that all systems are broken down by."""
    shared = [set(analysis.breakdowns) for analysis in comparison.analyses.values()]
    first = next(iter(comparison.analyses.values()))
    for factor in (factor for factor in first.breakdowns if all(factor in names for names in shared)):
        yield from (_bars(comparison, factor, name) for name in drawn_metrics(first, factor))


def _bars(comparison: Comparison, factor: str, name: str) -> Chart:
    entries = [
        (level, system, values[name], analysis)
        for system, analysis in comparison.analyses.items()
        for level, values in analysis.breakdowns[factor].items()
        if name in values
    ]
    rows = tuple(
        (level, system, *level_cells(a.breakdowns[factor][level][name], metric_of(a, name)))
        for level, system, _, a in entries
    )
    muted = frozenset(index for index, entry in enumerate(entries) if few(entry[2]))
    shown_name = _name(comparison, name)
    data = tidy(Table(f"{shown_name} by {factor}", (factor, "System", *LEVEL_COLUMNS), rows, muted=muted))
    return Chart(
        title=f"{shown_name} by {factor}",
        summary=f"{shown_name} of {enumeration(comparison.systems)} for each {factor}; "
        "see the table for values and intervals.",
        kind="bars",
        data=data,
        x=Axis("Value", shown_name),
        y=Axis(factor, factor, "category"),
        series="System",
        low="Low",
        high="High",
    )


def _others(comparison: Comparison, primary: str) -> Iterator[Figure]:
    others = [name for name in dict.fromkeys(one.metric for one in comparison.differences) if name != primary]
    asked = _metrics_asked(comparison)
    if others and not asked:
        analyses = comparison.analyses.values()
        rows: list[tuple[Cell, ...]] = [
            (_name(comparison, name), *(one.values[name].value for one in analyses)) for name in others
        ]
        yield Table("Values of other metrics", ("Metric", *comparison.analyses), rows)
    for name in others:
        ranked = (ranking_table(comparison, ranking) for ranking in [comparison.rankings.get(name)] if ranking)
        yield from (replace(table, detail=not asked) for table in (*ranked, differences_table(comparison, name)))
    yield from _untested_values(comparison, primary)


def _untested_values(comparison: Comparison, primary: str) -> Iterator[Table]:
    """Values that were asked for and could not be tested, side by side."""
    tested = {primary, *(difference.metric for difference in comparison.differences)}
    rows = tuple(
        (_name(comparison, name), system, *_cells(comparison, system, name))
        for name in _metrics_asked(comparison)
        for system, analysis in comparison.analyses.items()
        if name not in tested and name in analysis.values
    )
    if rows:
        yield tidy(Table("Values that are not tested", ("Metric", "System", *VALUE_COLUMNS), rows))


def _how(comparison: Comparison, facts: Facts) -> tuple[Figure, ...]:
    first = next(iter(comparison.analyses.values()))
    unit = unit_of(first, _primary(comparison))
    method = Text(
        "Method",
        (
            f"Tests swap whole {many(unit)} between two systems. The null: for each {unit}, which system gave which "
            f"answer is exchangeable. p is the share of {plural('draw', comparison.draws)} at least as extreme as "
            "what was seen, the observed split among them.",
            interval_note(first.design),
            "Not rejecting is not transitive, so groups, rank ranges and the matrix of pairs are all shown.",
        ),
    )
    return (method, *metrics_tables(first), facts_table(facts))


def _records(comparison: Comparison) -> Iterator[tuple[Cell, ...]]:
    for analysis in comparison.analyses.values():
        yield from ((*cells, "", None, None, "", method) for *cells, method in records(analysis))
    for d in comparison.differences:
        cells = (d.first, d.metric, "", "", d.difference, d.low, d.high, None, None, d.note)
        yield (*cells, d.second, d.p, d.p_adjusted, d.verdict, d.method)
