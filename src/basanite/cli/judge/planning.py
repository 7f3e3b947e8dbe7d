"""`basanite judge plan`: who would judge what, and what cannot be reached with these judges (P-30)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import click

from basanite.cli.judge.schemes import JUDGING, scheme_at
from basanite.cli.options import PATH, as_json, example, guarded, say, show_report
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.records import Place, read_records
from basanite.formats.retrieval.conversion import refuse_to_overwrite, whole_or_absent
from basanite.judging.combining.files import spreadsheet
from basanite.judging.items import Block, Item, item_of
from basanite.judging.planning import Judge, Plan, plan_rounds
from basanite.judging.scheme import Scheme
from basanite.problems import Findings
from basanite.reports.model import Report, Section, filled
from basanite.reports.wording import plural

FORMAT = "basanite-judging-plan/1"
MOST_JUDGES = 10_000
HEADER = ("judge", "round", "position", "item", "flipped")


@click.command(
    epilog=example("basanite judge plan schemes/readability.toml --items pool.csv --judges expert=3 --judges novice=8")
)
@click.argument("scheme", type=PATH)
@click.option("--items", type=PATH, required=True, help="A table of items; its columns are their facts.")
@click.option("--judges", multiple=True, required=True, metavar="GROUP=N", help="So many judges of a group. Repeat it.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all orders.")
@click.option("--out", type=PATH, help="Also write all assignments to this CSV file; must not exist yet.")
@as_json
def plan(scheme: Path, items: Path, judges: tuple[str, ...], seed: int, out: Path | None, as_json: bool) -> None:
    """Plan the rounds of a panel by the file SCHEME, and tell what cannot be reached.

    Exit code 0: all items get their judgements; 1: some do not, or a judge meets the same thing twice.
    """
    if out is not None:
        refuse_to_overwrite(out)
    chosen = guarded(lambda: scheme_at(scheme), json=as_json)
    people = _judges(judges)
    given = guarded(lambda: _items(items), json=as_json)
    made = plan_rounds(given, people, chosen, seed)
    if out is not None:
        with whole_or_absent(out, items) as path:
            path.write_bytes(_table(made, given))
    show_report(_report(chosen, made, given, people), json=as_json)
    if out is not None and not as_json:
        say(f"Written to {out}")
    if made.warnings:
        raise click.exceptions.Exit(1)


def _judges(texts: Sequence[str]) -> list[Judge]:
    found: list[Judge] = []
    for text in texts:
        group, sign, number = text.rpartition("=")
        if not sign or not group or not number.isdecimal() or not 0 < int(number[:9]) <= MOST_JUDGES:
            raise SettingError(f"--judges {text!r} cannot be read: write GROUP=N, as in --judges novice=20.")
        found.extend(Judge(f"{group}{at + 1}", group) for at in range(int(number)))
    return found


def _items(path: Path) -> tuple[Item, ...]:
    findings = Findings()
    records = read_records(path, Place("metadata", "R-1"), findings)
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))
    numbers = count(1)
    return tuple(
        item_of(
            [Block("text", str(row))],
            {name: str(cell) for name, cell in records.fields(row).items() if cell is not None and name != "text"},
            new_id=lambda: f"item{next(numbers)}",
        )
        for row in range(len(records))
    )


def _table(made: Plan, items: Sequence[Item]) -> bytes:
    facts = {item.id: item.facts for item in items}
    names = sorted({name for item in items for name in item.facts})
    rows = [
        (one.judge, one.round, one.position, one.item, one.flipped, *(facts[one.item].get(name, "") for name in names))
        for one in made
    ]
    return spreadsheet((*HEADER, *names), rows)


def _report(scheme: Scheme, made: Plan, items: Sequence[Item], judges: Sequence[Judge]) -> Report:
    rows = _judge_rows(made, judges)
    return Report(
        title="Plan of judging",
        subtitle=f"{plural('item', len(items))}, {plural('judge', len(judges))}",
        sections=filled(
            Section("Judges", "", (Table("Judges", ("Judge", "Group", "Items", "Rounds"), rows),)),
            Section("Not as wished", "", _warnings(made)),
        ),
        facts=(),
        data=_data(scheme, made, items, rows),
        sentences=(
            f"{plural('assignment', len(made))} of {plural('item', len(items))} "
            f"to {plural('judge', len(judges))}, by {scheme.name}.",
        ),
    )


def _judge_rows(made: Plan, judges: Sequence[Judge]) -> list[tuple[str, str, int, int]]:
    items, rounds = Counter(one.judge for one in made), {(one.judge, one.round) for one in made}
    times = Counter(judge for judge, _ in rounds)
    return [(judge.id, judge.group, items[judge.id], times[judge.id]) for judge in judges]


def _warnings(made: Plan) -> tuple[Table, ...]:
    rows = [(problem.rule, problem.message, problem.fix) for problem in made.warnings]
    return (Table("Not as wished", ("Rule", "What", "To do"), rows),) if rows else ()


def _data(scheme: Scheme, made: Plan, items: Sequence[Item], rows: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "scheme": scheme.name,
        "items": len(items),
        "assignments": len(made),
        "judges": [dict(zip(("judge", "group", "items", "rounds"), row, strict=True)) for row in rows],
        "warnings": [problem.as_dict() for problem in made.warnings],
    }
