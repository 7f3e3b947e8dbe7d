"""A metric worked out on one unit, as a report: text, page and JSON (T-27)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Figure, Step, Table, Text, Worked
from basanite.kernel import Metric
from basanite.reports.report import Report, Section, facts_table
from basanite.reports.wording import number


@dataclass(frozen=True)
class Explained:
    """A metric worked out on one unit of one system."""

    task: str
    metric: Metric
    system: str
    unit: str
    unit_name: str
    worked: Worked
    signature: str
    digests: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        """The same as an object of JSON."""
        steps = [
            {
                "title": step.title,
                "sentences": list(step.sentences),
                "formula": step.formula,
                "table": _table_object(step.table),
            }
            for step in self.worked.steps
        ]
        found = {
            "task": self.task,
            "metric": self.metric.name,
            "system": self.system,
            "unit": self.unit,
            "value": self.worked.value,
            "steps": steps,
            "signature": self.signature,
            "digests": dict(self.digests),
        }
        infinite = {"infinite": "+" if self.worked.value > 0 else "-"} if math.isinf(self.worked.value) else {}
        return {name: plain_values(value) for name, value in {**found, **infinite}.items()}


def _table_object(table: Table | None) -> dict[str, Any] | None:
    if table is None:
        return None
    return {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}


def explanation_section(explained: Explained) -> Section:
    """All steps as one section of a report."""
    title = f"Worked example: {explained.metric.display_name} of {explained.unit_name} {explained.unit}"
    figures = (figure for name, step in _numbered_steps(explained) for figure in _figures(name, step))
    return Section(title, _result(explained), tuple(figures))


def explanation_report(explained: Explained) -> Report:
    """The explanation alone, ready for any output."""
    name = explained.metric.display_name
    facts = (
        ("Task", explained.task),
        ("Metric", f"{name}: {explained.metric.summary}"),
        ("Source", explained.metric.citation),
        *((("Signature", explained.signature),) if explained.signature else ()),
        *((f"Digest of {side}", digest) for side, digest in sorted(explained.digests.items())),
        ("Software", f"Basanite {__version__}"),
    )
    steps = [Section(name, "", _figures(name, step)) for name, step in _numbered_steps(explained)]
    return Report(
        title=f"{name} of {explained.unit_name} {explained.unit}",
        subtitle=f"{explained.system} on {explained.task}, explained step by step",
        sections=(*steps, Section("How this was computed", "", (facts_table(facts),), detail=True)),
        facts=facts,
        data=explained.as_dict(),
        sentences=(_result(explained),),
    )


def _result(explained: Explained) -> str:
    value = explained.worked.value
    shown = "undefined" if value != value else number(value)
    return f"{explained.metric.display_name} of {explained.unit_name} {explained.unit} is {shown}."


def _numbered_steps(explained: Explained) -> Iterator[tuple[str, Step]]:
    """The steps, each with its number and title."""
    yield from ((f"{at}. {step.title}", step) for at, step in enumerate(explained.worked.steps, start=1))


def _figures(name: str, step: Step) -> tuple[Figure, ...]:
    lines = (*step.sentences, *((step.formula,) if step.formula else ()))
    text = (Text(name, lines),) if lines else ()
    return (*text, *((step.table,) if step.table is not None else ()))
