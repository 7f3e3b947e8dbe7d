"""`basanite judge agreement`: how far judges agree, from a table of judgments or a plain matrix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from basanite.canonical import plain_values
from basanite.cli.judge_rounds import JUDGING
from basanite.cli.options import PATH, as_json, example, gather_options, plain_findings, run_or_exit, show_report
from basanite.errors import InvalidInputError, SettingError
from basanite.figures import Table
from basanite.formats.rating_matrix import Judges, looks_like_matrix, read_matrix
from basanite.formats.records import Place, Records, read_records
from basanite.metrics.judgement.estimate import Estimate
from basanite.problems import Findings
from basanite.reports.report import Report, Section, sections_with_content
from basanite.reports.wording import plural
from basanite.work.agreement import SCALES, Agreement, Said, Scale, agreement_of

AGREEMENT_FORMAT: Final = "basanite-agreement/1"
RULE: Final = "S-20"
TABLE: Final = Place("judgements", RULE)
JUDGES: Final = ("judge", "rater", "annotator", "coder", "evaluator", "worker", "worker_id")
"""What may say who judged."""
ITEMS: Final = (("item",), ("passage",), ("query", "document"), ("unit",), ("subject",), ("item_id",), ("id",))
"""What may say which item was judged, the likeliest first."""
VALUES: Final = ("rating", "relevance", "verdict", "answer", "value", "score", "grade", "label")
FALLBACK: Final = "rank"
"""What a judge said where nothing else does."""
APART: Final = "\x1f"
MOST_JUDGES, MOST_CELLS = 2_000, 50_000_000


@dataclass(frozen=True)
class Layout:
    """Where a file says who judged what: its columns, or which way a matrix lies."""

    items: tuple[str, ...] = ()
    value: str | None = None
    judge: str | None = None
    by: str | None = None
    matrix: Judges | None = None
    header: bool | None = None


@click.command(epilog=example("basanite judge agreement ratings.csv --draws 200"))
@click.argument("file", type=PATH)
@click.option(
    "--item", "items", multiple=True, help="A column that names what was judged. Can be repeated. [default: detected]"
)
@click.option("--value", help="The column with the rating. [default: detected]")
@click.option("--judge", help="The column that names the judge. [default: detected]")
@click.option("--by", help="A column of groups, such as panel, to be measured separately.")
@click.option(
    "--matrix",
    type=click.Choice(["columns", "rows"]),
    help="FILE is a matrix of ratings, and judges are its columns or its rows.",
)
@click.option("--header/--no-header", default=None, help="Whether the matrix has a header. [default: detected]")
@click.option("--scale", type=click.Choice(SCALES), help="Compute alpha at this level only. [default: all that apply]")
@click.option(
    "--draws",
    "--resamples",
    type=click.IntRange(1, 100_000),
    default=1000,
    show_default=True,
    help="Number of resamples for intervals.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the resamples.")
@as_json
@gather_options(Layout, "layout")
def agreement(file: Path, layout: Layout, scale: Scale | None, draws: int, seed: int, as_json: bool) -> None:
    """Measure the agreement of judges: FILE has a line for each judgment (columns judge, item and rating, for example).

    With --matrix, FILE is a plain matrix of ratings. Alpha, kappa, Kendall's W and intraclass correlations, each with a
    confidence interval by resampling items; an undefined value comes with the reason.
    """
    read = _matrix if layout.matrix is not None else _groups
    groups = run_or_exit(lambda: read(file, layout), json=as_json)
    found = {name: agreement_of(said, scale=scale, draws=draws, seed=seed) for name, said in groups.items()}
    show_report(_report(found, file.name), json=as_json)


def _matrix(file: Path, layout: Layout) -> dict[str, list[Said]]:
    """The ratings in a matrix, as one group."""
    named = (layout.items, layout.value, layout.judge, layout.by)
    if any(named) or layout.matrix is None:
        raise SettingError("--matrix goes without --item, --value, --judge and --by: a matrix has no such columns.")
    findings = Findings()
    ratings = read_matrix(file, layout.matrix, TABLE, findings, header=layout.header)
    groups = {"": [Said(one.judge, one.item, one.value) for one in ratings]} if ratings else {}
    _check_size(file.name, groups, findings)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return groups


def _groups(file: Path, layout: Layout) -> dict[str, list[Said]]:
    """The judgements of each group; without groups, all of them under one empty name."""
    if layout.header is not None:
        raise SettingError("--header and --no-header go with --matrix: any other table has a header.")
    if looks_like_matrix(file, TABLE):
        raise SettingError(
            f"{file.name} looks like a matrix of ratings without a header. Say whether judges are its columns "
            "(--matrix columns) or its rows (--matrix rows)."
        )
    findings = Findings()
    records = read_records(file, TABLE, findings)
    if records is None or not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    items, value, judge = _columns(records, layout)
    groups: dict[str, list[Said]] = {}
    for group, said in _judgements(records, (judge, *items), value, layout.by, findings):
        groups.setdefault(group, []).append(said)
    _check_size(records.file, groups, findings)
    if not findings.valid:
        raise InvalidInputError(JUDGING, plain_findings(findings))
    return dict(sorted(groups.items()))


def _columns(records: Records, layout: Layout) -> tuple[tuple[str, ...], str, str]:
    """The columns that say what was judged, what was said and who said it; named ones must be there."""
    there = records.columns
    for name in (*layout.items, *filter(None, (layout.value, layout.judge, layout.by))):
        if name not in there:
            raise SettingError(f"{records.file} has no column {name!r}. It has: {', '.join(there)}.")
    judge = layout.judge or _only(records, JUDGES, "judge", ())
    what = layout.items or next((names for names in ITEMS if all(name in there for name in names)), ())
    if not what:
        raise SettingError(f"Name a column of {records.file} with --item. It has: {', '.join(there)}.")
    taken = (judge, *what, *filter(None, (layout.by,)))
    return what, layout.value or _only(records, VALUES, "value", taken), judge


def _only(records: Records, names: Sequence[str], option: str, taken: Sequence[str]) -> str:
    """The one column that is called so; none, or several that could be meant, are refused (D-4)."""
    there = records.columns
    found = [name for name in names if name in there and name not in taken]
    if option == "value" and not found and FALLBACK in there:
        return FALLBACK
    if len(found) == 1:
        return found[0]
    if found:
        several = " and ".join(map(repr, found))
        raise SettingError(f"{records.file}: {several} could be meant. Name the column with --{option}.")
    raise SettingError(
        f"{records.file} has no column {names[0]!r}. It has: {', '.join(there)}. Name one with --{option}, or read a "
        "matrix with --matrix columns or --matrix rows."
    )


def _judgements(
    records: Records, named: tuple[str, ...], value: str, by: str | None, findings: Findings
) -> Iterator[tuple[str, Said]]:
    """Judgements with their groups; a line without a value is no judgement, a second one of the same is a problem."""
    seen: dict[tuple[str, ...], int] = {}
    for row, line in enumerate(records.lines):
        fields = {name: str(cell) for name, cell in records.fields(row).items() if cell is not None}
        if value not in fields:
            continue
        absent = [name for name in (*named, *filter(None, (by,))) if not fields.get(name, "").strip()]
        key = (fields.get(by or "", ""), *(fields.get(name, "") for name in named))
        if absent:
            fix = "write who judged what in every line"
            findings.add(TABLE.problem(records.file, line, f"no {' and no '.join(absent)}", fix))
        elif seen.setdefault(key, line) != line:
            told = f"this judge already judged this item on line {seen[key]}"
            findings.add(TABLE.problem(records.file, line, told, "keep the one that counts", " ".join(key).strip()))
        else:
            yield key[0], Said(key[1], APART.join(key[2:]), fields[value].strip())


def _check_size(file: str, groups: Mapping[str, Sequence[Said]], findings: Findings) -> None:
    if not groups and findings.valid:
        findings.add(TABLE.problem(file, None, "there is no judgment in it", "give a line for each"))
    for said in groups.values():
        judges, items = len({one.judge for one in said}), len({one.item for one in said})
        if judges > MOST_JUDGES or judges * items > MOST_CELLS:
            fix = f"give at most {MOST_JUDGES} judges and {MOST_CELLS} pairs of judge and item at once"
            findings.add(TABLE.problem(file, None, f"{judges} judges and {items} items", fix))


def _report(found: Mapping[str, Agreement], name: str) -> Report:
    parts = [part for group, one in found.items() for part in _sections(group, one)]
    data = {"format": AGREEMENT_FORMAT, "file": name, "groups": {group: _data(one) for group, one in found.items()}}
    return Report(
        title="Agreement of judges",
        subtitle=name,
        sections=sections_with_content(*parts),
        facts=(),
        data={key: plain_values(value) for key, value in data.items()},
        sentences=tuple(_sentence(group, one) for group, one in found.items()),
    )


def _sentence(group: str, one: Agreement) -> str:
    levels = [name for name in one.figures if name.startswith("alpha")]
    level = "alpha, interval" if "alpha, interval" in levels else levels[0]
    size = f"{plural('judgment', one.judgements)} of {plural('item', one.items)} by {plural('judge', one.judges)}"
    value = one.figures[level]
    told = f"{value.value:.4g}" if value.is_defined else f"undefined ({value.reason})"
    return f"{group + ': ' if group else ''}{size}; {level.replace(', ', ' (')}) is {told}."


def _sections(group: str, one: Agreement) -> Iterator[Section]:
    title = f" of {group}" if group else ""
    figures = [(name, *_cells(value)) for name, value in one.figures.items()]
    yield Section(f"Agreement{title}", "", (Table("Agreement", ("Figure", *CELLS), figures),))
    pairs = [(*names, *_cells(value)) for names, value in one.pairs.items()]
    if pairs:
        yield Section(f"Kappa of pairs{title}", "", (Table("Kappa", ("Judge", "Other judge", *CELLS), pairs),))
    rows = [(name, it.items, it.bias, it.spread, it.distance) for name, it in one.by_judge.items()]
    if rows:
        columns = ("Judge", "Items shared", "Bias", "Spread", "Distance")
        yield Section(f"Judges{title}", "", (Table("Judges", columns, rows),))


CELLS: Final = ("Value", "Low", "High", "Remarks")


def _cells(found: Estimate) -> tuple[float | None, float | None, float | None, str]:
    return (found.value if found.is_defined else None), found.low, found.high, found.reason


def _data(one: Agreement) -> dict[str, Any]:
    # Figures by their names as they stand in JSON: `icc_a_k`, `kendalls_w`.
    keys = {name: re.sub(r"[^a-z0-9]+", "_", name.lower().replace("'", "")).strip("_") for name in one.figures}
    return {
        "items": one.items,
        "judges": one.judges,
        "judgements": one.judgements,
        "numeric": one.numeric,
        "figures": {keys[name]: _estimate(value) for name, value in one.figures.items()},
        "pairs": [{"first": a, "second": b, "kappa": _estimate(value)} for (a, b), value in one.pairs.items()],
        "by_judge": [
            {"judge": name, "items": it.items, "bias": it.bias, "spread": it.spread, "distance": it.distance}
            for name, it in one.by_judge.items()
        ],
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    """An undefined value is null, with the reason beside it."""
    value = found.value if found.is_defined else None
    return {"value": value, "low": found.low, "high": found.high, "reason": found.reason}
