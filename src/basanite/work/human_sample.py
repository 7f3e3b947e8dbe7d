"""Which items people judge beside a model: drawn at random inside strata, with known chances (L-6).

Whole items are drawn: where several systems answered one, people judge all its answers, so that systems stay paired.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from basanite.errors import SettingError
from basanite.formats.records import Place, read_records
from basanite.problems import Findings
from basanite.registry import suggestion
from basanite.work.assignments import seeded_order

RULE: Final = "L-6"
PLAN: Final = Place("metadata", RULE)
COLUMNS: Final = ("id", "stratum", "probability", "drawn")
FEWEST_A_STRATUM: Final = 5
JOINT: Final = " · "


@dataclass(frozen=True)
class Drawn:
    """One item of a plan."""

    name: str
    stratum: str
    probability: float
    drawn: bool


def draw_plan(strata: Mapping[str, str], count: int, *, seed: int) -> tuple[Drawn, ...]:
    """A plan over items by name, each with its stratum: shares of strata as they are, but at least five items of each.

    >>> plan = draw_plan({f"q{n}": "a" if n < 80 else "b" for n in range(100)}, 20, seed=1)
    >>> sorted({(one.stratum, one.probability) for one in plan}), sum(one.drawn for one in plan)
    ([('a', 0.2), ('b', 0.25)], 21)
    """
    sizes = Counter(strata.values())
    if not 0 < count <= len(strata):
        raise SettingError(
            f"People cannot judge {count} of {len(strata)} items. Choose a number from 1 to {len(strata)}."
        )
    members = defaultdict(list)
    for name, stratum in strata.items():
        members[stratum].append(name)
    taken = {}
    for stratum, size in sizes.items():
        wanted = min(size, max(FEWEST_A_STRATUM, math.floor(count * size / len(strata) + 0.5)))
        taken[stratum] = set(seeded_order(members[stratum], str, seed, "people", stratum)[:wanted])
    return tuple(
        Drawn(name, stratum, len(taken[stratum]) / sizes[stratum], name in taken[stratum])
        for name, stratum in strata.items()
    )


def strata_of(names: Sequence[str], rows: Sequence[Mapping[str, str]], by: Sequence[str]) -> dict[str, str]:
    """The stratum of each item by some columns; one that is in several is refused."""
    found: dict[str, str] = {}
    for name, row in zip(names, rows, strict=True):
        for column in by:
            if column not in row:
                raise SettingError(f"No column is called {column!r}. {suggestion(column, tuple(row))}")
        stratum = JOINT.join(str(row[column] or "") for column in by)
        if found.setdefault(name, stratum) != stratum:
            raise SettingError(
                f"The item {name!r} is in two strata, {found[name]!r} and {stratum!r}: draw by columns that say the "
                "same of all answers to an item."
            )
    return found


def read_plan(path: Path, findings: Findings) -> dict[str, Drawn] | None:
    """The plan in a file; None with problems where its chances are not those of what it draws."""
    records = read_records(path, PLAN, findings)
    if records is None:
        return None
    for name in COLUMNS:
        if name not in records.columns:
            fix = "give the plan.csv that `basanite judge sample` wrote"
            findings.add(PLAN.problem(records.file, 1, f"there is no column {name!r}", fix, name))
            return None
    found: dict[str, Drawn] = {}
    for row, line in enumerate(records.lines):
        cells = {name: str(records.columns[name][row] or "") for name in COLUMNS}
        if not cells["id"] or cells["id"] in found or cells["drawn"] not in ("0", "1"):
            fix = "restore the plan: one line for each item, and 0 or 1 under drawn"
            findings.add(PLAN.problem(records.file, line, "this is no line of a plan", fix, cells["id"]))
            continue
        chance = _chance(cells["probability"])
        found[cells["id"]] = Drawn(cells["id"], cells["stratum"], chance, cells["drawn"] == "1")
    _check_chances(found, records.file, findings)
    return found if findings.valid else None


def _chance(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _check_chances(plan: Mapping[str, Drawn], file: str, findings: Findings) -> None:
    """The chance of a stratum's items is the share of them that is drawn: an edited plan says something else."""
    whole, part = Counter(one.stratum for one in plan.values()), Counter(o.stratum for o in plan.values() if o.drawn)
    for one in plan.values():
        share = part[one.stratum] / whole[one.stratum]
        if not abs(one.probability - share) < 1e-6:
            message = (
                f"{part[one.stratum]} of {whole[one.stratum]} items of stratum {one.stratum!r} are drawn, which is "
            )
            message += f"not the chance {one.probability:g}"
            findings.add(PLAN.problem(file, None, message, "restore the plan: it was edited", one.name))
            return
