"""A metric worked out on one unit, step by step: what an explanation gets and what it gives back (T-27).

A task names its explanations by metric (`Task.explanations`); a metric of a plug-in brings its own (`Metric.explain`).
Both are a function of a `Case` that gives a `Worked`. Its value must be that of the metric on this unit: who asks
for it checks that, so that no explanation tells of another formula than the one that scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from basanite.figures import Cell, Step, Table, Worked
from basanite.kernel import Metric

__all__ = ["Case", "Explain", "Step", "Worked", "division", "short", "shown_rows"]

MOST_ROWS: Final = 60
"""Rows of a table of n-grams and the like that are shown."""


@dataclass(frozen=True)
class Case:
    """One unit of one system, with everything that its value is made of."""

    unit: str
    at: int
    """The place of the unit among the pairs of the run, or among its rows."""
    metric: Metric
    """With the settings of the run."""
    row: Mapping[str, float]
    """What the unit contributes to the metric, by column."""
    settings: Mapping[str, Any]
    run: Any
    """The run as the task opened it."""
    pairs: Any = None
    """The references and answers of all units (`items.Pairs`), for tasks whose submission is one file of items."""
    signature: str = ""
    """How exactly the metric is computed in this run, as the result says it."""
    inputs: Any = None
    """The files of the run (`tasks.Inputs`)."""

    @property
    def reference(self) -> Any:
        """What the reference says of the unit."""
        return self.pairs.references[self.at]

    @property
    def answer(self) -> Any:
        """What the system answered."""
        return self.pairs.answers[self.at]


Explain: TypeAlias = Callable[[Case], Worked]


def short(value: float) -> str:
    """A number as formulas show it: four digits behind the point at most.

    >>> short(0.5), short(2.0), short(1 / 3), short(1e-7), short(-0.25)
    ('0.5', '2', '0.3333', '1e-07', '−0.25')
    """
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    if text in ("0", "-0") and value:
        text = f"{value:.4g}"
    return ("0" if text == "-0" else text).replace("-", "−", 1) if not text.startswith("1e") else text


def division(top: float, bottom: float) -> str:
    """A division with its result: `3 / 4 = 0.75`; what divides by nothing is undefined."""
    return f"{short(top)} / {short(bottom)} = {short(top / bottom) if bottom else 'undefined'}"


def shown_rows(title: str, columns: Iterable[str], rows: Iterable[tuple[Cell, ...]]) -> Table:
    """A table of the first rows, which says how many more there are."""
    every = list(rows)
    left = len(every) - MOST_ROWS
    note = f"… and {left:,} more" if left > 0 else ""
    return Table(title, tuple(columns), tuple(every[:MOST_ROWS]), note)
