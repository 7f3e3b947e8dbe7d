"""Results of other programs as results of ours, to stand beside them in `compare --result`, and back (P-32).

Such a result says of each number where it is from. Nothing is known of its reference, and mostly there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from basanite.analysis.results import Value
from basanite.errors import SettingError
from basanite.formats.foreign.reported import Figure, Reported
from basanite.reports.formats.json_output import RESULT_FORMAT, plain, values_object
from basanite.reports.kinds.results import read_object, read_result

LEVEL = 0.95


def result_object(reported: Reported) -> dict[str, Any]:
    """The object of a result, as `score --json` would print it."""
    data = {
        "format": RESULT_FORMAT,
        "task": reported.task,
        "primary": reported.primary,
        "values": values_object({name: _value(figure, reported) for name, figure in reported.figures.items()}),
        "breakdowns": _breakdowns(reported),
        "settings": {"level": LEVEL, "program": reported.program, "system": reported.system},
        "signature": f"program:{reported.program}|task:{reported.task}",
        "digests": {},
        "notes": [f"these numbers are {reported.program}'s; which reference they were made against is not known"],
    }
    return {key: plain(value) for key, value in data.items()}


def _value(figure: Figure, reported: Reported) -> Value:
    told = [f"as {reported.program} printed it"]
    told += [] if figure.low is not None else ["no interval was printed"]
    told += [] if reported.units else [f"number of {reported.unit}s not known"]
    return Value(
        figure.value,
        figure.low,
        figure.high,
        reported.units,
        flags=tuple(told),
        parts=figure.parts,
        signature=figure.signature,
    )


def _breakdowns(reported: Reported) -> dict[str, Any]:
    if not reported.by_unit:
        return {}
    single = (f"as {reported.program} printed it",)
    levels = {
        unit: values_object({name: Value(value, None, None, 1, flags=single) for name, value in several.items()})
        for unit, several in reported.by_unit.items()
    }
    return {reported.unit: levels}


def reported_of(path: Path, *, program: str, task: str, unit: str) -> Reported:
    """What a result says, for a program that measures the same task; single units where the result has them."""
    result, data = read_result(path, ""), read_object(path)
    if result.task != task:
        raise SettingError(f"{path} is a result of {result.task!r}; {program} measures {task!r} only.")
    figures = {
        name: Figure(value.value, value.low, value.high, value.signature, value.parts)
        for name, value in result.values.items()
    }
    units = max((value.units for value in result.values.values()), default=0)
    settings = data["settings"] if isinstance(data.get("settings"), dict) else {}
    system = settings.get("system") if isinstance(settings.get("system"), str) else ""
    return Reported(program, task, result.primary, figures, units, system or "", unit, _by_unit(data, unit))


def _by_unit(data: Mapping[str, Any], unit: str) -> dict[str, dict[str, float]]:
    breakdowns = data.get("breakdowns")
    levels = breakdowns.get(unit) if isinstance(breakdowns, dict) else None
    found: dict[str, dict[str, float]] = {}
    for name, values in levels.items() if isinstance(levels, dict) else ():
        cells = values.items() if isinstance(values, dict) else ()
        found[name] = {measure: _number(cell) for measure, cell in cells if isinstance(cell, dict)}
    return found


def _number(cell: Mapping[str, Any]) -> float:
    found = cell.get("value")
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else math.nan
