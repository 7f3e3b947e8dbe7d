"""`basanite judge correlate`: how well metrics agree with people, on segments and on whole systems."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
import numpy as np

from basanite import registry
from basanite.canonical import plain_values
from basanite.cli.judge_rounds import JUDGING
from basanite.cli.judge_systems import LARGEST, read_judged
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    gather_options,
    plain_findings,
    run_or_exit,
    show_report,
    write_reports,
)
from basanite.errors import BasaniteError, InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.bounded import read_bounded
from basanite.formats.items import ContentError, number_of
from basanite.formats.kinds.judgments import APPRAISE, ASSESSMENT, MQM
from basanite.formats.records import Place, Records, read_records
from basanite.formats.single_file import kind_of
from basanite.formats.unit_tables import read_unit_tables
from basanite.metrics.judgement.correlation import TITLES, Scored, correlations
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings, shortened
from basanite.reports.report import Report, Section
from basanite.reports.wording import plural
from basanite.work.segments import Segment, score_of_errors, select

FORMAT: Final = "basanite-correlation/1"
HUMAN: Final = "human"
TABLE: Final = Place("judgements", "T-24")
UNITS: Final = ("unit", "segment", "segment_id", "seg_id", "item", "id")
SYSTEMS: Final = ("system", "system_id", "sys_id")
SCORES: Final = ("human", "score", "rating", "value", "z", "z_score", "raw")
JOINS: Final = ("#", ":", "-", "/", "_", "::")
"""What may stand between the document and the segment in the name of a unit."""
LEVELS: Final = {"segment": "Segments", "system": "Systems"}

Scores = Mapping[tuple[str, str], float]
"""By unit and system."""


@dataclass(frozen=True)
class Wanted:
    """What is asked for: which metrics and language pair, and of which of them lower values are better."""

    metrics: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    pair: str | None = None
    draws: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """What metrics and people have in common, and how far they agree."""

    metrics: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    """By metric, level and measure."""
    units: int
    systems: tuple[str, ...]
    outputs: int
    notes: tuple[str, ...] = field(default=())


@click.command(epilog=example("basanite judge correlate units.csv appraise.csv --draws 200"))
@click.argument("units", type=PATH)
@click.argument("human", type=PATH)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric. Can be repeated. [default: all]"
)
@click.option(
    "--lower",
    multiple=True,
    metavar="NAME",
    help="A metric for which lower is better, or `human`. Can be repeated. [default: known for each metric]",
)
@click.option("--pair", metavar="PAIR", help="The language pair, such as eng-ces, where HUMAN has several.")
@click.option(
    "--draws",
    "--resamples",
    type=click.IntRange(1, 100_000),
    default=1000,
    show_default=True,
    help="Number of resamples for intervals.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@as_json
@gather_options(Wanted, "wanted")
def correlate(units: Path, human: Path, wanted: Wanted, reports: tuple[Path, ...], as_json: bool) -> None:
    """Correlate metrics with human scores: UNITS is a table of units, HUMAN holds what people said of the same ones.

    UNITS has columns unit, system, metric and value, as `compare --units` writes it. HUMAN has columns unit, system and
    score, perhaps several rows for each, or is an export of Appraise or a table of WMT (DA, ESA, MQM). Confidence
    intervals resample units.
    """
    check_reports(reports, [units, human])
    found = run_or_exit(lambda: _correlate(units, human, wanted), json=as_json, plain=True)
    report = _report(found, f"{units.name} and {human.name}")
    write_reports(report, reports)
    show_report(report, json=as_json)


def _correlate(units: Path, human: Path, wanted: Wanted) -> Found:
    findings = Findings()
    tables = read_unit_tables([units], findings)
    if not findings.valid:
        raise InvalidInputError(JUDGING, findings)
    missing = [name for name in wanted.metrics if name not in tables]
    if missing or not tables:
        there = ", ".join(sorted(tables)) or "no metric"
        raise SettingError(f"{units.name} has no metric {missing[0] if missing else ''!r}. It has: {there}.")
    values = {
        name: {(unit, system): value for system, by_unit in table.items() for unit, value in by_unit.items()}
        for name, table in tables.items()
        if name in (wanted.metrics or tables)
    }
    known = {place for table in values.values() for place in table}
    judged, notes = _human_scores(human, wanted.pair, known)
    common = sorted(known & judged.keys())
    if not common:
        raise SettingError(_nothing_in_common(known, judged))
    unknown = sorted({name for name in wanted.lower if name != HUMAN and name not in tables})
    if unknown:
        raise SettingError(f"--lower names {unknown[0]!r}, which is not a metric of {units.name}: {', '.join(tables)}.")
    names = sorted({unit for unit, _ in common}), sorted({system for _, system in common})
    people = _table(judged, names) * (-1 if HUMAN in wanted.lower else 1)
    found = {}
    for name, table in sorted(values.items()):
        lower = name in wanted.lower or (not wanted.lower and _is_better_low(name))
        if lower:
            notes.append(f"{name}: lower is better, so its sign is reversed")
        scored = Scored(_table(table, names) * (-1 if lower else 1), people)
        found[name] = correlations(scored, draws=wanted.draws, seed=wanted.seed)
    lost = (len(known - judged.keys()), "without a human score"), (len(judged.keys() - known), "without a metric value")
    notes += [f"left out: {plural('output', number)} {what}" for number, what in lost if number]
    if len(names[1]) < 3:
        notes.append("correlations of systems need three systems at least to mean anything")
    return Found(found, len(names[0]), tuple(names[1]), len(common), tuple(notes))


def _table(scores: Scores, names: tuple[Sequence[str], Sequence[str]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The scores as units x systems; nan for one that is missing or infinite."""
    table = np.array([[scores.get((unit, system), math.nan) for system in names[1]] for unit in names[0]])
    return np.where(np.isfinite(table), table, math.nan)


def _is_better_low(name: str) -> bool:
    try:
        return bool(registry.load("metrics", name).best == "low")
    except BasaniteError:
        return False  # a metric of somebody else's: `--lower` says so


def _nothing_in_common(known: Sequence[tuple[str, str]] | set[tuple[str, str]], judged: Scores) -> str:
    first, second = (" of ".join(map(shortened, min(side))) for side in (known, judged.keys()))
    return (
        f"No output has both a metric value and a human score: metrics are of units such as {first}, people judged "
        f"{second}. Use the same names of units and systems in both."
    )


def _human_scores(path: Path, pair: str | None, known: set[tuple[str, str]]) -> tuple[Scores, list[str]]:
    """The mean human score of each output, and what must be said of it."""
    if kind_of(path) in (APPRAISE, ASSESSMENT, MQM):
        return _of_segments(path, pair, known)
    if pair is not None:
        raise SettingError(f"{path.name} names no languages, so --pair cannot be used.")
    findings = Findings()
    records = read_records(path, TABLE, findings, headers=(*UNITS, *SCORES))
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return _of_table(records, findings), []


def _of_table(records: Records, findings: Findings) -> Scores:
    unit, system, score = (_column(records, names) for names in (UNITS, SYSTEMS, SCORES))
    given: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, line in enumerate(records.lines):
        fields = records.fields(row)
        try:
            place = tuple("" if fields.get(name) is None else str(fields[name]) for name in (unit, system))
            if not all(place):
                raise ContentError(f"no {unit} or {system}", "name both in every row")
            given[place[0], place[1]].append(number_of(fields, score))
        except ContentError as error:
            findings.add(TABLE.problem(records.file, line, str(error), error.fix, error.found))
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return {place: float(np.mean(scores)) for place, scores in given.items()}


def _column(records: Records, names: Sequence[str]) -> str:
    """The column that is called so; the likeliest of several, but for scores, of which only one may be there."""
    found = [name for name in names if name in records.columns]
    if not found or (names is SCORES and len(found) > 1):
        several = f"{' and '.join(map(repr, found))} could each be the score. Leave one out."
        none = f"no column is called {', '.join(names[:-1])} or {names[-1]}. It has: {', '.join(records.columns)}."
        raise SettingError(f"{records.file}: {several if found else none}")
    return found[0]


def _of_segments(path: Path, pair: str | None, known: set[tuple[str, str]]) -> tuple[Scores, list[str]]:
    """Scores from a table of judged translations, of one language pair, under the names that the metrics use."""
    segments, problems, measure = read_judged(read_bounded(path, LARGEST), path)
    findings = Findings()
    findings.extend(problems)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    chosen = select(segments)
    pairs = tuple(name for name in chosen.pairs)
    if pair is None and len(pairs) > 1:
        raise SettingError(f"{path.name} has several language pairs, whose scores have no common scale: say --pair.")
    if pair is not None and pair not in pairs:
        raise SettingError(f"{path.name} has no language pair {pair!r}. It has: {', '.join(pairs)}.")
    group = chosen.pairs[pair or pairs[0]] if pairs else ()
    named = [scores for name_of in _unit_names() if (scores := _means(group, name_of)) is not None]
    best = max(named, key=lambda scores: len(known & scores.keys()), default={})
    left = [f"left out: {count:,} {what}" for what, count in chosen.left_out.items()]
    return best, [f"human scores: {measure}", *left]


NameOf = Callable[[Segment], str]


def _unit_names() -> Iterator[NameOf]:
    """The names that a unit may have: its segment alone, or after its document."""
    yield lambda one: one.segment
    for join in JOINS:
        yield lambda one, join=join: f"{one.document}{join}{one.segment}"  # type: ignore[misc]


def _means(segments: Sequence[Segment], name_of: NameOf) -> Scores | None:
    """The mean score of each output; None where one name would stand for several segments of a system."""
    given: dict[tuple[str, str], list[float]] = defaultdict(list)
    places: dict[tuple[str, str], tuple[str, str, str]] = {}
    for one in segments:
        key = name_of(one), one.system
        if places.setdefault(key, one.place) != one.place:
            return None
        given[key].append(score_of_errors(one) if one.score is None else one.score)
    return {key: float(np.mean(scores)) for key, scores in given.items()}


def _report(found: Found, subtitle: str) -> Report:
    size = f"{plural('output', found.outputs)} of {plural('system', len(found.systems))}"
    lead = f"{size} on {plural('unit', found.units)} have a metric value and a human score."
    return Report(
        title="Metrics and human scores",
        subtitle=subtitle,
        sections=tuple(_section(level, found) for level in LEVELS),
        facts=(),
        data={key: plain_values(value) for key, value in _data(found).items()},
        sentences=(lead, *found.notes),
    )


def _section(level: str, found: Found) -> Section:
    rows = [
        (name, TITLES[measure], one.value if one.is_defined else None, one.low, one.high, one.reason)
        for name, levels in found.metrics.items()
        for measure, one in levels[level].items()
    ]
    columns = ("Metric", "Measure", "Value", "Low", "High", "Remarks")
    return Section(LEVELS[level], "", (Table(LEVELS[level], columns, rows),))


def _data(found: Found) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "units": found.units,
        "systems": list(found.systems),
        "outputs": found.outputs,
        "metrics": {
            name: {
                level: {measure: _estimate(one) for measure, one in measures.items()}
                for level, measures in levels.items()
            }
            for name, levels in found.metrics.items()
        },
        "notes": list(found.notes),
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    value = found.value if found.is_defined else None
    return {"value": value, "low": found.low, "high": found.high, "reason": found.reason}
