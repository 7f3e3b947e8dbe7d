"""What somebody gives a Python function: files by their paths, tables, or numbers of units that are there already.

A table becomes a file of canonical JSON lines for as long as the function runs, called after its argument:
`reference.jsonl`, `submission.jsonl`. So its digest is that of this file, and problems name its rows as lines of it.

Numbers (scores of items, times, costs) become the rows of a mean for each system. Their units are paired by their ids
where these are given, and by position only where nothing has an id: then all systems must have as many (Y-3).
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeAlias, cast, get_args

import numpy as np

from basanite.analysis.clusters import clusters_of
from basanite.errors import ArgumentError
from basanite.formats.records import digest_of
from basanite.formats.tables import TAKEN, description_of, is_missing, is_path, is_table, table_lines
from basanite.kernel import ANY as ANY_NUMBER
from basanite.kernel import SHARE, Direction, Metric, Scores, UnitRows, column_ratio
from basanite.problems import shortened
from basanite.tasks import Inputs

AnyPath: TypeAlias = str | os.PathLike[str]
Given: TypeAlias = Any
"""A path, or a table of any library (Y-1)."""


@dataclass
class GivenFiles:
    """Paths as they are; tables are written into the folder, each into one of its own."""

    folder: Path
    numbers: Iterable[int] = field(default_factory=count)

    def inputs(
        self,
        submission: Given,
        reference: Given | Iterable[Given] | None,
        *,
        metadata: Given | Iterable[Given] = (),
        **others: Given | None,
    ) -> Inputs:
        """The files of one run; `others` are those that it may do without."""
        files: dict[str, Any] = {name: self.path(name, given) for name, given in others.items()}
        files["metadata"] = self.paths("metadata", metadata)
        return Inputs(self._file_of("submission", submission), **files).against(self.paths("reference", reference))

    def common_inputs(
        self, reference: Given | Iterable[Given] | None, *, metadata: Given | Iterable[Given] = (), **others: Given
    ) -> Inputs:
        """The files that several submissions have in common."""
        return self.inputs(Path(), reference, metadata=metadata, **others)

    def submissions(self, given: Mapping[str, Given] | Iterable[AnyPath]) -> Mapping[str, Path] | list[Path]:
        """The submissions of several systems, by name where they have names; a table needs one."""
        if isinstance(given, Mapping):
            return self.by_system("submission", given)
        if is_path(given) or not isinstance(given, Iterable):
            raise ArgumentError(f"submissions is {description_of(given)}: give several, like {{'A': …, 'B': …}}.")
        listed = list(given)
        if not all(map(is_path, listed)):
            raise ArgumentError("A table has no name for its system: give submissions={'A': table, 'B': table}.")
        return [Path(path) for path in listed]

    def by_system(self, name: str, given: Mapping[str, Given]) -> dict[str, Path]:
        """One file of each system."""
        if not isinstance(given, Mapping):
            raise ArgumentError(
                f"{name} is {description_of(given)}: give one for each system, like {{'A': …, 'B': …}}."
            )
        return {str(system): self._file_of(name, one) for system, one in given.items()}

    def path(self, name: str, given: Given | None) -> Path | None:
        """The file of one argument."""
        return None if given is None else self._file_of(name, given)

    def paths(self, name: str, given: Given | Iterable[Given] | None) -> tuple[Path, ...]:
        """The files of an argument that may be given once or several times."""
        if given is None:
            return ()
        if is_path(given) or is_table(given) or not isinstance(given, Iterable):
            return (self._file_of(name, given),)
        return tuple(self._file_of(name, one) for one in given)

    def _file_of(self, name: str, given: Given) -> Path:
        if is_path(given):
            return Path(given)
        if not is_table(given):
            raise ArgumentError(f"{name} is {description_of(given)}. Give {TAKEN}.")
        file = self.folder / str(next(iter(self.numbers))) / f"{name}.jsonl"
        file.parent.mkdir()
        file.write_bytes(table_lines(given, name))
        return file


TASK: Final = "values"
UNIT: Final = "unit"
PAIRED_BY_POSITION: Final = "units are paired by their position, since they have no ids"
SYSTEMS: Final = ("first", "second")
Keyed = tuple[tuple[str, ...] | None, list[Any]]
"""The ids of some units, or None, and a cell for each."""


@dataclass(frozen=True)
class About:
    """What is known of the units besides their numbers, as it was given: ids, clusters, factors."""

    units: Any = None
    cluster: Any = None
    factors: Mapping[str, Any] | None = None


def scores_of_values(
    given: Mapping[str, Any], about: About, *, metric: str = "mean", best: str = "high"
) -> list[Scores]:
    """The rows of each system's numbers, all in the order of the first system's units."""
    if best not in get_args(Direction):
        raise ArgumentError(f"best is {best!r}: write 'high', 'low' or 'none', for what is better.")
    read = {system: _cells_by_id(numbers, f"the values of {system}", about.units) for system, numbers in given.items()}
    keys = next(iter(read.values()))[0] if read else None
    units = keys or tuple(str(at) for at in range(1, max((len(cells) for _, cells in read.values()), default=0) + 1))
    columns = {system: _in_order(one, units, f"the values of {system}", keys) for system, one in read.items()}
    shares = all(isinstance(cell, bool | np.bool_) for cells in columns.values() for cell in cells)
    mean = _mean(metric, cast(Direction, best), shares=shares)
    known = _unit_facts(about, units, keys)
    return [_scores(system, mean, units, cells, known, paired=keys is not None) for system, cells in columns.items()]


def scores_of_unit_values(
    table: Mapping[str, Mapping[str, Mapping[str, float]]], best: Mapping[str, str], primary: str
) -> list[Scores]:
    """The rows of each system by a table of units (metric, system, unit): every metric is the mean of its units."""
    by_metric = {
        name: scores_of_values(systems, About(), metric=name, best=best[name]) for name, systems in table.items()
    }
    found: dict[str, list[Scores]] = {}
    for several in by_metric.values():
        for one in several:
            found.setdefault(one.system, []).append(one)
    return [
        replace(
            ones[0],
            metrics=tuple(metric for one in ones for metric in one.metrics),
            tables={name: rows for one in ones for name, rows in one.tables.items()},
            primary=primary,
            digests={f"values of {one.primary}": one.digests["submission"] for one in ones},
            notes=tuple(dict.fromkeys(note for one in ones for note in one.notes)),
        )
        for ones in found.values()
    ]


def _mean(name: str, best: Direction, *, shares: bool) -> Metric:
    """The mean of numbers, or the share of units where something is true."""
    mean = Metric(
        name=name,
        title="Mean" if name == "mean" else name,
        summary="Mean of the numbers of all units that have one",
        citation="Student, The Probable Error of a Mean, Biometrika 6 (1908)",
        family=TASK,
        statistics=_rows,
        reduce=partial(column_ratio, top=0, bottom=1),
        range=ANY_NUMBER,
        best=best,
        columns=("sum", "count"),
        unit=UNIT,
        linear=True,
        carrier="count",
    )
    return replace(mean, range=SHARE, proportion=True, interval="wilson") if shares else mean


def _rows(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    there = ~np.isnan(numbers)
    return np.stack([np.where(there, numbers, 0.0), there], axis=1).astype(np.float64)


def _scores(
    system: str,
    mean: Metric,
    units: tuple[str, ...],
    cells: list[Any],
    known: Callable[[UnitRows], UnitRows],
    *,
    paired: bool,
) -> Scores:
    numbers = np.array([_number(cell, unit, system) for unit, cell in zip(units, cells, strict=True)])
    table = known(UnitRows(UNIT, units, mean.columns, _rows(numbers)))
    lines = table_lines({"unit": units, "value": numbers}, system)
    undefined = int(np.count_nonzero(np.isnan(numbers)))
    notes = [] if paired else [PAIRED_BY_POSITION]
    notes += [f"{undefined} of {len(units)} units of {system} have no number and are left out of its mean"] * bool(
        undefined
    )
    return Scores(
        TASK,
        system,
        (mean,),
        {mean.name: table},
        mean.name,
        {},
        {"submission": digest_of([("submission.jsonl", lines)])},
        tuple(notes),
    )


def _unit_facts(about: About, units: tuple[str, ...], keys: tuple[str, ...] | None) -> Callable[[UnitRows], UnitRows]:
    """What adds clusters and factors to a table."""
    more: dict[str, Any] = {}
    if about.cluster is not None:
        cells = _labels(about.cluster, units, "cluster", keys)
        more = {"clusters": clusters_of(cells), "cluster": "cluster"}
    factors = {str(name): _labels(one, units, f"factor {name}", keys) for name, one in (about.factors or {}).items()}
    more["factors"] = {name: np.array(cells, dtype=np.str_) for name, cells in factors.items()}
    return lambda table: replace(table, **more)


def _labels(given: Any, units: tuple[str, ...], what: str, keys: tuple[str, ...] | None) -> list[str]:
    cells = _in_order(_cells_by_id(given, what), units, what, keys)
    return ["" if is_missing(cell) else str(cell) for cell in cells]


def _cells_by_id(given: Any, what: str, units: Any = None) -> Keyed:
    """Cells with the ids of a mapping, of an index of pandas that is no mere numbering, or those given apart."""
    if isinstance(given, Mapping):
        return tuple(map(str, given)), list(given.values())
    index = getattr(given, "index", None)  # of pandas; elsewhere it is a method, or the index of a list
    ids = units
    if index is not None and not callable(index) and type(index).__name__ != "RangeIndex":
        ids = index
    listed = next((getattr(given, name) for name in ("to_list", "to_pylist") if hasattr(given, name)), None)
    if listed is not None or getattr(given, "ndim", 0) == 1:
        cells = list(listed() if listed is not None else given.tolist())
    elif isinstance(given, Sequence) and not isinstance(given, str | bytes):
        cells = list(given)
    else:
        raise ArgumentError(
            f"{_capital(what)} are {description_of(given)}: give a list, an array, a series, or a mapping by unit."
        )
    if ids is None:
        return None, cells
    names = tuple(str(name) for name in (ids.tolist() if hasattr(ids, "tolist") else ids))
    if len(names) != len(cells):
        raise ArgumentError(f"{_capital(what)}: {len(cells)} numbers for {len(names)} units. Give one for each.")
    return names, cells


def _in_order(one: Keyed, units: tuple[str, ...], what: str, keys: tuple[str, ...] | None) -> list[Any]:
    """The cells in the order of the units; refused unless they are of the same units."""
    names, cells = one
    if names is None:
        if len(cells) != len(units):
            raise ArgumentError(f"{_capital(what)}: {len(cells)} for {len(units)} units. Give one for each, or ids.")
        if keys is not None and what.startswith("the values"):
            raise ArgumentError(f"{_capital(what)} have no ids, and others have: give units=…, or a mapping by unit.")
        return cells
    if keys is None:
        raise ArgumentError(f"{_capital(what)} have ids, and others have none: give units=…, or a mapping by unit.")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise ArgumentError(f"{_capital(what)}: unit {shortened(twice)!r} appears twice. Give each once.")
    odd = sorted(set(names) ^ set(units))
    if odd:
        raise ArgumentError(
            f"{_capital(what)}: {len(odd)} units, such as {shortened(odd[0])!r}, are not those of the others. Give the "
            "same units for all."
        )
    by_name = dict(zip(names, cells, strict=True))
    return [by_name[unit] for unit in units]


def _number(cell: Any, unit: str, system: str) -> float:
    if is_missing(cell):
        return math.nan
    try:
        number = math.inf if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError):
        number = math.inf
    if not math.isfinite(number):
        raise ArgumentError(
            f"The value of {system} for unit {shortened(unit)!r} is {description_of(cell)}: give a finite number."
        )
    return number


def _capital(what: str) -> str:
    return what[:1].upper() + what[1:]
