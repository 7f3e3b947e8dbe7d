"""Tables of units as files: one row for each unit, system and metric, as CSV, JSON lines or Parquet (T-30).

A file `.txt` has the form of `trec_eval -q`: measure, unit, number, and at the end the values of the whole as `all`.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from basanite.analysis.results import Analysis
from basanite.analysis.unit_values import UnitValue, unit_values
from basanite.canonical import canonical_line, ten_digits
from basanite.errors import SettingError, UnreadableError
from basanite.formats.foreign_files import Losses
from basanite.formats.texts.external_scores import Figure, Reported, trec_eval_lines
from basanite.formats.unit_tables import COLUMNS
from basanite.reports.outputs.data_files import csv_cell

ENDINGS: Final = (".csv", ".jsonl", ".parquet", ".txt")


def check_ending(path: Path) -> None:
    """Refuse a file that no table of units is written as."""
    if path.suffix.lower() not in ENDINGS:
        raise SettingError(f"{path} cannot hold a table of units: name it {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")


def write_units(analyses: Sequence[Analysis], path: Path) -> int:
    """Write the table and say how many values it has; refused where there is none, or no place for them."""
    check_ending(path)
    ending = path.suffix.lower()
    rows = list(unit_values(analyses))
    if not rows:
        task = analyses[0].scores.task
        raise SettingError(f"{task} has no values of single units here: its measures are of the whole set.")
    if ending == ".txt" and len(analyses) > 1:
        raise SettingError(f"{path} would hold one system, as trec_eval prints it: give .csv, .jsonl or .parquet.")
    written = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}
    content = _unit_lines(analyses[0], rows) if ending == ".txt" else written[ending](rows)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UnreadableError(f"{path} cannot be written: {error.strerror}. Choose another place.") from error
    return len(rows)


def _csv(rows: Iterable[UnitValue]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([*map(csv_cell, row[:3]), _number_text(row.value)] for row in rows)
    return text.getvalue().encode()


def _number_text(value: float) -> str:
    """The number to ten digits; nothing where it is undefined."""
    return str(value) if math.isinf(value) else csv_cell(value)


def _json_lines(rows: Iterable[UnitValue]) -> bytes:
    return b"".join(canonical_line({**row._asdict(), **_json_number(row.value)}) for row in rows)


def _json_number(value: float) -> dict[str, float | str | None]:
    infinite = {"infinite": "+" if value > 0 else "-"} if math.isinf(value) else {}
    return {"value": ten_digits(value), **infinite}


def _parquet(rows: Sequence[UnitValue]) -> bytes:
    import polars as pl  # only here: commands start without its threads, which no fork survives

    columns: dict[str, list[str | float | None]] = {
        name: [row[at].encode("utf-8", "backslashreplace").decode() for row in rows]  # type: ignore[union-attr]
        for at, name in enumerate(COLUMNS[:3])
    }
    columns[COLUMNS[3]] = [row.value if math.isinf(row.value) else ten_digits(row.value) for row in rows]
    buffer = io.BytesIO()
    types = dict.fromkeys(COLUMNS[:3], pl.String)
    pl.DataFrame(columns, schema={**types, COLUMNS[3]: pl.Float64}).write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _unit_lines(analysis: Analysis, rows: Iterable[UnitValue]) -> bytes:
    by_unit: dict[str, dict[str, float]] = {}
    for row in rows:
        by_unit.setdefault("_".join(row.unit.split()), {})[row.metric] = row.value
    scores = analysis.scores
    whole = {name: Figure(value.value) for name, value in analysis.values.items()}
    units = max((value.units + value.undefined for value in analysis.values.values()), default=len(by_unit))
    reported = Reported("Basanite", scores.task, scores.primary, whole, units, scores.system, "unit", by_unit)
    return "".join(trec_eval_lines(reported, Losses(""))).encode()
