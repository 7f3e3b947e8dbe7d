"""The table of measured coverage on its page, from the file that the simulation writes (S-23).

`python -m tools.website.coverage` puts the tables between the two marks of the page; a test tells when page and file
differ. What lies outside the goal by more than chance explains is bold where it misleads (an interval too narrow, a
test too loud) and italic where it is merely cautious.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from tools.website.writing import code, page, table

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path("benchmarks/results/coverage.json")
PAGE = Path("docs/explanation/coverage.md")
BEGIN, END = "<!-- made by python -m tools.website.coverage -->", "<!-- end -->"
GOAL, GOAL_FROM = 0.02, 30
"""Within two points of what was promised, from thirty units on."""
STANDARD_ERRORS = 2
"""How many standard errors of the simulation a share may lie beyond the goal before it counts as a miss."""
NOMINAL = {"coverage": "level", "false_alarms": "alpha"}

Line = Mapping[str, Any]
Record = Mapping[str, Any]


def written(text: str, record: Record) -> str:
    """The page with the tables of this record between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(record)}{END}{after}"


def tables(record: Record) -> str:
    """How it was measured, how many meet the goal, then a table for each family of metrics."""
    families = {family: list(lines) for family, lines in groupby(record["lines"], lambda line: line["family"])}
    parts = [page(f"### {family.capitalize()}", _table(lines, record)) for family, lines in families.items()]
    start = (_measured(record), _missed(record), _summary(families, record))
    return "\n" + page(*start, *(part.rstrip() for part in parts)) + "\n"


def excess(line: Line, key: str, record: Record) -> float:
    """How far a share lies below (-) or above (+) the goal, beyond the simulation's own error; 0 where it meets it.

    >>> record = {"campaigns": 1000, "level": 0.95, "alpha": 0.05}
    >>> shares = {"coverage": 0.90, "no_interval": 0.0, "false_alarms": 0.06}
    >>> round(excess(shares, "coverage", record), 4), excess(shares, "false_alarms", record)
    (-0.0162, 0.0)
    """
    if line[key] is None:
        return 0.0
    campaigns, nominal = line.get("campaigns", record["campaigns"]), record[NOMINAL[key]]
    trials = campaigns * (1 - line["no_interval"]) if key == "coverage" else campaigns
    room = GOAL + STANDARD_ERRORS * float((nominal * (1 - nominal) / trials) ** 0.5)
    off = float(line[key] - nominal)
    return min(0.0, off + room) + max(0.0, off - room)


def misleads(line: Line, key: str, record: Record) -> bool:
    """Whether an interval is too narrow, or a test too loud, for a size that the goal is about."""
    beyond = excess(line, key, record)
    return line["units"] >= GOAL_FROM and (beyond < 0 if key == "coverage" else beyond > 0)


def _measured(record: Record) -> str:
    """What was simulated, in one sentence.

    >>> _measured({"campaigns": 200, "interval": "bca", "level": 0.95, "alpha": 0.05, "lines": [{"metric": "f"}]})
    'Measured for 1 metric, with 200 or more simulated evaluations of each size: bca intervals at 95 %, tests at 5 %.'
    """
    metrics = len({(line.get("family"), line["metric"]) for line in record["lines"]})
    many = f"{metrics} metric{'s' if metrics != 1 else ''}"
    return (
        f"Measured for {many}, with {record['campaigns']} or more simulated evaluations of each size: "
        f"{record['interval']} intervals at {record['level'] * 100:g} %, tests at {record['alpha'] * 100:g} %."
    )


def _missed(record: Record) -> str:
    """How many metrics miss the goal in a way that misleads, size by size."""
    sizes = _goal_sizes(record)
    if not sizes:
        return ""
    counts = [
        [sum(misleads(line, key, record) for line in record["lines"] if line["units"] == size) for size in sizes]
        for key in NOMINAL
    ]
    narrow, loud = (", ".join(map(str, each)) for each in counts)
    said = ", ".join(map(str, sizes))
    return f"Too narrow are the intervals of {narrow} of them, and too loud the tests of {loud}, at {said} units."


def _goal_sizes(record: Record) -> list[int]:
    return sorted({line["units"] for line in record["lines"] if line["units"] >= GOAL_FROM})


def _summary(families: Mapping[str, list[Line]], record: Record) -> str:
    """For each family how many metrics meet the goal, and the lowest coverage; nothing for a few units alone."""
    sizes = _goal_sizes(record)
    heads = ["family", "metrics", *_heads("wide enough", sizes), *_heads("lowest held", sizes), "quiet enough"]
    rows = [[family, *_counts(lines, sizes, record)] for family, lines in families.items()] if sizes else []
    return table(heads, rows)


def _counts(lines: list[Line], sizes: list[int], record: Record) -> Iterator[str]:
    metrics = {line["metric"] for line in lines}
    at = {size: [line for line in lines if line["units"] == size] for size in sizes}
    loud = {line["metric"] for line in lines if misleads(line, "false_alarms", record)}
    yield str(len(metrics))
    yield from (str(sum(not misleads(line, "coverage", record) for line in at[size])) for size in sizes)
    yield from (_percent(min((one["coverage"] for one in at[size] if one["coverage"]), default=None)) for size in sizes)
    yield str(len(metrics - loud))


def _table(lines: list[Line], record: Record) -> str:
    sizes = sorted({line["units"] for line in lines})
    heads = ["in percent", *_heads("held", sizes), *_heads("false alarms", sizes), *_heads("no interval", sizes[:1])]
    return table(heads, _rows(lines, sizes, record))


def _heads(what: str, sizes: list[int]) -> Iterator[str]:
    yield from (f"{what}: {size}" if size == sizes[0] else str(size) for size in sizes)


def _rows(lines: Iterable[Line], sizes: list[int], record: Record) -> Iterator[list[str]]:
    ordered = sorted(lines, key=lambda line: (line["metric"], line["units"]))
    for name, group in groupby(ordered, lambda line: line["metric"]):
        at = {line["units"]: line for line in group}
        shares = [_share(at, size, key, record) for key in NOMINAL for size in sizes]
        yield [code(name), *shares, _percent(at.get(sizes[0], {}).get("no_interval"))]


def _share(at: Mapping[int, Line], size: int, key: str, record: Record) -> str:
    """A share, marked where it misses the goal."""
    line = at.get(size)
    if line is None:
        return _percent(None)
    mark = "**" if misleads(line, key, record) else "*" if size >= GOAL_FROM and excess(line, key, record) else ""
    return f"{mark}{_percent(line[key])}{mark}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def main(root: Path = ROOT) -> None:
    """Bring the page up to date."""
    record = json.loads((root / RECORD).read_text(encoding="utf-8"))
    place = root / PAGE
    place.write_text(written(place.read_text(encoding="utf-8"), record), encoding="utf-8")
    print(f"{PAGE} holds the figures of {RECORD}.")


if __name__ == "__main__":
    main()
