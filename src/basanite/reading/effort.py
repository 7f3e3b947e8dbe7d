"""What preparing a use case, or adapting a system to it, cost in time and annotation (R-22, R-45).

The log only grows: a line is added at its end and none is ever rewritten. A mistake is fixed by a line with negative
numbers and a note that says why.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from basanite.errors import SettingError
from basanite.problems import Findings
from basanite.reading.package.ndjson import LineFaults, records
from basanite.registry import suggestion

FILE: Final = "effort.ndjson"
RULE: Final = "R-22"
MOST: Final = 10**9
"""More than this is no number of minutes, documents or annotations."""
ACTIVITIES: Final = (
    *("corpus", "ontology", "rules", "queries", "guidelines"),
    *("annotation", "adjudication", "tooling", "other"),
)
KEYS: Final = frozenset(
    {
        *("use_case", "activity", "minutes", "date", "person", "documents", "annotations", "note"),
        *("system", "run", "rules", "examples"),
    }
)


@dataclass(frozen=True)
class Effort:
    """Some work on a use case: what, when, how long, and how much came of it."""

    use_case: str
    activity: str
    minutes: float
    date: str
    person: str = ""
    documents: int = 0
    annotations: int = 0
    note: str = ""
    system: str = ""
    """The system that was adapted, where the work was on one."""
    run: str = ""
    """The run that the work led to, by the name of its file of answers."""
    rules: int = 0
    """Rules or patterns written for it in that time."""
    examples: int = 0
    """Annotated examples that it took in that time."""


@dataclass(frozen=True)
class EffortSum:
    """All work of one kind on one use case."""

    use_case: str
    activity: str
    minutes: float
    documents: int
    annotations: int
    entries: int

    @property
    def minutes_per_annotation(self) -> float:
        """How long one annotation took; nan if there was none.

        >>> EffortSum("nfl", "annotation", 90, 3, 60, 1).minutes_per_annotation
        1.5
        """
        return self.minutes / self.annotations if self.annotations else math.nan


def read_effort(path: Path, findings: Findings) -> list[Effort]:
    """The log of a package; lines that cannot be read are reported and left out."""
    faults = LineFaults(path.name, RULE, findings)
    return [effort for number, record in records(path, faults) for effort in _effort(number, record, faults)]


def add_effort(path: Path, effort: Effort) -> None:
    """Add a line at the end of the log; nothing that stands there is touched."""
    findings = Findings()
    kept = {name: value for name, value in asdict(effort).items() if value not in ("", 0) or name == "minutes"}
    if not list(_effort(1, kept, LineFaults(path.name, RULE, findings))):
        raise SettingError(" ".join(f"{problem.message}: {problem.fix.removesuffix('.')}." for problem in findings))
    line = json.dumps(kept, ensure_ascii=False, sort_keys=True).encode() + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line if _ends_a_line(path) else b"\n" + line)
    finally:
        os.close(handle)


def effort_sums(log: Iterable[Effort]) -> list[EffortSum]:
    """What each kind of work on each use case came to, by use case and then in the order of activities."""
    groups: dict[tuple[str, str], list[Effort]] = {}
    for effort in log:
        groups.setdefault((effort.use_case, effort.activity), []).append(effort)
    ordered = sorted(groups, key=lambda key: (key[0], ACTIVITIES.index(key[1])))
    sums = []
    for key, group in ((key, groups[key]) for key in ordered):
        minutes = math.fsum(effort.minutes for effort in group)
        documents, annotations = sum(e.documents for e in group), sum(e.annotations for e in group)
        sums.append(EffortSum(*key, minutes, documents, annotations, len(group)))
    return sums


def _effort(number: int, record: Mapping[str, Any], faults: LineFaults) -> Iterator[Effort]:
    before = faults.findings.counts.total()
    faults.unknown_keys(number, record, KEYS)
    texts = {key: faults.text(number, record, key) for key in ("use_case", "activity", "date")}
    more = {key: faults.text(number, record, key, needed=False) for key in ("person", "note", "system", "run")}
    counted = ("documents", "annotations", "rules", "examples")
    numbers = {key: _number(number, record, key, faults) for key in ("minutes", *counted)}
    if texts["activity"] and texts["activity"] not in ACTIVITIES:
        near = suggestion(texts["activity"], ACTIVITIES)
        faults.add(number, f"the activity {texts['activity'][:60]!r} is not known", near, found=texts["activity"])
    if texts["date"] and not _is_date(texts["date"]):
        faults.add(number, f"{texts['date'][:40]!r} is not a date", "write it as 2026-01-31", found=texts["date"])
    if min(numbers.values()) < 0 and not more["note"]:
        faults.add(number, "negative numbers without a note", "say in `note` which mistake they correct")
    if faults.findings.counts.total() == before:
        yield Effort(
            texts["use_case"],
            texts["activity"],
            numbers["minutes"],
            texts["date"],
            more["person"],
            int(numbers["documents"]),
            int(numbers["annotations"]),
            more["note"],
            more["system"],
            more["run"],
            int(numbers["rules"]),
            int(numbers["examples"]),
        )


def _number(number: int, record: Mapping[str, Any], key: str, faults: LineFaults) -> float:
    value = record.get(key, None if key == "minutes" else 0)
    kind = int | float if key == "minutes" else int
    if isinstance(value, kind) and not isinstance(value, bool) and abs(value) <= MOST:
        return value
    faults.add(
        number, f"{key!r} is no {'number' if key == 'minutes' else 'count'}", f'write "{key}": 30', found=repr(value)
    )
    return 0


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        return size == 0 or file.read(1) == b"\n"
