"""The report on one system: its values, the task's own figures, breakdowns, and how all of it was computed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from basanite import __version__
from basanite.analysis.results import Analysis, Design, Value, score_object
from basanite.figures import Axis, Cell, Chart, Figure, Table, Text
from basanite.kernel import Metric
from basanite.problems import Problem
from basanite.reports.metric_names import display_name
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
from basanite.reports.wording import many, number, percent, plural, with_interval

FEW_UNITS = 15  # below this there is no reliable interval (S-13), so a bar is greyed
VALUE_COLUMNS = ("Value", "Low", "High", "Method", "Units", "Undefined", "Remarks")
LEVEL_COLUMNS = ("Value", "Low", "High", "Method", "Units", "Relevant", "Undefined", "Remarks")
KEYS = "Options such as --metric, JSON and CSV have the key."
DIRECTIONS = {"high": "higher", "low": "lower", "none": "–"}


def analysis_report(analysis: Analysis, figures: Sequence[Figure] = ()) -> Report:
    """The report on one system, with the figures its task adds."""
    scores, facts = analysis.scores, analysis_facts(analysis)
    sentences = tuple(_sentences(analysis))
    return Report(
        title=scores.system,
        subtitle=f"Scored on {scores.task}",
        sections=sections_with_content(
            Section("Result", "", (*_values(analysis), *_parts(analysis))),
            warnings_section(scores.warnings),
            Section("A closer look", "", tuple(figures)),
            Section("Breakdowns", _breakdown_lead(analysis.design), tuple(_breakdowns(analysis))),
            Section(
                "How this was computed",
                "",
                (_method(analysis), *metrics_tables(analysis), facts_table(facts)),
                detail=True,
            ),
            notes_section((*scores.notes, *analysis.notes)),
        ),
        facts=facts,
        data=score_object(analysis),
        records=Table("Values", LONG_COLUMNS, tuple(records(analysis))),
        headlines=headlines(analysis),
        sentences=sentences,
        meanings=meanings(analysis),
    )


def metric_of(analysis: Analysis, name: str) -> Metric | None:
    """The metric behind a value, if the task registered one under that name."""
    return next((metric for metric in analysis.scores.metrics if metric.name == name), None)


def name_of(analysis: Analysis, key: str) -> str:
    """What a metric is called where people read it."""
    metric = metric_of(analysis, key)
    return metric.display_name if metric else display_name(key, analysis.scores.task)


def meanings(analysis: Analysis) -> dict[str, str]:
    """What each metric means, by the name that people read."""
    return {metric.display_name: metric.summary for metric in analysis.scores.metrics}


def unit_of(analysis: Analysis, name: str) -> str:
    """What a value averages over: the table knows, else the metric."""
    table, metric = analysis.scores.tables.get(name), metric_of(analysis, name)
    return table.unit if table else metric.unit if metric else "unit"


def headlines(analysis: Analysis, group: int | None = None) -> tuple[Headline, ...]:
    """The primary value as a headline; none where the task has only values by target."""
    name = analysis.scores.primary
    if name not in analysis.values:
        return ()
    value, metric = analysis.values[name], metric_of(analysis, name)
    return (
        Headline(
            label=analysis.scores.system,
            metric=name_of(analysis, name),
            value=value.value,
            low=value.low,
            high=value.high,
            units=value.units,
            unit=unit_of(analysis, name),
            level=analysis.design.level,
            best=metric.best if metric else "high",
            remarks=remarks(value, metric),
            group=group,
        ),
    )


def remarks(value: Value, metric: Metric | None) -> tuple[str, ...]:
    """What must be said beside a value: its flags, that it is optimistic (S-14), that it is undefined."""
    said = list(value.flags)
    if metric and metric.optimistic and not any("optimistic" in flag for flag in said):
        said.append("optimistic (oracle: uses the reference)")
    if math.isnan(value.value) and not said:
        said.append("undefined")
    return tuple(said)


def values_table(analysis: Analysis) -> Table:
    """All values of the system, the primary one first and bold."""
    names = sorted(analysis.values, key=lambda name: name != analysis.scores.primary)
    rows = tuple(
        (name_of(analysis, name), *value_cells(analysis.values[name], metric_of(analysis, name))) for name in names
    )
    emphasis = frozenset(index for index, name in enumerate(names) if name == analysis.scores.primary)
    return tidy(Table("All values", ("Metric", *VALUE_COLUMNS), rows, interval_note(analysis.design), emphasis))


def _values(analysis: Analysis) -> tuple[Table, ...]:
    """The table of values; none where a task has values of parts alone."""
    return (values_table(analysis),) if analysis.values else ()


def value_cells(value: Value, metric: Metric | None) -> tuple[Cell, ...]:
    """A value as the cells of `VALUE_COLUMNS`; undefined is None, never 0."""
    shown = None if math.isnan(value.value) else value.value
    said = "; ".join(remarks(value, metric))
    return (shown, value.low, value.high, value.method, value.units, value.undefined, said)


def long_cells(value: Value, metric: Metric | None) -> tuple[Cell, ...]:
    """The same in the order of `LONG_COLUMNS`, whose last came last."""
    shown, low, high, method, *rest = value_cells(value, metric)
    return (shown, low, high, *rest, method)


def level_cells(value: Value, metric: Metric | None) -> tuple[Cell, ...]:
    """The same for one level of a factor, with how many of its units have something relevant there (S-9)."""
    *cells, undefined, said = value_cells(value, metric)
    relevant = int(value.parts.get("relevant_units", value.units)) if metric and metric.carrier else None
    return (*cells, relevant, undefined, said)


def interval_note(design: Design) -> str:
    """How the intervals were made, in one sentence."""
    return (
        f"Low and high: {percent(design.level)} CI by the method shown, {plural('resample', design.draws)}, seed "
        f"{design.seed}. “–”: undefined, or no reliable interval; see Remarks."
    )


def few(value: Value) -> bool:
    """Whether a value rests on too few units to say much."""
    return value.units < FEW_UNITS or value.low is None


def drawn_metrics(analysis: Analysis, factor: str) -> list[str]:
    """The metrics a breakdown is drawn by: the primary one, or those asked for that only parts have, or the first."""
    names = list(dict.fromkeys(name for values in analysis.breakdowns[factor].values() for name in values))
    primary = [name for name in names if name == analysis.scores.primary]
    asked = [name for name in names if name in analysis.scores.asked and name not in analysis.values]
    return list(dict.fromkeys([*primary, *asked])) or names[:1]


def analysis_facts(analysis: Analysis) -> Facts:
    """Everything needed to compute the same again."""
    scores = analysis.scores
    settings = tuple((f"Setting {name}", str(value)) for name, value in sorted(scores.settings.items()))
    digests = tuple((f"Digest of {name}", digest) for name, digest in sorted(scores.digests.items()))
    software = ("Software", f"Basanite {__version__}")
    signature = ("Signature", analysis.signature)
    return (("Task", scores.task), *design_facts(analysis.design), *settings, *digests, software, signature)


def design_facts(design: Design) -> Facts:
    """The design of the analysis, fixed before looking."""
    return (
        ("Level", percent(design.level)),
        ("Interval", design.interval),
        ("Draws", f"{design.draws:,}"),
        ("Seed", str(design.seed)),
    )


def metrics_tables(analysis: Analysis) -> tuple[Table, Table]:
    """What each metric means and which way is better; and, as details, who defined it and how it was set."""
    metrics, signatures = analysis.scores.metrics, analysis.scores.signatures
    meanings = tuple((m.display_name, m.name, m.summary, DIRECTIONS[m.best]) for m in metrics)
    signed = [(signatures.get(metric.name, ""),) if signatures else () for metric in metrics]
    sources = tuple((m.display_name, m.citation, *s) for m, s in zip(metrics, signed, strict=True))
    columns = ("Metric", "Citation", *(("Signature",) if signatures else ()))
    return (
        Table("What each metric means", ("Metric", "Key", "Meaning", "Better"), meanings, KEYS),
        Table("Where each metric is defined", columns, sources, detail=True),
    )


def warnings_section(warnings: Sequence[Problem]) -> Section:
    """What was found in the input and did not stop it."""
    rows = tuple((problem.rule, problem.place(), problem.message, problem.fix) for problem in warnings)
    table = Table("Warnings", ("Rule", "Place", "Problem", "What to do"), rows)
    return Section("Warnings", "The input counts, but it has these problems.", (table,) if rows else ())


def notes_section(notes: Sequence[str]) -> Section:
    """Notes on the whole run, without repetitions."""
    once = tuple(dict.fromkeys(notes))
    return Section("Notes", "", (Text("Notes", once),) if once else ())


def records(analysis: Analysis) -> Iterator[tuple[Cell, ...]]:
    """Every value as one row of the long table; overall values have no factor and no level."""
    yield from _records(analysis, analysis.values, "", "")
    for factor, levels in analysis.breakdowns.items():
        for level, values in levels.items():
            yield from _records(analysis, values, factor, level)


def _records(analysis: Analysis, values: Mapping[str, Value], factor: str, level: str) -> Iterator[tuple[Cell, ...]]:
    for name, value in values.items():
        yield (analysis.scores.system, name, factor, level, *long_cells(value, metric_of(analysis, name)))


def _counts(parts: Iterable[tuple[str, float]]) -> frozenset[str]:
    """Parts that are counts: whole wherever they stand, and more than one somewhere; nobody reads nine as 9.0000.

    >>> sorted(_counts([("place", 1.0), ("place", 9.0), ("share", 1.0), ("loss", 2.5)]))
    ['place']
    """
    found: dict[str, list[float]] = {}
    for part, value in parts:
        found.setdefault(part, []).append(float(value))
    return frozenset(
        part for part, values in found.items() if all(map(float.is_integer, values)) and max(map(abs, values)) > 1
    )


def _parts(analysis: Analysis) -> tuple[Table, ...]:
    found = [(name, part, share) for name, value in analysis.values.items() for part, share in value.parts.items()]
    counts = _counts((part, share) for _, part, share in found)
    rows = tuple(
        (name_of(analysis, name), part.replace("_", " "), int(share) if part in counts else share)
        for name, part, share in found
    )
    return (Table("What the values are made of", ("Metric", "Part", "Value"), rows),) if rows else ()


def _sentences(analysis: Analysis) -> Iterator[str]:
    """The result in words: the primary value first, then where it is high and low."""
    name = analysis.scores.primary
    if name in analysis.values:
        value = analysis.values[name]
        over = plural(unit_of(analysis, name), value.units)
        yield f"{name_of(analysis, name)} is {with_interval(value, analysis.design.level)}, over {over}."
        yield from (remark[:1].upper() + remark[1:] + "." for remark in remarks(value, metric_of(analysis, name)))
    for factor in analysis.breakdowns:
        yield from _spread(analysis, factor, name)


def _spread(analysis: Analysis, factor: str, name: str) -> Iterator[str]:
    """Between which levels a factor's values lie; only levels with enough units are named."""
    levels = analysis.breakdowns[factor]
    solid = {level: values[name].value for level, values in levels.items() if name in values and not few(values[name])}
    if len(solid) > 1:
        low, high = min(solid, key=solid.__getitem__), max(solid, key=solid.__getitem__)
        ends = f"{number(solid[low])} ({low}) to {number(solid[high])} ({high})"
        yield f"By {factor}, {name_of(analysis, name)} ranges from {ends}."


def _breakdown_lead(design: Design) -> str:
    return (
        f"Each bar is one level of a factor with its {percent(design.level)} CI. Gray: fewer than {FEW_UNITS} "
        "units, or no interval. Levels may share units, so overlapping bars are no test of their difference."
    )


def _breakdowns(analysis: Analysis) -> Iterator[Figure]:
    for factor in analysis.breakdowns:
        drawn = drawn_metrics(analysis, factor)
        yield from (_bars(analysis, factor, name) for name in drawn)
        yield from _other_metrics(analysis, factor, drawn)


def _bars(analysis: Analysis, factor: str, name: str) -> Chart:
    levels = {level: values[name] for level, values in analysis.breakdowns[factor].items() if name in values}
    rows = tuple((level, *level_cells(value, metric_of(analysis, name))) for level, value in levels.items())
    muted = frozenset(index for index, value in enumerate(levels.values()) if few(value))
    title = f"{name_of(analysis, name)} by {factor}"
    data = tidy(Table(title, (factor, *LEVEL_COLUMNS), rows, muted=muted))
    summary = " ".join(_spread(analysis, factor, name))
    return Chart(
        title=title,
        summary=summary or f"{name_of(analysis, name)} for {plural('level', len(levels))} of {factor}.",
        kind="bars",
        data=data,
        x=Axis("Value", name_of(analysis, name)),
        y=Axis(factor, factor, "category"),
        low="Low",
        high="High",
    )


def _other_metrics(analysis: Analysis, factor: str, drawn: Sequence[str]) -> Iterator[Table]:
    rows = tuple(
        (level, name_of(analysis, other), *value_cells(value, metric_of(analysis, other)))
        for level, values in analysis.breakdowns[factor].items()
        for other, value in values.items()
        if other not in drawn
    )
    if rows:
        yield tidy(Table(f"Other metrics by {factor}", (factor, "Metric", *VALUE_COLUMNS), rows, detail=True))


def _method(analysis: Analysis) -> Text:
    design, unit = analysis.design, unit_of(analysis, analysis.scores.primary)
    chosen = "each metric by the method of its own definition, fixed before any data"
    if analysis.design.interval != "metric":
        chosen = f"all by the method {analysis.design.interval}, as was asked for"
    return Text(
        "Method",
        (
            f"Intervals come from resampling {many(unit)}, or leaving each out in turn: {chosen}; "
            f"{plural('draw', design.draws)} with seed {design.seed}, one set of weights shared by all metrics, level "
            f"{percent(design.level)}. What is not resampled is held fixed.",
            f"Values on fewer than {FEW_UNITS} units have no interval. Published numbers are rounded to ten "
            "significant digits; the same input with the same seed gives the same bytes.",
        ),
    )
