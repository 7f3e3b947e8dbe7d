"""Tables of units: unit, system, metric and value in each row, as we write them and as anybody may (T-30)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from basanite.formats.items import ContentError, lacks_columns
from basanite.formats.records import Place, read_records
from basanite.formats.single_file import beginning_of
from basanite.problems import Findings, shortened

RULE: Final = "T-30"
COLUMNS: Final = ("unit", "system", "metric", "value")
Table = dict[str, dict[str, dict[str, float]]]
"""By metric, system and unit; nan where a value is undefined."""
_PLACE: Final = Place("submission", RULE)
_INFINITE: Final = {"+": math.inf, "-": -math.inf}
_MARKS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a quote is written before in CSV, so that no spreadsheet runs a name."""


def is_unit_table(path: Path) -> bool:
    """Whether a file is no JSON object alone, and so is read as a table."""
    start = beginning_of(path)
    text = start.text.lstrip()
    return bool(text) and not (text.startswith("{") and f'"{COLUMNS[0]}"' not in text.partition("\n")[0])


def read_unit_tables(paths: Sequence[Path], findings: Findings) -> Table:
    """The values in one or more tables together; no value may appear twice."""
    table: Table = {}
    for path in paths:
        records = read_records(path, _PLACE, findings, id_name=COLUMNS[0])
        if records is None or lacks_columns(records, COLUMNS, _PLACE, findings):
            continue
        for row, line in enumerate(records.lines):
            try:
                _take(records.fields(row), table)
            except ContentError as error:
                findings.add(_PLACE.problem(records.file, line, str(error), error.fix, error.found))
    return table


def _take(fields: Mapping[str, Any], table: Table) -> None:
    unit, system, metric = (_name(fields, name) for name in COLUMNS[:3])
    values = table.setdefault(metric, {}).setdefault(system, {})
    if unit in values:
        raise ContentError(f"{metric} of {system} on {unit} appears twice", "keep one row for each", unit)
    values[unit] = _value(fields)


def _name(fields: Mapping[str, Any], name: str) -> str:
    found = fields.get(name)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found:
        raise ContentError(f"{name} is missing or not text", f"write a {name} in every row", found or "")
    quoted = found.startswith("'") and found[1:].lstrip(" ").startswith(_MARKS)
    return found[1:] if quoted else found


def _value(fields: Mapping[str, Any]) -> float:
    found = fields.get("value")
    if found is None:
        return _INFINITE.get(str(fields.get("infinite")), math.nan)
    try:
        return math.nan if isinstance(found, bool) else float(found)
    except (TypeError, ValueError, OverflowError):
        raise ContentError(
            "value is not a number", "write a number, or nothing where it is undefined", shortened(str(found))
        ) from None
