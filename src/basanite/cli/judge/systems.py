"""`basanite judge systems`: what systems are worth by judged translations or pairs, with intervals (R-29, S-19)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from basanite.cli.judge.schemes import JUDGING
from basanite.cli.judge.systems_report import Judged, PairRanking, Worth, judged_report
from basanite.cli.options import PATH, as_json, check_reports, example, guarded, show_report, write_reports
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.formats.bounded import read_bounded
from basanite.judging.combining.pairs import HEADER, WORDS, Compared, comparisons
from basanite.judging.combining.translation import (
    Segment,
    SystemScore,
    is_wmt_da,
    read_appraise,
    read_mqm,
    read_wmt_da,
    score_of_errors,
    select,
    standardised_already,
    system_scores,
)
from basanite.judging.combining.translation.appraise import NOT_A_TABLE
from basanite.metrics.judgement.bradley_terry import circular_triads, with_intervals
from basanite.problems import Findings, Problem
from basanite.reports.wording import plural

LARGEST = 256 << 20
OUTCOMES = {word: number for number, word in WORDS.items()}
POINTS = "mean score, 0 to 100"
DEVIATIONS = "mean score in standard deviations of each judge"
COSTS = "what errors take away (0 is faultless, -25 the worst)"


@click.command(epilog=example("basanite judge systems appraise.csv --draws 200"))
@click.argument("file", type=PATH)
@click.option("--standardise", is_flag=True, help="Take away each judge's own mean and spread first (Appraise).")
@click.option("--prior", type=click.FloatRange(0.01, 100), help="Hold a fit that has no maximum by this prior (pairs).")
@click.option("--draws", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Draws of intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@as_json
def systems(
    file: Path,
    standardise: bool,
    prior: float | None,
    draws: int,
    seed: int,
    reports: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Score systems by the judgements in FILE: an export of Appraise, a table of WMT (DA, ESA, MQM), or pairs.

    Systems are ranked inside a language pair, never across. Judges and documents (of pairs: judges and items) are drawn
    for the intervals, as both are random factors.
    """
    check_reports(reports, [file])
    data = read_bounded(file, LARGEST)
    if data.startswith(",".join(HEADER[:3]).encode()):
        found = guarded(lambda: _of_pairs(data, file.name, prior, draws, seed), json=as_json)
    else:
        found = guarded(lambda: _of_segments(data, file, draws, seed, standardise=standardise), json=as_json)
    report = judged_report(found, file.name)
    write_reports(report, reports)
    show_report(report, json=as_json)


def _sound(problems: Sequence[Problem]) -> None:
    findings = Findings()
    findings.extend(problems)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))


def _of_segments(data: bytes, file: Path, draws: int, seed: int, *, standardise: bool) -> Judged:
    segments, problems, measure = _read(data, file)
    _sound(problems)
    if not segments:
        raise _refused(file.name, "there is no judgement in it", "give a line for each judged segment")
    if measure != POINTS and standardise:
        raise SettingError("--standardise is for scores from 0 to 100: these are on a scale of their own.")
    value = {"value": score_of_errors} if measure == COSTS else {}
    design: Mapping[str, Any] = {"standardise": standardise, "draws": draws, "seed": seed, **value}
    scored = partial(system_scores, **design)
    chosen = select(segments)
    rankings = [_ranking(pair, group, scored) for pair, group in chosen.pairs.items()]
    left_out = [f"left out: {count:,} {what}" for what, count in chosen.left_out.items()]
    alone = "" if all(each.document for each in segments) else "; a segment without a document is drawn by itself"
    notes = (f"intervals draw whole documents and whole judges{alone}", *left_out, *map(_warning, problems))
    return Judged(
        DEVIATIONS if standardise else measure, [one for one in rankings if one.systems], notes, chosen.left_out
    )


def _read(data: bytes, file: Path) -> tuple[Sequence[Segment], Sequence[Problem], str]:
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


def _warning(problem: Problem) -> str:
    """What did not stop us (P-32), with its line where it has one."""
    return f"{problem.place()}: {problem.message}" if problem.line else problem.message


def _of_pairs(data: bytes, name: str, prior: float | None, draws: int, seed: int) -> Judged:
    given = _pairs(data, name)
    names, numbers = comparisons(given)
    fitted = with_intervals(numbers, draws=min(draws, 1000), seed=seed, prior=prior)
    sizes = {system: sum(system in (one.first, one.second) for one in given) for system in names}
    rows = [Worth(system, fitted.intervals[at], {"comparisons": sizes[system]}) for at, system in enumerate(names)]
    triads = plural("circular triad", circular_triads(numbers))
    notes = (
        f"position effect {fitted.position:.4g} in favour of the first, tie parameter {fitted.tie:.4g}, {triads}",
        "intervals draw whole items and whole judges",
        *([fitted.regularised] if fitted.regularised else []),
    )
    ordered = sorted(rows, key=lambda one: (-one.value.value, one.system))
    return Judged("strength by Bradley-Terry with ties (Davidson), mean 0", [PairRanking("", ordered)], notes)


def _pairs(data: bytes, name: str) -> list[Compared]:
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except UnicodeDecodeError:
        raise _refused(name, "bytes that are not UTF-8", "save it as CSV in UTF-8") from None
    except csv.Error:
        raise _refused(name, *NOT_A_TABLE) from None
    problems = [
        _problem(name, line, "first, second or outcome cannot be read", "write two systems and first, second or tie")
        for line, row in enumerate(rows, start=2)
        if not row.get("first") or not row.get("second") or row.get("outcome") not in OUTCOMES
    ]
    _sound(problems or ([] if rows else [_problem(name, None, "there is no pair in it", "give a line for each")]))
    return [
        Compared(
            row["first"], row["second"], OUTCOMES[row["outcome"]], row.get("item") or str(at), row.get("judge") or ""
        )
        for at, row in enumerate(rows)
    ]


def _problem(name: str, line: int | None, message: str, fix: str) -> Problem:
    return Problem("S-19", name, line, None, message, fix, where="judgements")


def _refused(name: str, message: str, fix: str) -> InvalidInputError:
    findings = Findings()
    findings.add(_problem(name, None, message, fix))
    return InvalidInputError(JUDGING, findings)
