"""The tables of measured coverage on their page, from the files that the simulations write (S-23, S-25).

`python -m tools.website.coverage` puts the tables between the two marks of the page; a test tells when page and files
differ. A share of intervals whose 99 % Monte Carlo interval lies outside the goal is bold where intervals are too
narrow and italic where they are too wide; a share of false alarms beyond its goal by more than chance explains is bold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from basanite.analysis.interval_methods import exact_bounds
from tools.website.writing import code, page, table

ROOT = Path(__file__).resolve().parents[2]
RECORD, ALARMS = Path("benchmarks/results/coverage.json"), Path("benchmarks/results/false_alarms.json")
PAGE = Path("docs/explanation/coverage.md")
BEGIN, END = "<!-- made by python -m tools.website.coverage -->", "<!-- end -->"
LOUD, STANDARD_ERRORS = 0.02, 2
"""A test is too loud where its error rate is above its level by more than this share plus these standard errors."""

UNMEASURED = ("coreference", "dependencies", "tagging")
"""Families whose simulations have not been run yet: the page says so, and S-25 stays open for them."""
ELSEWHERE = ("judged",)
"""Measured by a simulation of its own, with people and judges: `benchmarks/results/judged.json`."""

Line = Mapping[str, Any]
Record = Mapping[str, Any]
Cell = tuple[int, bool]


def written(text: str, record: Record, alarms: Record) -> str:
    """The page with the tables of these records between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(record, alarms)}{END}{after}"


def tables(record: Record, alarms: Record) -> str:
    """How it was measured, how many meet the goal, then a table for each family of metrics."""
    families = {family: list(lines) for family, lines in groupby(record["lines"], lambda line: line["family"])}
    parts = [page(f"### {family.capitalize()}", _table(lines, record, alarms)) for family, lines in families.items()]
    return "\n" + page(_measured(record), _missed(record), *(part.rstrip() for part in parts)) + "\n"


def miss(line: Line, record: Record) -> str:
    """`narrow` or `wide` if the Monte Carlo interval of a share lies outside the goal; exact intervals may be wide.

    >>> record = {"goal": [0.93, 0.97], "sure": 0.99}
    >>> [miss({"coverage": share, "intervals": 1000, "method": "wilson"}, record) for share in (0.90, 0.92, 0.99)]
    ['narrow', '', 'wide']
    """
    if line["coverage"] is None:
        return ""
    low, high = exact_bounds(line["coverage"], line["intervals"], record["sure"])
    if high < record["goal"][0]:
        return "narrow"
    return "wide" if low > record["goal"][1] and line["method"] != "exact" else ""


def loud(line: Line, alarms: Record) -> bool:
    """Whether a test raises more false alarms than it says, beyond the simulation's own error."""
    alpha = alarms["alpha"]
    room = LOUD + STANDARD_ERRORS * float((alpha * (1 - alpha) / line["campaigns"]) ** 0.5)
    return bool(line["false_alarms"] > alpha + room)


def _measured(record: Record) -> str:
    """What was simulated, in one sentence."""
    metrics = len({(line["family"], line["metric"]) for line in record["lines"]})
    return (
        f"Measured for {metrics} metrics, with {record['campaigns']:,} simulated evaluations of each size, by "
        f"intervals at {record['level'] * 100:g}%. A file scored by the default settings is one evaluation."
    )


def _missed(record: Record) -> str:
    """How many cells miss the goal, size by size."""
    shown = []
    for cell in _cells(record["lines"]):
        found = [miss(line, record) for line in record["lines"] if _cell(line) == cell]
        shown.append(f"{_size(cell)}: {found.count('narrow')} too narrow, {found.count('wide')} too wide")
    return "; ".join(shown).capitalize() + "."


def _cell(line: Line) -> Cell:
    return line["units"], line["clusters"]


def _cells(lines: list[Line]) -> list[Cell]:
    return sorted({_cell(line) for line in lines}, key=lambda cell: (cell[1], cell[0]))


def _size(cell: Cell) -> str:
    return f"{cell[0]} clusters" if cell[1] else f"{cell[0]} units"


def _table(lines: list[Line], record: Record, alarms: Record) -> str:
    cells = _cells(record["lines"])
    covered = [f"coverage: {_size(cell)}" if cell == cells[0] else _size(cell) for cell in cells]
    sizes = [size for size, clustered in cells if not clustered]
    quiet = [f"false alarms: {size}" if size == sizes[0] else str(size) for size in sizes]
    heads = ["in percent", "method", *covered, f"no interval: {_size(cells[0])}", *quiet]
    return table(heads, _rows(lines, cells, record, alarms))


def _rows(lines: list[Line], cells: list[Cell], record: Record, alarms: Record) -> Iterator[list[str]]:
    known = {(one["family"], one["metric"], one["units"]): one for one in alarms["lines"]}
    for name, group in groupby(sorted(lines, key=lambda line: str(line["metric"])), lambda line: line["metric"]):
        at = {_cell(line): line for line in group}
        family = next(iter(at.values()))["family"]
        methods = sorted({line["method"] for line in at.values()} - {""})
        quiet = [_alarm(known.get((family, name, size)), alarms) for size, clustered in cells if not clustered]
        first = at.get(cells[0])
        none = _percent(None if first is None else 1 - first["intervals"] / first["campaigns"])
        shares = [_share(at.get(cell), record) for cell in cells]
        yield [code(name), " or ".join(methods), *shares, none, *quiet]


def _share(line: Line | None, record: Record) -> str:
    """A share, marked where it misses the goal."""
    if line is None:
        return _percent(None)
    mark = {"narrow": "**", "wide": "*", "": ""}[miss(line, record)]
    return f"{mark}{_percent(line['coverage'])}{mark}"


def _alarm(line: Line | None, alarms: Record) -> str:
    if line is None:
        return _percent(None)
    mark = "**" if loud(line, alarms) else ""
    return f"{mark}{_percent(line['false_alarms'])}{mark}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def records(root: Path = ROOT) -> tuple[Record, Record]:
    """What was measured of intervals and of tests."""
    first, second = (json.loads((root / place).read_text(encoding="utf-8")) for place in (RECORD, ALARMS))
    return first, second


def main(root: Path = ROOT) -> None:
    """Bring the page up to date."""
    place = root / PAGE
    place.write_text(written(place.read_text(encoding="utf-8"), *records(root)), encoding="utf-8")
    print(f"{PAGE} holds the figures of {RECORD} and {ALARMS}.")


if __name__ == "__main__":
    main()
