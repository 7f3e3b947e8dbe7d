"""What every report is made of, whatever it is shown on: headlines, sections of figures, facts, and the data behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from basanite.figures import Figure, Table
from basanite.kernel import Direction

LONG_COLUMNS = ("system", "metric", "factor", "level", "value", "low", "high", "units", "undefined", "flags", "method")
Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Headline:
    """The primary value of one system, the first thing a reader sees: the number, its range, what stands behind it."""

    label: str
    metric: str
    value: float
    low: float | None
    high: float | None
    units: int
    unit: str
    level: float
    best: Direction = "high"
    remarks: tuple[str, ...] = ()
    group: int | None = None
    """Which group of a comparison the system is in, counted from 1 for the best."""


@dataclass(frozen=True)
class Section:
    """A titled part of a report: a leading sentence, then figures."""

    title: str
    lead: str = ""
    figures: tuple[Figure, ...] = ()
    detail: bool = False
    """Whether it may be left out where there is little room (a terminal)."""


@dataclass(frozen=True)
class Report:
    """One report for all outputs: `data` is the JSON object, `records` the long table of CSV and Parquet."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    facts: Facts
    data: Mapping[str, Any]
    records: Table = field(default=Table("Records", (), ()))
    headlines: tuple[Headline, ...] = ()
    sentences: tuple[str, ...] = ()
    """What the report says in words, the most important first."""
    flags: tuple[str, ...] = ()
    """What puts values in doubt: it stands before everything else, also on the first slide."""


def facts_table(facts: Facts, title: str = "Settings, versions and digests") -> Table:
    """Facts as a table for the end of a report."""
    return Table(title, ("Setting", "Value"), facts)


def filled(*sections: Section) -> tuple[Section, ...]:
    """The sections that have something to show."""
    return tuple(section for section in sections if section.figures)


def tidy(table: Table) -> Table:
    """The table without columns that say nothing: no remarks, no method, nothing undefined or relevant."""
    silent = {"Remarks": "", "Undefined": 0, "Relevant": None, "Method": ""}
    kept = [
        at
        for at, column in enumerate(table.columns)
        if column not in silent or any(row[at] != silent[column] for row in table.rows)
    ]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[at] for at in kept), rows=rows)
