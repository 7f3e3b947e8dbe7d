"""Several data sets or models on every measure, with and without random transformations, ranked against a proxy (F-8).

The shape of the FERM paper's tables: for each set a value without transformations, and the mean and deviation over
repeats with them. A good measure orders sets as the proxy does, and changes little under transformations.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from basanite.analysis.results import Value
from basanite.errors import SettingError
from basanite.formats.bounded import read_bounded
from basanite.metrics.representation.backends import Blas
from basanite.metrics.representation.everything import measure
from basanite.metrics.representation.results import DIRECTIONS, NEGATIVE_FEATURES, different_classes_note
from basanite.representation.data import Data
from basanite.representation.measuring.draws import draw_all
from basanite.representation.measuring.run import Plan, measured_names
from basanite.representation.measuring.values import valued
from basanite.representation.measuring.weights import class_weights
from basanite.representation.ranks import kendall_tau_b, spearman_rho
from basanite.representation.threads import threads_for

PROXY_BYTES: Final = 1 << 20
PLAIN, CHANGED = "without", "with"


@dataclass(frozen=True)
class Repeated:
    """A measure over repeats with random transformations."""

    mean: float
    deviation: float
    """Over repeats; nan with one."""
    repeats: int


@dataclass(frozen=True)
class Compared:
    """One set: its values, and those under transformations where there are any."""

    data: Data
    values: Mapping[str, Value]
    changed: Mapping[str, Repeated] = field(default_factory=dict)

    def change(self, name: str) -> float:
        """How much a measure changes under transformations: with less without."""
        return self.changed[name].mean - self.values[name].value if name in self.changed else float("nan")


@dataclass(frozen=True)
class Agreement:
    """How a measure orders the sets against the proxy; 1 is the same order, whichever way is better."""

    measure: str
    pipeline: str
    sets: int
    spearman: float
    kendall: float
    order: tuple[str, ...]
    """The sets, best first."""


@dataclass(frozen=True)
class SetComparison:
    """Several sets side by side."""

    sets: tuple[Compared, ...]
    plan: Plan
    proxy: Mapping[str, float]
    agreements: tuple[Agreement, ...]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The measures that every set has, in the order of reports."""
        return tuple(name for name in DIRECTIONS if all(name in one.values for one in self.sets))


def compare_sets(
    sets: Mapping[str, Data],
    plan: Plan,
    *,
    transformed: Mapping[str, Sequence[Data]] | None = None,
    proxy: Mapping[str, float] | None = None,
    executor: Executor | None = None,
) -> SetComparison:
    """Measure every set, with and without transformations, and hold the orders against the proxy."""
    _check_names(sets, transformed or {}, proxy or {})
    found = tuple(_compared(data, plan, (transformed or {}).get(name, ()), executor) for name, data in sets.items())
    known = {name: value for name, value in (proxy or {}).items() if name in sets}
    made = SetComparison(found, plan, known, (), (*_notes(found), *_proxy_notes(sets, proxy or {})))
    return SetComparison(found, plan, made.proxy, tuple(_agreements(made)), made.notes)


def read_proxy(path: Path) -> dict[str, float]:
    """A table of two columns, name and number: how well each set is known to do.

    A header line is left out; a number that cannot be read is told with its line.
    """
    text = read_bounded(path, PROXY_BYTES).decode("utf-8-sig", "backslashreplace")
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise SettingError(f"{path.name} is no table: {error}. Write one line `name,number` for each set.") from error
    body = rows[1:] if rows and not _is_number(rows[0][-1]) else rows
    bad = [str(row) for row in body if len(row) != 2 or not _is_number(row[1])]
    if bad or not body:
        raise SettingError(f"{path.name}: {bad[0] if bad else 'nothing'} is no `name,number`. Write one line a set.")
    return {name.strip(): float(value) for name, value in body}


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _check_names(
    sets: Mapping[str, Data], transformed: Mapping[str, Sequence[Data]], proxy: Mapping[str, float]
) -> None:
    if len(sets) < 2:
        raise SettingError("Give at least two sets to compare.")
    for what, names in (("--transformed", transformed), ("the proxy", {} if set(sets) & set(proxy) else proxy)):
        unknown = [name for name in names if name not in sets]
        if unknown:
            raise SettingError(
                f"{what} names {', '.join(unknown)}, which is not compared. There are {', '.join(sets)}."
            )


def _compared(data: Data, plan: Plan, transformed: Sequence[Data], executor: Executor | None) -> Compared:
    names = measured_names(data, plan)
    options, level = plan.choices.options, plan.choices.level
    with threads_for(data.rows * data.dimensions):
        backend = Blas(executor)
        found = measure(data.features, data.classes, names=names, source=data.source, options=options, backend=backend)
        blocks = list(class_weights(data.classes, draws=plan.draws, seed=plan.seed))
        drawn = draw_all(data, names, options, lambda: blocks, seed=plan.seed, executor=executor)
        values = {name: valued(name, found.values[name], drawn, rows=data.rows, level=level) for name in names}
        return Compared(data, values, _repeated(transformed, plan))


def _repeated(transformed: Sequence[Data], plan: Plan) -> dict[str, Repeated]:
    """Mean and deviation of each measure over repeats."""
    if not transformed:
        return {}
    options = plan.choices.options
    runs = [
        measure(one.features, one.classes, names=measured_names(one, plan), source=one.source, options=options).values
        for one in transformed
    ]
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: repeated([run[name].value for run in runs]) for name in names}


def repeated(values: Sequence[float]) -> Repeated:
    """Mean and deviation of a few values.

    >>> repeated([1.0, 2.0, 3.0])
    Repeated(mean=2.0, deviation=1.0, repeats=3)
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    return Repeated(float(np.mean(values)), deviation, len(values))


def _agreements(found: SetComparison) -> Iterator[Agreement]:
    for name in found.names:
        for pipeline in (PLAIN, CHANGED):
            values = _ordered_values(found, name, pipeline)
            if len(values) > 1:
                yield _agreement(found, name, pipeline, values)


def _ordered_values(found: SetComparison, name: str, pipeline: str) -> dict[str, float]:
    """The value of each set, turned so that more is better."""
    sign = 1.0 if DIRECTIONS[name] == "high" else -1.0
    if pipeline == PLAIN:
        return {one.data.name: sign * one.values[name].value for one in found.sets}
    return {one.data.name: sign * one.changed[name].mean for one in found.sets if name in one.changed}


def _agreement(found: SetComparison, name: str, pipeline: str, values: Mapping[str, float]) -> Agreement:
    known = [one for one in values if one in found.proxy]
    mine, theirs = [values[one] for one in known], [found.proxy[one] for one in known]
    defined = {one: value for one, value in values.items() if not np.isnan(value)}
    order = tuple(sorted(defined, key=lambda one: -defined[one]))
    return Agreement(name, pipeline, len(known), spearman_rho(mine, theirs), kendall_tau_b(mine, theirs), order)


def _proxy_notes(sets: Mapping[str, Data], proxy: Mapping[str, float]) -> Iterator[str]:
    lacking, spare = [name for name in sets if name not in proxy], [name for name in proxy if name not in sets]
    if proxy and lacking:
        yield f"The proxy does not know {', '.join(lacking)}."
    if spare:
        yield f"The proxy also knows {', '.join(spare)}, which are not compared."


def _notes(found: Sequence[Compared]) -> Iterator[str]:
    counts = [len(one.data.classes) for one in found]
    for name in DIRECTIONS:
        note = different_classes_note(name, counts)
        if note is not None and all(name in one.values for one in found):
            yield note
    widths = sorted({one.data.dimensions for one in found})
    if len(widths) > 1:
        yield f"The sets have {', '.join(map(str, widths))} features a row: they come from different layers or models."
    for one in found:
        if "ferm1" in one.values and NEGATIVE_FEATURES in one.values["ferm1"].flags:
            yield f"{one.data.name} has negative features: FERM has no order there."
