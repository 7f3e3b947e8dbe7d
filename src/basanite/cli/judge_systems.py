"""`basanite judge systems`: what systems are worth by judged translations or pairs, with intervals (R-29, S-19)."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from basanite.canonical import plain_values
from basanite.cli.judge_rounds import JUDGING
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    plain_findings,
    run_or_exit,
    show_report,
    write_reports,
)
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.single_file import read_unpacked
from basanite.metrics.judgement.bradley_terry import circular_triads, with_intervals
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings, Problem
from basanite.reports.report import LONG_COLUMNS, Report, Section
from basanite.reports.wording import plural
from basanite.work.appraise import NOT_A_TABLE, read_appraise
from basanite.work.direct_assessment import is_wmt_da, read_wmt_da, standardised_already
from basanite.work.mqm import read_mqm
from basanite.work.panel_files import PAIR_HEADER, WORDS, Compared, comparisons
from basanite.work.segments import Segment, SystemScore, score_of_errors, select, system_scores

FORMAT = "basanite-judged-systems/1"


@dataclass(frozen=True)
class Worth:
    """One system's value, and how much it rests on."""

    system: str
    value: Estimate
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class PairRanking:
    """The systems of one language pair, best first, and the same inside each domain."""

    pair: str
    """Empty where the table names no languages."""
    systems: Sequence[Worth]
    domains: Mapping[str, Sequence[Worth]] = field(default_factory=dict)


@dataclass(frozen=True)
class Judged:
    """All rankings of a table, and what their values mean."""

    measure: str
    pairs: Sequence[PairRanking]
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def judged_report(found: Judged, name: str) -> Report:
    """The report of a table of judgements."""
    several_pairs = len(found.pairs) > 1
    labels = [_label(ranking, several_pairs) for ranking in found.pairs]
    leads = [
        f"{label}: {_first(one)}" if label else _first(one) for label, one in zip(labels, found.pairs, strict=True)
    ]
    several = f"{len(found.pairs)} language pairs, each ranked separately; there is no ranking across them"
    return Report(
        title="Judged systems",
        subtitle=f"{name}: {found.measure}",
        sections=tuple(_section(one, label or "Systems") for label, one in zip(labels, found.pairs, strict=True)),
        facts=(),
        data={key: plain_values(value) for key, value in _data(found).items()},
        records=_records(found),
        sentences=(*(leads or ["Nobody was judged."]), *([several] if several_pairs else []), *found.notes),
    )


def _first(ranking: PairRanking) -> str:
    best = ranking.systems[0]
    return f"{best.system} is first with {best.value.value:.4g}."


def _label(ranking: PairRanking, several_pairs: bool) -> str:
    return ranking.pair or ("no language named" if several_pairs else "")


def _section(ranking: PairRanking, title: str) -> Section:
    sizes = tuple(ranking.systems[0].sizes)
    columns = ("System", "Value", "Low", "High", *(size.capitalize() for size in sizes))
    rows = [
        (
            one.system,
            one.value.value if one.value.is_defined else None,
            one.value.low,
            one.value.high,
            *one.sizes.values(),
        )
        for one in ranking.systems
    ]
    figures = [Table("Systems", columns, rows)]
    if len(ranking.domains) > 1:
        figures.append(_domain_table(ranking))
    return Section(title, "", tuple(figures))


def _domain_table(ranking: PairRanking) -> Table:
    values = {
        (domain, one.system): one.value.value if one.value.is_defined else None
        for domain, systems in ranking.domains.items()
        for one in systems
    }
    rows = [(one.system, *(values.get((domain, one.system)) for domain in ranking.domains)) for one in ranking.systems]
    return Table("By domain", ("System", *ranking.domains), rows)


def _data(found: Judged) -> dict[str, Any]:
    """`systems` lists pair after pair, best first in each: `rank` counts inside the pair."""
    return {
        "format": FORMAT,
        "measure": found.measure,
        "systems": [{**row, "pair": ranking.pair} for ranking in found.pairs for row in _rows(ranking.systems)],
        "pairs": [
            {
                "pair": ranking.pair,
                "systems": [one.system for one in ranking.systems],
                "domains": {domain: _rows(systems) for domain, systems in ranking.domains.items()},
            }
            for ranking in found.pairs
        ],
        "left_out": dict(found.left_out),
        "notes": list(found.notes),
    }


def _rows(systems: Sequence[Worth]) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            "system": one.system,
            "value": one.value.value,
            "low": one.value.low,
            "high": one.value.high,
            "reason": one.value.reason,
            **one.sizes,
        }
        for rank, one in enumerate(systems, start=1)
    ]


def _records(found: Judged) -> Table:
    rows = []
    for ranking in found.pairs:
        for domain, systems in {"": ranking.systems, **ranking.domains}.items():
            factor = "domain" if domain else "language pair" if ranking.pair else ""
            level = f"{ranking.pair}: {domain}" if domain and ranking.pair else domain or ranking.pair
            rows += [_record(one, factor, level) for one in systems]
    return Table("Records", LONG_COLUMNS, rows)


def _record(one: Worth, factor: str, level: str) -> tuple[str | int | float | None, ...]:
    units = one.sizes.get("segments", one.sizes.get("comparisons", 0))
    value = one.value.value if one.value.is_defined else None
    method = "" if one.value.low is None else "percentile"
    return one.system, "judged", factor, level, value, one.value.low, one.value.high, units, 0, one.value.reason, method


LARGEST = 256 << 20
OUTCOMES = {word: number for number, word in WORDS.items()}
POINTS = "mean score, 0 to 100"
DEVIATIONS = "mean score in standard deviations of each judge"
COSTS = "points lost to errors (0 is faultless, -25 the worst)"


@click.command(epilog=example("basanite judge systems appraise.csv --draws 200"))
@click.argument("file", type=PATH)
@click.option(
    "--standardise",
    is_flag=True,
    help="Standardize each judge's scores first: subtract the mean, divide by the spread (Appraise).",
)
@click.option(
    "--control",
    "controls",
    multiple=True,
    help="A column of style that strengths are free of (pairs): length, headings, lists, bold. Can be repeated.",
)
@click.option("--prior", type=click.FloatRange(0.01, 100), help="Prior for a fit that has no maximum (pairs).")
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
def systems(
    file: Path,
    standardise: bool,
    controls: tuple[str, ...],
    prior: float | None,
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Rank systems by the judgments in FILE: an export of Appraise, a table of WMT (DA, ESA, MQM), or pairs.

    Systems are ranked within a language pair, never across. Confidence intervals resample judges and documents (for
    pairs:
    judges and items), since both are random factors.
    """
    check_reports(reports, [file])
    data = read_unpacked(file, LARGEST)
    if data.startswith(",".join(PAIR_HEADER[:3]).encode()):
        found = run_or_exit(lambda: _of_pairs(data, file.name, controls, prior, (draws, seed)), json=as_json)
    else:
        if controls:
            raise SettingError("--control is for pairs of texts: these are judgments of single segments.")
        found = run_or_exit(lambda: _of_segments(data, file, draws, seed, standardise=standardise), json=as_json)
    report = judged_report(found, file.name)
    write_reports(report, reports)
    show_report(report, json=as_json)


def _sound(problems: Sequence[Problem]) -> None:
    findings = Findings()
    findings.extend(problems)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))


def _of_segments(data: bytes, file: Path, draws: int, seed: int, *, standardise: bool) -> Judged:
    segments, problems, measure = read_judged(data, file)
    _sound(problems)
    if not segments:
        raise _invalid_table(file.name, "there is no judgment in it", "give a line for each judged segment")
    if measure != POINTS and standardise:
        raise SettingError("--standardise is for scores from 0 to 100: these are on a scale of their own.")
    value = {"value": score_of_errors} if measure == COSTS else {}
    design: Mapping[str, Any] = {"standardise": standardise, "draws": draws, "seed": seed, **value}
    scored = partial(system_scores, **design)
    chosen = select(segments)
    rankings = [_ranking(pair, group, scored) for pair, group in chosen.pairs.items()]
    left_out = [f"left out: {count:,} {what}" for what, count in chosen.left_out.items()]
    alone = "" if all(each.document for each in segments) else "; a segment without a document is resampled separately"
    # What did not stop us (P-32), with its line where it has one.
    warnings = [f"{one.place()}: {one.message}" if one.line else one.message for one in problems]
    notes = (f"intervals resample whole documents and whole judges{alone}", *left_out, *warnings)
    return Judged(
        DEVIATIONS if standardise else measure, [one for one in rankings if one.systems], notes, chosen.left_out
    )


def read_judged(data: bytes, file: Path) -> tuple[Sequence[Segment], Sequence[Problem], str]:
    """Judgements of segments in whichever of the known tables they are, and what their values mean."""
    first = data.partition(b"\n")[0].decode("utf-8-sig", "replace")
    if is_wmt_da(first):
        segments, problems = read_wmt_da(data, file.name)
        return segments, problems, DEVIATIONS if standardised_already(segments, file.name) else POINTS
    if "\t" in first or file.suffix.lower() in (".tsv", ".tab"):
        return *read_mqm(data, file.name), COSTS
    return *read_appraise(data, file.name), POINTS


def _ranking(
    pair: str, group: Sequence[Segment], scored: Callable[[Sequence[Segment]], Sequence[SystemScore]]
) -> PairRanking:
    domains = sorted({each.domain for each in group} - {""})
    by_domain = {name: _worths(scored([each for each in group if each.domain == name])) for name in domains}
    return PairRanking(pair, _worths(scored(group)), by_domain)


def _worths(found: Sequence[SystemScore]) -> list[Worth]:
    return [
        Worth(one.system, one.value, {"segments": one.segments, "documents": one.documents, "judges": one.judges})
        for one in found
    ]


def _of_pairs(
    data: bytes, name: str, controls: Sequence[str], prior: float | None, resampling: tuple[int, int]
) -> Judged:
    given, (draws, seed) = _pairs(data, name, controls), resampling
    names, numbers = comparisons(given, controls)
    fitted = with_intervals(numbers, draws=min(draws, 1000), seed=seed, prior=prior)
    sizes = {system: sum(system in (one.first, one.second) for one in given) for system in names}
    rows = [Worth(system, fitted.intervals[at], {"comparisons": sizes[system]}) for at, system in enumerate(names)]
    triads = plural("circular triad", circular_triads(numbers))
    notes = (
        f"position effect {fitted.position:.4g} in favour of the first, tie parameter {fitted.tie:.4g}, {triads}",
        *(_control_note(*one) for one in zip(controls, fitted.control_intervals, strict=True)),
        "intervals resample whole items and whole judges",
        *([fitted.regularised] if fitted.regularised else []),
    )
    ordered = sorted(rows, key=lambda one: (-one.value.value, one.system))
    return Judged("strength by Bradley-Terry with ties (Davidson), mean 0", [PairRanking("", ordered)], notes)


def _control_note(name: str, found: Estimate) -> str:
    """What a property of style is worth to a text, so that strengths are free of it."""
    ends = "" if found.low is None or found.high is None else f" (95% CI {found.low:.4g} to {found.high:.4g})"
    return f"control {name}: {found.value:.4g}{ends} for a text that has all of it, beside one that has none"


def _pairs(data: bytes, name: str, controls: Sequence[str] = ()) -> list[Compared]:
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except UnicodeDecodeError:
        raise _invalid_table(name, "invalid UTF-8", "save it as CSV in UTF-8") from None
    except csv.Error:
        raise _invalid_table(name, *NOT_A_TABLE) from None
    problems = [
        _problem(name, line, "first, second or outcome cannot be read", "write two systems and first, second or tie")
        for line, row in enumerate(rows, start=2)
        if not row.get("first") or not row.get("second") or row.get("outcome") not in OUTCOMES
    ]
    _sound(problems or ([] if rows else [_problem(name, None, "there is no pair in it", "give a line for each")]))
    columns = list(rows[0])
    if missing := [one for one in controls if one not in columns]:
        raise SettingError(f"{name} has no column {missing[0]!r} to control for. It has: {', '.join(columns)}.")
    styles = [_styles(name, line, row, controls) for line, row in enumerate(rows, start=2)]
    return [
        Compared(*(row["first"], row["second"], OUTCOMES[row["outcome"]], row.get("item") or str(at)),
                 row.get("judge") or "", style)
        for at, (row, style) in enumerate(zip(rows, styles, strict=True))
    ]  # fmt: skip


def _styles(name: str, line: int, row: Mapping[str, str], controls: Sequence[str]) -> dict[str, float]:
    """The controls of one pair as numbers."""
    found = {}
    for control in controls:
        try:
            found[control] = float(row[control])
        except (TypeError, ValueError):
            found[control] = math.nan
        if not math.isfinite(found[control]):
            _sound([_problem(name, line, f"{control} is no number", "write how much more of it the first text has")])
    return found


def _problem(name: str, line: int | None, message: str, fix: str) -> Problem:
    return Problem("S-19", name, line, None, message, fix, where="judgements")


def _invalid_table(name: str, message: str, fix: str) -> InvalidInputError:
    findings = Findings()
    findings.add(_problem(name, None, message, fix))
    return InvalidInputError(JUDGING, findings)
