"""Any table of numbers as a data set: columns named as targets are predicted, the others are the items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError
from basanite.formats.bounded import read_bounded
from basanite.formats.parquet import parquet_faults, read_parquet
from basanite.harness.data.dataset import Dataset
from basanite.harness.data.multilabel import first_labels
from basanite.problems import Findings, Problem, shortened
from basanite.registry import suggestion

if TYPE_CHECKING:
    import polars as pl

RULE: Final = "H-3"
LARGEST: Final = 2 * 2**30


def read_table(path: Path, targets: Sequence[str], *, group: str = "", labels: bool = True) -> Dataset:
    """The data set in a CSV or Parquet file; everything that is wrong with it is raised as one error."""
    findings = Findings()
    table = _table(path, findings)
    if table is not None:
        _check(table, path.name, [*targets, *filter(None, [group])], targets if labels else (), group, findings)
    if table is None or findings.rejected:
        raise InvalidInputError("table", findings)
    values = {name: _numbers(table, [name])[:, 0] for name in targets}
    items = _numbers(table, [name for name in table.columns if name not in (*targets, group)])
    groups = np.unique(table[group].to_numpy(), return_inverse=True)[1] if group else None
    return Dataset(path.stem, items, values, groups=groups, first_labels=first_labels(values) if labels else None)


def _table(path: Path, findings: Findings) -> pl.DataFrame | None:
    import polars as pl

    raw = read_bounded(path, LARGEST)
    try:
        return read_parquet(raw) if path.suffix == ".parquet" else pl.read_csv(raw, infer_schema_length=None)
    except parquet_faults() as error:
        findings.add(_problem(path.name, None, f"not a table: {shortened(str(error))}", "give CSV or Parquet"))
        return None


def _check(
    table: pl.DataFrame, file: str, needed: Sequence[str], labels: Sequence[str], group: str, findings: Findings
) -> None:
    """Report columns that are missing, hold no finite numbers, or are no labels."""
    for name in needed:
        if name not in table.columns:
            findings.add(_problem(file, 1, f"there is no column {name!r}", suggestion(name, table.columns[:50])))
    for name in table.columns:
        if name != group:
            findings.extend(_column_problems(table, file, name, is_label=name in labels))


def _column_problems(table: pl.DataFrame, file: str, name: str, *, is_label: bool) -> list[Problem]:
    if table[name].dtype.is_nested():
        return [_problem(file, None, f"column {name!r} holds no numbers", "leave it out of the file")]
    values = _numbers(table, [name])[:, 0]
    wrong = ~np.isfinite(values) if not is_label else ~np.isin(values, (0.0, 1.0))
    if not wrong.any():
        return []
    cell = shortened(str(table[name][int(wrong.argmax())]))
    fix = "write 0 or 1" if is_label else "write a finite number"
    return [_problem(file, int(wrong.argmax()) + 2, f"column {name!r}: {cell} cannot be used", fix)]


def _numbers(table: pl.DataFrame, names: Sequence[str]) -> NDArray[np.float64]:
    import polars as pl

    return np.ascontiguousarray(
        table.select(pl.col(list(names)).cast(pl.Float64, strict=False).fill_null(float("nan"))).to_numpy()
    )


def _problem(file: str, line: int | None, message: str, fix: str) -> Problem:
    return Problem(RULE, file, line, None, message, fix, where="metadata")
