"""`basanite judge cost`: people, hours, pay and precision for several numbers of queries and votes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import click

from basanite.cli.judge_rounds import JUDGING, scheme_at
from basanite.cli.options import PATH, as_json, example, plain_findings, run_or_exit, show_report
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.records import Place, read_records
from basanite.problems import Findings
from basanite.reports.report import Report, Section
from basanite.reports.wording import plural
from basanite.work.panel_costs import Design, Effort, Pilot, PilotVote, Spreads, Terms, effort_of, pilot_of, votes_of
from basanite.work.questions import Question
from basanite.work.scheme import Scheme

FORMAT: Final = "basanite-panel-costs/1"
MOST: Final = 100_000
NEEDED: Final = ("item", "judge", "query", "seconds")
Options = dict[str, float | None]


def _numbers(_: click.Context, parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    """Whole numbers joined by commas."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if any(not part.isdecimal() or not 0 < int(part[:9]) <= MOST for part in parts):
        raise click.BadParameter(f"write whole numbers from 1 to {MOST} joined by commas, such as 10,20,40.")
    return tuple(dict.fromkeys(int(part) for part in parts))


@click.command(epilog=example("basanite judge cost schemes/relevance.toml --queries 20,40 --per-query 60 --votes 1,3"))
@click.argument("scheme", type=PATH)
@click.option("--queries", callback=_numbers, required=True, metavar="N,N", help="Numbers of queries to compare.")
@click.option("--per-query", type=click.IntRange(1, MOST), required=True, help="Items of each query.")
@click.option("--votes", callback=_numbers, metavar="N,N", help="Votes of each item. [default: what SCHEME says]")
@click.option("--pilot", type=PATH, help="Judgments of a pilot: a table with item, judge, query, seconds and answers.")
@click.option("--query-sd", type=click.FloatRange(0), help="SD of the true means of queries. [default: 0.2 or PILOT]")
@click.option("--item-sd", type=click.FloatRange(0), help="SD of items inside a query. [default: 0.3 or PILOT]")
@click.option("--judge-sd", type=click.FloatRange(0), help="SD of judgments of one item. [default: 0.3 or PILOT]")
@click.option("--seconds", type=click.FloatRange(0), help="Seconds per judgment. [default: 30 or the median of PILOT]")
@click.option("--accuracy", type=click.FloatRange(0.5, 1), help="How often one judge is right. [default: from PILOT]")
@click.option("--fee", type=click.FloatRange(0, 10), default=0.0, help="A platform's fee as a share of the pay.")
@click.option("--hours-each", type=click.FloatRange(0), default=0.0, help="The most hours one judge works.")
@as_json
def cost(
    scheme: Path,
    queries: tuple[int, ...],
    per_query: int,
    votes: tuple[int, ...],
    pilot: Path | None,
    query_sd: float | None,
    item_sd: float | None,
    judge_sd: float | None,
    seconds: float | None,
    accuracy: float | None,
    fee: float,
    hours_each: float,
    as_json: bool,
) -> None:
    """Compare numbers of queries and votes for a panel by SCHEME: judges, judgments, hours, pay and precision.

    The half-width is that of the 95% CI of the mean over queries. A pilot of a few queries, judged twice,
    shows how much queries, items and judges differ.
    """
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    found = run_or_exit(lambda: pilot_of(_pilot_votes(pilot, chosen)), json=as_json) if pilot else None
    stated: Options = {"queries": query_sd, "items": item_sd, "judges": judge_sd, "seconds": seconds}
    spreads = replace(found.spreads if found else Spreads(), **{k: v for k, v in stated.items() if v is not None})
    right = accuracy if accuracy is not None or found is None else found.accuracy
    terms = Terms(spreads, fee, hours_each, right)
    several = votes or (votes_of(chosen),)
    efforts = [effort_of(Design(number, per_query, each), chosen, terms) for number in queries for each in several]
    show_report(_report(chosen, efforts, terms, found), json=as_json)


def _pilot_votes(path: Path, scheme: Scheme) -> list[PilotVote]:
    """The judgements in a table, as `judge batch import` writes it; refused with every bad line."""
    question, findings = _question(scheme), Findings()
    records = read_records(path, Place("metadata", "P-22"), findings)
    needed = (*NEEDED, question.id)
    missing = [name for name in needed if records is not None and name not in records.columns]
    for name in missing:
        fix = f"name these columns in the first line: {', '.join(needed)}"
        findings.add(Place("metadata", "P-22").problem(path.name, 1, f"there is no column {name!r}", fix, name))
    found: list[PilotVote] = []
    for row, line in enumerate(records.lines if records is not None and not missing else ()):
        fields = records.fields(row) if records is not None else {}
        vote = _pilot_vote(fields, question)
        if isinstance(vote, str):
            fix = "give a line for each judgment, with the answer as in the scheme and seconds as a number"
            findings.add(Place("metadata", "P-22").problem(path.name, line, f"{vote} cannot be read", fix, vote))
        else:
            found.append(vote)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return found


def _question(scheme: Scheme) -> Question:
    """The question whose mean is planned for: a number, or a choice of two of which the first counts as 1."""
    asked = scheme.measured_question
    if asked is None:
        raise SettingError("No question of this scheme has a mean. State --query-sd and the others instead of --pilot.")
    return asked


def _pilot_vote(fields: Mapping[str, Any], question: Question) -> PilotVote | str:
    """A judgement, or the name of the column that cannot be read."""
    given = fields.get(question.id)
    if question.numeric:
        value = _number(given)
    else:
        options = [option.value for option in question.options]
        value = float(given == options[0]) if given in options else None
    seconds = _number(fields.get("seconds"))
    for name in ("item", "query"):
        if fields.get(name) in (None, ""):
            return name
    if value is None or seconds is None:
        return question.id if value is None else "seconds"
    return PilotVote(str(fields["query"]), str(fields["item"]), value, seconds)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _report(scheme: Scheme, efforts: Sequence[Effort], terms: Terms, pilot: Pilot | None) -> Report:
    money = f"Cost ({scheme.pay.currency})" if scheme.pay.is_paid else "Cost"
    columns = ("Queries", "Votes", "Judges", "Judgments", "Hours", money, "Half-width", "Majority right")
    spreads = terms.spreads
    source = "stated"
    if pilot:
        source = f"from a pilot of {plural('judgment', pilot.votes)} on {plural('query', pilot.queries)}"
    return Report(
        title="Cost of a panel",
        subtitle=scheme.title,
        sections=(Section("Designs", "", (Table("Designs", columns, [_row(each) for each in efforts]),)),),
        facts=(),
        data=_data(scheme, efforts, terms, pilot),
        sentences=(
            f"Standard deviations ({source}): {spreads.queries:.3g} between queries, {spreads.items:.3g} between items "
            f"of a query, {spreads.judges:.3g} between judges of an item; {spreads.seconds:g} seconds a judgment.",
            *(() if scheme.pay.is_paid else ("The scheme has no [pay], so there is no cost.",)),
        ),
    )


def _row(effort: Effort) -> tuple[Any, ...]:
    design = effort.design
    return (
        design.queries,
        design.votes,
        effort.judges,
        effort.judgements,
        round(effort.hours, 1),
        "" if effort.cost is None else round(effort.cost, 2),
        round(effort.half_width, 4),
        "" if effort.majority is None else round(effort.majority, 3),
    )


def _data(scheme: Scheme, efforts: Sequence[Effort], terms: Terms, pilot: Pilot | None) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "scheme": scheme.name,
        "currency": scheme.pay.currency or None,
        "spreads": asdict(terms.spreads),
        "accuracy": terms.accuracy,
        "pilot": None if pilot is None else asdict(pilot),
        "designs": [{**asdict(each.design), **_without_design(each)} for each in efforts],
    }


def _without_design(effort: Effort) -> dict[str, Any]:
    return {name: value for name, value in asdict(effort).items() if name != "design"}
