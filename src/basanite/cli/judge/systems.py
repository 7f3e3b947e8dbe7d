"""`basanite judge systems`: what systems are worth by judged translations or pairs, with intervals (R-29, S-19)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from basanite.cli.judge.schemes import JUDGING
from basanite.cli.options import PATH, as_json, example, guarded, show_report
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.bounded import read_bounded
from basanite.judging.combining.pairs import HEADER, WORDS, Compared, comparisons
from basanite.judging.combining.translation import read_appraise, read_mqm, score_of_errors, system_scores
from basanite.metrics.judgement.bradley_terry import circular_triads, with_intervals
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings, Problem
from basanite.reports.formats.json_output import plain as plain_values
from basanite.reports.model import Report, Section
from basanite.reports.wording import plural

FORMAT = "basanite-judged-systems/1"
LARGEST = 256 << 20
OUTCOMES = {word: number for number, word in WORDS.items()}


@dataclass(frozen=True)
class Worth:
    """One system's value, and how much it rests on."""

    system: str
    value: Estimate
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class Judged:
    """All systems, best first, and what their values mean."""

    measure: str
    systems: Sequence[Worth]
    notes: tuple[str, ...] = ()


@click.command(epilog=example("basanite judge systems appraise.csv --draws 200"))
@click.argument("file", type=PATH)
@click.option("--standardise", is_flag=True, help="Take away each judge's own mean and spread first (Appraise).")
@click.option("--prior", type=click.FloatRange(0.01, 100), help="Hold a fit that has no maximum by this prior (pairs).")
@click.option("--draws", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Draws of intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@as_json
def systems(file: Path, standardise: bool, prior: float | None, draws: int, seed: int, as_json: bool) -> None:
    """Score systems by the judgements in FILE: an export of Appraise, an MQM table (.tsv), or a table of pairs.

    Judges and documents (of pairs: judges and items) are drawn for the intervals, as both are random factors.
    """
    data = read_bounded(file, LARGEST)
    if data.startswith(",".join(HEADER[:3]).encode()):
        found = guarded(lambda: _of_pairs(data, file.name, prior, draws, seed), json=as_json)
    else:
        found = guarded(lambda: _of_segments(data, file, draws, seed, standardise=standardise), json=as_json)
    show_report(_report(found, file.name), json=as_json)


def _sound(problems: Sequence[Problem]) -> None:
    findings = Findings()
    findings.extend(problems)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))


def _of_segments(data: bytes, file: Path, draws: int, seed: int, *, standardise: bool) -> Judged:
    errors = file.suffix.lower() in (".tsv", ".tab")
    segments, problems = (read_mqm if errors else read_appraise)(data, file.name)
    _sound(problems)
    if errors and standardise:
        raise SettingError("--standardise is for scores of Appraise: what errors cost is a scale of its own.")
    more = {"value": score_of_errors} if errors else {}
    found = system_scores(segments, standardise=standardise, draws=draws, seed=seed, **more)
    measure = "what errors take away (0 is faultless, -25 the worst)" if errors else "mean score, 0 to 100"
    measure = "mean score in standard deviations of each judge" if standardise else measure
    rows = [
        Worth(one.system, one.value, {"segments": one.segments, "documents": one.documents, "judges": one.judges})
        for one in found
    ]
    left = (problem.message for problem in problems)  # what was wrong has stopped us by now (P-32)
    return Judged(measure, rows, ("intervals draw whole documents and whole judges", *left))


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
    return Judged("strength by Bradley-Terry with ties (Davidson), mean 0", ordered, notes)


def _pairs(data: bytes, name: str) -> list[Compared]:
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        rows = []
        _sound([_problem(name, None, f"not a table: {error}", "save it as CSV in UTF-8")])
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


def _report(found: Judged, name: str) -> Report:
    sizes = tuple(found.systems[0].sizes) if found.systems else ()
    rows = [
        (one.system, one.value.value if one.value.defined else None, one.value.low, one.value.high, *one.sizes.values())
        for one in found.systems
    ]
    columns = ("System", "Value", "Low", "High", *(size.capitalize() for size in sizes))
    best = found.systems[0] if found.systems else None
    said = f"{best.system} is first with {best.value.value:.4g}." if best else "Nobody was judged."
    return Report(
        title="Judged systems",
        subtitle=f"{name}: {found.measure}",
        sections=(Section("Systems", "", (Table("Systems", columns, rows),)),),
        facts=(),
        data={key: plain_values(value) for key, value in _data(found).items()},
        sentences=(said, *found.notes),
    )


def _data(found: Judged) -> dict[str, Any]:
    rows = [
        {
            "system": one.system,
            "value": one.value.value,
            "low": one.value.low,
            "high": one.value.high,
            "reason": one.value.reason,
            **one.sizes,
        }
        for one in found.systems
    ]
    return {"format": FORMAT, "measure": found.measure, "systems": rows, "notes": list(found.notes)}
