"""Misses and false alarms as a terminal shows them and `explore --json` prints them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from basanite.analysis.mistakes import FALSE_ALARM, MISS, Mistakes, Places, level_counts
from basanite.canonical import plain_values
from basanite.figures import Table, Text
from basanite.reports.report import Report, Section, sections_with_content
from basanite.reports.wording import percent, plural

ERRORS_FORMAT = "basanite-errors/1"
OUTCOMES = (MISS, FALSE_ALARM)
COUNTED_LEVELS = 60
"""A factor with more levels than this (free text) is left out of the tables of counts."""
UNKNOWN = "not known"
KINDS_NOTE = (
    "Share: of all false alarms whose kind is known. Rate: false alarms among the non-targets of this kind, over all "
    "queries. Conversational speech (CS) has no domain and is left out."
)


def errors_report(mistakes: Mistakes, listed: Places) -> Report:
    """The mistakes as a report: counts for people, and rows too for programs."""
    return Report(
        title=mistakes.system,
        subtitle=f"Misses and false alarms on {mistakes.task}",
        sections=sections_with_content(
            Section("Kinds of false alarm", "", kinds_table(mistakes)),
            Section("Counts", "", tuple(count_tables(mistakes))),
            Section("Notes", "", (Text("Notes", mistakes.notes),) if mistakes.notes else ()),
        ),
        facts=(),
        data=errors_object(mistakes, listed),
        sentences=tuple(sentences(mistakes, listed)),
    )


def errors_object(mistakes: Mistakes, listed: Places) -> dict[str, Any]:
    """The object that `explore --json` prints."""
    data = {
        "format": ERRORS_FORMAT,
        "task": mistakes.task,
        "counts": {MISS: mistakes.misses, FALSE_ALARM: mistakes.false_alarms},
        "by_factor": level_counts(mistakes),
        "non_targets": {
            one.kind: {
                "false_alarms": one.false_alarms,
                "documents": one.documents,
                "share": one.share,
                "rate": one.rate,
            }
            for one in mistakes.non_targets
        },
        "rows": list(row_objects(mistakes, listed)),
        "listed": len(listed),
        "total": len(mistakes),
        "settings": dict(mistakes.settings),
        "digests": dict(mistakes.digests),
        "notes": list(mistakes.notes),
    }
    return {key: plain_values(value) for key, value in data.items()}


def row_objects(mistakes: Mistakes, listed: Places) -> Iterator[dict[str, Any]]:
    """The listed mistakes one by one, the worst first."""
    factors = mistakes.factors()
    for at in listed.tolist():
        query = mistakes.queries[mistakes.query[at]]
        row: dict[str, Any] = {
            "outcome": OUTCOMES[int(not mistakes.missed[at])],
            "confidence": float(mistakes.confidence[at]),
            "query": query,
            "document": mistakes.documents[mistakes.document[at]],
            "factors": {name: str(levels[at]) for name, levels in factors.items()},
        }
        if mistakes.kinds:
            row["non_target"] = mistakes.kinds[mistakes.kind[at]] if mistakes.kind[at] >= 0 else None
        yield row | ({"string": mistakes.strings[query]} if query in mistakes.strings else {})


def sentences(mistakes: Mistakes, listed: Places) -> Iterator[str]:
    """How many mistakes there are, and what was left out."""
    both = (plural(MISS, mistakes.misses), plural(FALSE_ALARM, mistakes.false_alarms))
    yield f"{both[0]} and {both[1]} over {plural('query', len(mistakes.queries))}."
    if len(listed) < len(mistakes):
        missed = int(np.count_nonzero(mistakes.missed[listed]))
        yield (
            f"Listed are the {len(listed):,} worst: {missed:,} of {both[0]} (lowest confidence first) and "
            f"{len(listed) - missed:,} of {both[1]} (highest first). Raise --most to list more."
        )
    unknown = mistakes.false_alarms - sum(one.false_alarms for one in mistakes.non_targets)
    if mistakes.kinds and unknown:
        yield f"The kind of {plural(FALSE_ALARM, unknown)} is not known: no annotation, or conversational speech."


def kinds_table(mistakes: Mistakes) -> tuple[Table, ...]:
    """False alarms by kind of non-target, where annotations tell (M86)."""
    rows = tuple(
        (one.kind, one.false_alarms, _percent(one.share), one.documents, _percent(one.rate))
        for one in mistakes.non_targets
    )
    columns = ("Kind", "False alarms", "Share", "Non-targets", "Rate")
    return (Table("False alarms by kind of non-target", columns, rows, KINDS_NOTE),) if rows else ()


def count_tables(mistakes: Mistakes) -> Iterator[Table]:
    """All mistakes by level of each factor, listed or not."""
    for factor, levels in level_counts(mistakes).items():
        if len(levels) <= COUNTED_LEVELS:
            rows = tuple((name or UNKNOWN, count[MISS], count[FALSE_ALARM]) for name, count in levels.items())
            yield Table(f"Mistakes by {factor}", (factor, "Misses", "False alarms"), rows)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else percent(float(f"{share:.3g}"))
