"""`basanite judge agreement`: how far the judges of a table agree, with intervals or the reason why not (R-5, S-20)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from basanite.cli.judge.schemes import JUDGING
from basanite.cli.options import PATH, as_json, example, guarded, show_report
from basanite.cli.reading import plain
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.records import Place, Records, read_records
from basanite.judging.agreement import SCALES, Agreement, Said, Scale, agreement_of
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings
from basanite.reports.formats.json_output import plain as plain_values
from basanite.reports.model import Report, Section, filled
from basanite.reports.wording import plural

FORMAT: Final = "basanite-agreement/1"
RULE: Final = "S-20"
TABLE: Final = Place("judgements", RULE)
JUDGE: Final = "judge"
ITEMS: Final = (("item",), ("passage",), ("query", "document"), ("id",))
"""What may say which item was judged, the likeliest first."""
VALUES: Final = ("rating", "relevance", "verdict", "answer", "value", "score", "rank", "label")
APART: Final = "\x1f"
MOST_JUDGES, MOST_CELLS = 2_000, 50_000_000


@click.command(epilog=example("basanite judge agreement ratings.csv --draws 200"))
@click.argument("file", type=PATH)
@click.option("--item", "items", multiple=True, help="A column that names what was judged. Repeat it. [default: found]")
@click.option("--value", help="The column with what the judge said. [default: found]")
@click.option("--by", help="A column of groups, as panel: each by itself.")
@click.option("--scale", type=click.Choice(SCALES), help="Take alpha at this level alone. [default: all that fit]")
@click.option("--draws", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="Draws of intervals.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@as_json
def agreement(
    file: Path,
    items: tuple[str, ...],
    value: str | None,
    by: str | None,
    scale: Scale | None,
    draws: int,
    seed: int,
    as_json: bool,
) -> None:
    """Tell how far judges agree: FILE has a line for each judgement (columns judge, item and rating, for example).

    Alpha, kappa, Kendall's W and intraclass correlations, each with an interval by drawing items; one that cannot be
    told is undefined, with the reason.
    """
    groups = guarded(lambda: _groups(file, items, value, by), json=as_json)
    found = {name: agreement_of(said, scale=scale, draws=draws, seed=seed) for name, said in groups.items()}
    show_report(_report(found, file.name), json=as_json)


def _groups(file: Path, items: Sequence[str], value: str | None, by: str | None) -> dict[str, list[Said]]:
    """The judgements of each group; without groups, all of them under one empty name."""
    findings = Findings()
    records = read_records(file, TABLE, findings)
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))
    columns = _columns(records, items, value, by)
    groups: dict[str, list[Said]] = {}
    for group, said in _said(records, *columns, by, findings):
        groups.setdefault(group, []).append(said)
    _check_size(records.file, groups, findings)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain(findings))
    return dict(sorted(groups.items()))


def _columns(records: Records, items: Sequence[str], value: str | None, by: str | None) -> tuple[tuple[str, ...], str]:
    """The columns that say what was judged and what was said; named ones must be there, others are found."""
    there = records.columns
    for name in (JUDGE, *items, *filter(None, (value, by))):
        if name not in there:
            raise SettingError(f"{records.file} has no column {name!r}. It has: {', '.join(there)}.")
    what = tuple(items) or next((names for names in ITEMS if all(name in there for name in names)), ())
    said = value or next((name for name in VALUES if name in there and name not in what), "")
    if not what or not said:
        missing = "--item" if not what else "--value"
        raise SettingError(f"Name a column of {records.file} with {missing}. It has: {', '.join(there)}.")
    return what, said


def _said(
    records: Records, items: tuple[str, ...], value: str, by: str | None, findings: Findings
) -> Iterator[tuple[str, Said]]:
    """Judgements with their groups; a line without a value is no judgement, a second one of the same is a problem."""
    seen: dict[tuple[str, ...], int] = {}
    for row, line in enumerate(records.lines):
        fields = {name: str(cell) for name, cell in records.fields(row).items() if cell is not None}
        if value not in fields:
            continue
        absent = [name for name in (JUDGE, *items, *filter(None, (by,))) if not fields.get(name, "").strip()]
        key = (fields.get(by or "", ""), *(fields.get(name, "") for name in (JUDGE, *items)))
        if absent:
            fix = "write who judged what in every line"
            findings.add(TABLE.problem(records.file, line, f"no {' and no '.join(absent)}", fix))
        elif seen.setdefault(key, line) != line:
            told = f"this judge judged this item in line {seen[key]} already"
            findings.add(TABLE.problem(records.file, line, told, "keep the one that counts", " ".join(key).strip()))
        else:
            yield key[0], Said(key[1], APART.join(key[2:]), fields[value].strip())


def _check_size(file: str, groups: Mapping[str, Sequence[Said]], findings: Findings) -> None:
    if not groups and findings.valid:
        findings.add(TABLE.problem(file, None, "there is no judgement in it", "give a line for each"))
    for said in groups.values():
        judges, items = len({one.judge for one in said}), len({one.item for one in said})
        if judges > MOST_JUDGES or judges * items > MOST_CELLS:
            fix = f"give at most {MOST_JUDGES} judges and {MOST_CELLS} pairs of judge and item at once"
            findings.add(TABLE.problem(file, None, f"{judges} judges and {items} items", fix))


def _report(found: Mapping[str, Agreement], name: str) -> Report:
    parts = [part for group, one in found.items() for part in _sections(group, one)]
    data = {"format": FORMAT, "file": name, "groups": {group: _data(one) for group, one in found.items()}}
    return Report(
        title="Agreement of judges",
        subtitle=name,
        sections=filled(*parts),
        facts=(),
        data={key: plain_values(value) for key, value in data.items()},
        sentences=tuple(_sentence(group, one) for group, one in found.items()),
    )


def _sentence(group: str, one: Agreement) -> str:
    levels = [name for name in one.figures if name.startswith("alpha")]
    level = "alpha, interval" if "alpha, interval" in levels else levels[0]
    size = f"{plural('judgement', one.judgements)} of {plural('item', one.items)} by {plural('judge', one.judges)}"
    value = one.figures[level]
    told = f"{value.value:.4g}" if value.defined else f"undefined ({value.reason})"
    return f"{group + ': ' if group else ''}{size}; {level.replace(', ', ' (')}) is {told}."


def _sections(group: str, one: Agreement) -> Iterator[Section]:
    title = f" of {group}" if group else ""
    figures = [(name, *_cells(value)) for name, value in one.figures.items()]
    yield Section(f"Agreement{title}", "", (Table("Agreement", ("Figure", *CELLS), figures),))
    pairs = [(*names, *_cells(value)) for names, value in one.pairs.items()]
    if pairs:
        yield Section(f"Kappa of two{title}", "", (Table("Kappa", ("Judge", "And", *CELLS), pairs),))
    rows = [(name, it.items, it.bias, it.spread, it.distance) for name, it in one.by_judge.items()]
    if rows:
        columns = ("Judge", "Items shared", "Bias", "Spread", "Distance")
        yield Section(f"Judges{title}", "", (Table("Judges", columns, rows),))


CELLS: Final = ("Value", "Low", "High", "Remarks")


def _cells(found: Estimate) -> tuple[float | None, float | None, float | None, str]:
    return (found.value if found.defined else None), found.low, found.high, found.reason


def _data(one: Agreement) -> dict[str, Any]:
    return {
        "items": one.items,
        "judges": one.judges,
        "judgements": one.judgements,
        "numeric": one.numeric,
        "figures": {_key(name): _estimate(value) for name, value in one.figures.items()},
        "pairs": [{"first": a, "second": b, "kappa": _estimate(value)} for (a, b), value in one.pairs.items()],
        "by_judge": [
            {"judge": name, "items": it.items, "bias": it.bias, "spread": it.spread, "distance": it.distance}
            for name, it in one.by_judge.items()
        ],
    }


def _key(name: str) -> str:
    """A figure's name as it stands in JSON: `icc_a_k`, `kendalls_w`."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("'", "")).strip("_")


def _estimate(found: Estimate) -> dict[str, Any]:
    """An undefined value is null, with the reason beside it."""
    value = found.value if found.defined else None
    return {"value": value, "low": found.low, "high": found.high, "reason": found.reason}
