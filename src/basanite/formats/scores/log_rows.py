"""What readers of logs have in common: trials one by one become columns, and one of several scores is chosen."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from basanite.formats.records import Place
from basanite.formats.scores.plain_tables import LONGEST_CELL, cell_text
from basanite.formats.scores.trials import MEASURES, Trials
from basanite.problems import Findings, shortened

LETTERS: Final[Mapping[Any, float]] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Grades that programs write for correct, partly correct, incorrect and no answer."""
WORDS: Final[Mapping[str, float]] = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}
MOST_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class LoggedTrial:
    """One trial of a log, with all of its scores."""

    item: str
    scores: dict[str, Any]
    repeat: Any = 1
    system: str = ""
    measures: Mapping[str, float | None] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the item."""
    asked: str = ""
    """What the item asked, in its first characters or by a digest."""
    fault: str = ""
    """Why it has no score, if it has none."""
    line: int | None = None


@dataclass(frozen=True)
class LogAbout:
    """What a log says of the whole run."""

    file: str
    digest: str
    facts: Mapping[str, str] = field(default_factory=dict)
    expected: int | None = None
    unfinished: str = ""
    headline: str = ""
    """The score that the log itself puts first."""
    notes: tuple[str, ...] = ()


def parse_log(data: bytes) -> Any:
    """The value of a JSON text that a program wrote, `NaN` included; a `ValueError` where there is none."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def trials_of_log(
    rows: Sequence[LoggedTrial], about: LogAbout, place: Place, findings: Findings, *, score: str = ""
) -> Trials | None:
    """The trials of a log by one of its scores; None with a problem where there are none, or none of that name."""
    if not rows:
        findings.add(
            place.problem(about.file, None, "there is no trial in the log", "give the log of a run with samples")
        )
        return None
    names = list(dict.fromkeys(name for row in rows for name in row.scores))
    chosen = score or (about.headline if about.headline in names else next(iter(names), ""))
    if score and score not in names:
        message = f"no score is called {shortened(score)!r}; there are: {', '.join(names[:MOST_LISTED]) or 'none'}"
        findings.add(place.problem(about.file, None, message, "name one of them: score=NAME", score))
        return None
    items = {name: at for at, name in enumerate(dict.fromkeys(row.item for row in rows))}
    systems = {name: at for at, name in enumerate(dict.fromkeys(row.system for row in rows))}
    numbers = np.array([score_number(row.scores.get(chosen)) for row in rows])
    infinite = np.flatnonzero(np.isinf(numbers)).tolist()
    strange = [at for at in infinite if not isinstance(rows[at].scores.get(chosen), float)]
    for at in strange:
        found = rows[at].scores.get(chosen)
        message = f"the score of item {shortened(rows[at].item)!r} is not a number"
        fix = "choose a score that is one: score=NAME, for a part of a score score=NAME/PART"
        findings.add(place.problem(about.file, rows[at].line, message, fix, found))
    facts = dict(about.facts) | ({"scorer": chosen} if "scorer" not in about.facts else {})
    notes = list(about.notes)
    if len(names) > 1:
        others = ", ".join(name for name in names[: MOST_LISTED + 1] if name != chosen)
        notes.append(f"the score is {chosen}; the log also has {others} (score=NAME chooses)")
    return Trials(
        about.file,
        about.digest,
        tuple(systems),
        tuple(items),
        np.array([systems[row.system] for row in rows], np.int64),
        np.array([items[row.item] for row in rows], np.int64),
        numbers,
        [row.line for row in rows],
        [row.repeat for row in rows],
        {name: column for name in MEASURES if not np.isnan(column := _measure(rows, name)).all()},
        _columns(rows, items),
        facts,
        {at: why for at, row in enumerate(rows) if (why := row.fault or _other_scores(row, chosen))},
        {row.item: row.asked for row in rows if row.asked},
        tuple(notes),
        about.expected,
        about.unfinished,
    )


def _other_scores(row: LoggedTrial, chosen: str) -> str:
    """Why a trial has no score of this name, where it has others."""
    if chosen in row.scores or not row.scores:
        return ""
    return f"{chosen} is none of its scores: {', '.join(list(row.scores)[:MOST_LISTED])}"


def score_number(found: Any) -> float:
    """A score as a number: grades and truth values are 1, 0.5 and 0, nothing is nan; infinite for what is none.

    >>> [score_number(one) for one in ("C", "P", True, 0.25, None, "0.5", "great")]
    [1.0, 0.5, 1.0, 0.25, nan, 0.5, inf]
    """
    if found is None:
        return math.nan
    if isinstance(found, str):
        known = LETTERS.get(found, WORDS.get(found.strip().lower()))
        if known is not None:
            return known
    try:
        return float(found)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def _measure(rows: Sequence[LoggedTrial], name: str) -> Any:
    cells = (row.measures.get(name) for row in rows)
    return np.array([math.nan if not isinstance(cell, int | float) else float(cell) for cell in cells])


def _columns(rows: Sequence[LoggedTrial], items: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """What is known of each item in a few characters, under names that no trial of it contradicts."""
    names = dict.fromkeys(name for row in rows for name in row.about)
    columns: dict[str, list[str]] = {name: [""] * len(items) for name in names}
    for row in rows:
        for name, cell in row.about.items():
            cells = columns.get(name)
            if cells is None:
                continue
            text, at = cell_text(cell) if isinstance(cell, str | int | float | bool) else "", items[row.item]
            if len(text) > LONGEST_CELL or cells[at] not in ("", text) or isinstance(cell, list | dict):
                del columns[name]
            else:
                cells[at] = text
    return {name: tuple(cells) for name, cells in columns.items() if any(cells)}
