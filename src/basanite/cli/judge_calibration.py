"""`basanite judge sample` and `calibrate`: which items people judge beside a model, and what its answers are worth."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import click

from basanite.canonical import canonical_line, dumps, plain_values
from basanite.cli.judge_models import THEN, date_option, today
from basanite.cli.judge_rounds import JUDGING, scheme_at
from basanite.cli.options import (
    PATH,
    as_json,
    check_reports,
    example,
    plain_findings,
    run_or_exit,
    say,
    show_report,
    write_reports,
)
from basanite.errors import InvalidInputError, SettingError, UnreadableError
from basanite.figures import Table
from basanite.formats.archives.output import refuse_to_overwrite, whole_or_absent
from basanite.formats.bounded import read_bounded
from basanite.formats.records import ABSENT, read_records
from basanite.metrics.judgement.estimate import Estimate
from basanite.models.calibration import Calibration, Corrected, calibrate, calibration_records
from basanite.models.judge_license import (
    ANCHORS,
    CALIBRATION,
    LARGEST,
    LICENSE,
    MOST_ANCHORS,
    WHO,
    license_of,
)
from basanite.models.judge_run import ANSWERS, INVALID, RECORD
from basanite.models.judge_tables import ANSWER, TABLE, Key, Said, judged_question, read_answers_table
from basanite.problems import Findings
from basanite.reports.report import Report, Section, sections_with_content
from basanite.reports.wording import plural
from basanite.tasks.judged import answer_digest, license_sentence
from basanite.work.assignments import seeded_order
from basanite.work.human_sample import COLUMNS, Drawn, draw_plan, read_plan, strata_of
from basanite.work.questions import Question
from basanite.work.result_files import table

FORMAT: Final = "basanite-calibration-report/1"
SAMPLE_FORMAT: Final = "basanite-judging-sample/1"
PEOPLE, PLAN = "people.csv", "plan.csv"


@click.command(epilog=example("basanite judge sample answers.csv --people 100 --by kind --out drawn"))
@click.argument("items", type=PATH)
@click.option("--people", type=click.IntRange(1), required=True, help="How many items people will judge.")
@click.option("--by", multiple=True, help="A column of strata: each gets its share. Can be repeated.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the drawing.")
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@as_json
def sample(items: Path, people: int, by: tuple[str, ...], seed: int, out: Path, as_json: bool) -> None:
    """Draw which of the ITEMS people judge beside a model: at random, with known chances, from each stratum.

    people.csv is the table of items for a panel or a crowd batch. Keep plan.csv: values are corrected by it.
    """
    refuse_to_overwrite(out)
    header, rows = run_or_exit(lambda: _read_table(items), json=as_json)
    names = [row["id"] or "" for row in rows]
    plan = draw_plan(strata_of(names, rows, by), people, seed=seed)
    drawn = {one.name for one in plan if one.drawn}
    chosen = [row for row in rows if row["id"] in drawn]
    mixed = seeded_order(range(len(chosen)), str, seed, "order")
    with whole_or_absent(out, items) as folder:
        folder.mkdir()
        cells = [[chosen[at][name] or "" for name in header] for at in mixed]
        (folder / PEOPLE).write_bytes(table(header, cells))
        lines = [(one.name, one.stratum, repr(one.probability), int(one.drawn)) for one in plan]
        (folder / PLAN).write_bytes(table(COLUMNS, lines))
    click.echo(
        f"{plural('item', len(drawn))} of {len(plan)} drawn, {plural('answer', len(chosen))} for people to judge"
    )
    click.echo(f"• for people: {out / PEOPLE}")
    click.echo(f"• the plan: {out / PLAN}")


def _read_table(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """The rows of a table of items, each with its item under `id`."""
    findings = Findings(limit=20)
    records = read_records(path, TABLE, findings)
    if records is not None and "id" not in records.columns:
        fix = "name each item under `id`: the same for all systems that answered it"
        findings.add(TABLE.problem(records.file, 1, "there is no column 'id'", fix, ", ".join(records.columns)))
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    header = list(records.columns)
    cells = [[records.columns[name][row] for name in header] for row in range(len(records))]
    texts = [[None if cell is None or cell is ABSENT else str(cell) for cell in row] for row in cells]
    return header, [dict(zip(header, row, strict=True)) for row in texts]


@click.command(
    name="calibrate",
    epilog=example(
        "basanite judge calibrate scheme.toml --judge judge --people people.csv --plan sample/plan.csv --out calibrated"
    ),
)
@click.argument("scheme", type=PATH)
@click.option("--judge", "judge_folder", type=PATH, required=True, help="The folder that `judge by-model` wrote.")
@click.option(
    "--people", type=PATH, required=True, help="People's answers: answers.csv of a panel, or a batch's table."
)
@click.option("--plan", type=PATH, required=True, help="The plan.csv that `judge sample` wrote.")
@click.option("--items", type=PATH, help="The table of items: some of those that people judged become anchors.")
@click.option("--question", default="", help="The question to correct. [default: the one that the scheme combines]")
@click.option("--value", default="", help="Of a choice: the answer that counts 1. [default: the first of two]")
@click.option("--cluster", default="", help="A column whose equal items belong together.")
@click.option("--valid-days", type=click.IntRange(1, 3650), default=180, show_default=True, help="Until it expires.")
@date_option
@click.option("--out", type=PATH, required=True, help="The folder to write; must not exist yet.")
@click.option("--report", "reports", type=PATH, multiple=True, help="Also write a report: .html .csv .json …")
@as_json
def calibrate_command(
    scheme: Path,
    judge_folder: Path,
    people: Path,
    plan: Path,
    items: Path | None,
    question: str,
    value: str,
    cluster: str,
    valid_days: int,
    day: datetime | None,
    out: Path,
    reports: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Correct a model's answers by those of people, for each system and each pair, and license the judge.

    Values are those that people would give all items, from 0 to 1. calibration.jsonl is the reference with which
    `basanite score judged` scores each system; license.json says how far the judge agrees with people.
    """
    refuse_to_overwrite(out)
    check_reports(reports, [people, plan])
    chosen = run_or_exit(lambda: scheme_at(scheme), json=as_json)
    asked = judged_question(chosen, question, value)
    header = _judge_header(judge_folder)
    machine, person, drawn = run_or_exit(lambda: _read(judge_folder, people, plan, asked, value), json=as_json)
    found = calibrate(machine, person, drawn, cluster)
    terms = license_of(found, machine, person, asked, header, (today(day), valid_days))
    terms["value"] = value
    with whole_or_absent(out, people) as folder:
        folder.mkdir()
        (folder / LICENSE).write_text(dumps(terms), encoding="utf-8")
        records = calibration_records(found, machine, plain_values(terms), drawn)
        (folder / CALIBRATION).write_bytes(b"".join(map(canonical_line, records)))
        if items is not None:
            (folder / ANCHORS).write_bytes(_anchors(items, machine, person))
    report = _report(found, terms, judge_folder.name)
    write_reports(report, reports)
    show_report(report, json=as_json)
    say(f"Written to {out}")


def _judge_header(folder: Path) -> dict[str, str]:
    try:
        found = json.loads(read_bounded(folder / RECORD, LARGEST))
        return {name: str(found[name]) for name in WHO}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableError(
            f"{folder / RECORD} is no record of a judge. Name the folder of `judge by-model`."
        ) from error


def _read(
    folder: Path, people: Path, plan: Path, question: Question, value: str
) -> tuple[dict[Key, Said], dict[Key, Said], Mapping[str, Drawn]]:
    findings = Findings(limit=20)
    drawn = read_plan(plan, findings)
    if drawn is None:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    judge = read_answers_table(folder / ANSWERS, question, value)
    invalid = read_records(folder / INVALID, TABLE, findings, headers=("item",))
    for row in range(len(invalid) if invalid is not None else 0):
        fields = invalid.fields(row) if invalid is not None else {}
        key = (str(fields.get("system") or ""), str(fields.get("id") or ""))
        judge.setdefault(key, Said(facts={ANSWER: str(fields.get(ANSWER) or "")}))
    return judge, read_answers_table(people, question, value), drawn


def _anchors(items: Path, judge: Mapping[Key, Said], people: Mapping[Key, Said]) -> bytes:
    """Items that people judged, with what they and the judge said: up to fifty, drawn by the digest of their text."""
    header, rows = _read_table(items)
    known = []
    for row in rows:
        key = (row.get("system") or "", row["id"] or "")
        if key in people and key in judge and judge[key].values:
            known.append({**row, THEN: repr(judge[key].mean), "people": repr(people[key].mean)})
    chosen = sorted(known, key=lambda row: answer_digest(f"{row['id']} {row.get('system')}"))[:MOST_ANCHORS]
    if not chosen:
        raise SettingError(f"No row of {items.name} was judged by the judge and by people: give the judged items.")
    columns = [*header, THEN, "people"]
    return table(columns, [[row[name] or "" for name in columns] for row in chosen])


def _report(found: Calibration, terms: Mapping[str, Any], name: str) -> Report:
    return Report(
        title="A judge calibrated by people",
        subtitle=name,
        sections=sections_with_content(
            Section("Values", "", (_table("Values", "System", found.values),)),
            Section("Differences", "", (_differences(found.differences),) if found.differences else ()),
            Section("Bias by group", "", tuple(_groups(terms))),
        ),
        facts=(("License", license_sentence(terms)),),
        data={key: plain_values(cell) for key, cell in _data(found, terms).items()},
        sentences=tuple(_sentences(found, terms)),
    )


def _sentences(found: Calibration, terms: Mapping[str, Any]) -> list[str]:
    ordered = sorted(found.values, key=lambda one: -one.corrected.value)
    naive = sorted(found.values, key=lambda one: -one.judge.value)
    labels = plural("item", int(found.part.labelled.sum()))
    told = [f"People judged {labels} of {len(found.items)}; {license_sentence(terms)}."]
    if len(ordered) > 1:
        first, other = ordered[0].name, naive[0].name
        told.append(f"{first} is first with a corrected value of {ordered[0].corrected.value:.4f}.")
        if first != other:
            told.append(f"The judge alone would put {other} first.")
    if found.invalid:
        told.append(f"The judge gave no valid answer to {found.invalid}; its mean stands for them.")
    return told


def _table(title: str, first: str, values: Sequence[Corrected]) -> Table:
    columns = (first, "Judge alone", "Corrected", "Low", "High", "People alone", "People low", "People high", "Factor")
    rows = [
        (one.name or "the system", one.judge.value, *_ends(one.corrected), *_ends(one.people), one.factor)
        for one in values
    ]
    return Table(title, columns, rows)


def _ends(one: Estimate) -> tuple[float, float | None, float | None]:
    return one.value, one.low, one.high


def _differences(values: Sequence[Corrected]) -> Table:
    columns = ("Difference", "Judge alone", "Corrected", "Low", "High", "p (Holm)", "Verdict")
    rows = [(one.name, one.judge.value, *_ends(one.corrected), one.p_adjusted, _verdict(one)) for one in values]
    return Table("Differences", columns, rows)


def _verdict(one: Corrected) -> str:
    return "significant" if one.is_clear else "not significantly different"


def _groups(terms: Mapping[str, Any]) -> list[Table]:
    columns = ("Level", "Labels", "Judge above people", "Low", "High")
    return [
        Table(
            name,
            columns,
            [(level, one["labels"], one["value"], one["low"], one["high"]) for level, one in levels.items()],
        )
        for name, levels in terms["by_group"].items()
    ]


def _data(found: Calibration, terms: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "labels": int(found.part.labelled.sum()),
        "items": len(found.items),
        "systems": [{"system": one.name, **_parts(one)} for one in found.values],
        "differences": [
            {"pair": one.name, **_parts(one), "p": one.p, "p_adjusted": one.p_adjusted, "verdict": _verdict(one)}
            for one in found.differences
        ],
        "license": {name: cell for name, cell in terms.items() if name not in ("made", "expires")},
    }


def _parts(one: Corrected) -> dict[str, Any]:
    values = {"judge_alone": one.judge, "corrected": one.corrected, "people_alone": one.people}
    cells = {name: {"value": it.value, "low": it.low, "high": it.high} for name, it in values.items()}
    return {**cells, "factor": one.factor}
