"""Several data sets or models on every measure, with and without random transformations, ranked against a proxy (F-8).

The shape of the FERM paper's tables: for each set a value without transformations, and the mean and deviation over
repeats with them. A good measure orders sets as the proxy does, and changes little under transformations.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite import __version__
from basanite.analysis.results import Value, values_object
from basanite.canonical import plain_values
from basanite.errors import SettingError
from basanite.figures import Axis, Cell, Chart, Table, Text
from basanite.formats.bounded import read_bounded
from basanite.reports.analysis import long_cells
from basanite.reports.report import LONG_COLUMNS, Facts, Report, Section, facts_table, sections_with_content
from basanite.reports.wording import enumeration, number, plural
from basanite.representation.backends.blas import Blas
from basanite.representation.catalogue import measure_metric, measure_title
from basanite.representation.data import Data, threads_for
from basanite.representation.intervals import draw_all
from basanite.representation.measurement import Plan, measured_names
from basanite.representation.measures.all_measures import measure
from basanite.representation.measures.results import (
    DIRECTIONS,
    NEGATIVE_FEATURES,
    different_classes_note,
    number_or_none,
)
from basanite.representation.rank_correlation import kendall_tau_b, spearman_rho
from basanite.representation.set_charts import CKA_LEAD, CURVES_LEAD, cka_charts, cka_pairs, curve_charts
from basanite.representation.values import class_weights, value_with_interval

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
    along: str = ""
    """What the order of the sets is, where it means something: layers of one model, or times of its training."""

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
    along: str = "",
    executor: Executor | None = None,
) -> SetComparison:
    """Measure every set, with and without transformations, and hold the orders against the proxy."""
    _check_names(sets, transformed or {}, proxy or {})
    found = tuple(_measure_set(data, plan, (transformed or {}).get(name, ()), executor) for name, data in sets.items())
    known = {name: value for name, value in (proxy or {}).items() if name in sets}
    made = SetComparison(found, plan, known, (), (*_notes(found), *_proxy_notes(sets, proxy or {})))
    return SetComparison(found, plan, made.proxy, tuple(_agreements(made)), made.notes, along)


def read_proxy(path: Path) -> dict[str, float]:
    """A table of two columns, name and number: how well each set is known to do.

    A header line is left out; a number that cannot be read is told with its line.
    """
    text = read_bounded(path, PROXY_BYTES).decode("utf-8-sig", "backslashreplace")
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise SettingError(
            f"{path.name} is not a table: {error}. Write one line `name,number` for each set."
        ) from error
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


def _measure_set(data: Data, plan: Plan, transformed: Sequence[Data], executor: Executor | None) -> Compared:
    names = measured_names(data, plan)
    options, level = plan.choices.options, plan.choices.level
    with threads_for(data.rows * data.dimensions):
        backend = Blas(executor)
        found = measure(data.features, data.classes, names=names, source=data.source, options=options, backend=backend)
        blocks = list(class_weights(data.classes, draws=plan.draws, seed=plan.seed))
        drawn = draw_all(data, names, options, lambda: blocks, seed=plan.seed, executor=executor)
        values = {
            name: value_with_interval(name, found.values[name], drawn, rows=data.rows, level=level) for name in names
        }
        return Compared(data, values, _summarize_transformed(transformed, plan))


def _summarize_transformed(transformed: Sequence[Data], plan: Plan) -> dict[str, Repeated]:
    """Mean and deviation of each measure over repeats."""
    if not transformed:
        return {}
    options = plan.choices.options
    runs = [
        measure(one.features, one.classes, names=measured_names(one, plan), source=one.source, options=options).values
        for one in transformed
    ]
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: summarize_repeats([run[name].value for run in runs]) for name in names}


def summarize_repeats(values: Sequence[float]) -> Repeated:
    """Mean and deviation of a few values.

    >>> summarize_repeats([1.0, 2.0, 3.0])
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


FORMAT: Final = "basanite-representations/1"
FEW_SETS: Final = 5


def sets_report(found: SetComparison) -> Report:
    """The report on several sets, ready for any output."""
    facts = _facts(found)
    return Report(
        title=enumeration(tuple(one.data.name for one in found.sets)),
        subtitle="How well features represent several data sets",
        sections=sections_with_content(
            Section("Values", "", (values_table(found), primary_chart(found))),
            Section(f"Along the {found.along}s", CURVES_LEAD, tuple(curve_charts(found))),
            Section("Similarity of the sets", CKA_LEAD, tuple(cka_charts(found))),
            Section("Under transformations", _CHANGE_LEAD, tuple(_change_tables(found))),
            Section("Against the proxy", _PROXY_LEAD, tuple(_proxy_tables(found))),
            Section("How this was computed", "", (facts_table(facts),), detail=True),
            Section("Notes", "", (Text("Notes", found.notes),) if found.notes else ()),
        ),
        facts=facts,
        data=sets_object(found),
        records=Table("Values", LONG_COLUMNS, tuple(_records(found))),
        sentences=tuple(_sentences(found)),
    )


_CHANGE_LEAD: Final = "A measure that is to be used while training should change little when inputs are transformed."
_PROXY_LEAD: Final = "1 means the same order as the proxy, -1 the opposite; lower-is-better measures are turned first."


def sets_object(found: SetComparison) -> dict[str, Any]:
    """The object that `measure compare --json` prints."""
    made: dict[str, Any] = plain_values(
        {
            "format": FORMAT,
            "task": "measure compare",
            "sets": {one.data.name: _set_object(one) for one in found.sets},
            "agreement": [vars(one) for one in found.agreements] if found.proxy else [],
            "orders": {one.measure: list(one.order) for one in found.agreements if one.pipeline == PLAIN},
            "proxy": dict(found.proxy),
            "along": found.along,
            "cka": {f"{one}/{other}": value for one, other, value in cka_pairs(found)},
            "settings": {**found.plan.choices.as_dict, "draws": found.plan.draws, "seed": found.plan.seed},
            "digests": {one.data.name: one.data.digest for one in found.sets},
            "notes": list(found.notes),
        }
    )
    return made


def _set_object(one: Compared) -> dict[str, Any]:
    return {
        "rows": one.data.rows,
        "classes": len(one.data.classes),
        "dimensions": one.data.dimensions,
        "values": values_object(one.values),
        "transformed": {name: {**vars(value), "change": one.change(name)} for name, value in one.changed.items()},
    }


def values_table(found: SetComparison) -> Table:
    """A line for each measure and a column for each set: the value, and beside it mean ± deviation if there is one."""
    columns = ["Measure", "Better"]
    for one in found.sets:
        columns += [one.data.name, *([f"{one.data.name}, transformed"] if one.changed else [])]
    rows = tuple(
        (measure_title(name), {"high": "higher", "low": "lower"}[DIRECTIONS[name]], *_cells(found, name))
        for name in found.names
    )
    classes = "; ".join(f"{one.data.name}: {plural('class', len(one.data.classes))}" for one in found.sets)
    note = f"Transformed: mean ± deviation over repeats. {classes}."
    return Table("Every set on every measure", tuple(columns), rows, note)


def _cells(found: SetComparison, name: str) -> Iterator[Cell]:
    for one in found.sets:
        value = one.values[name].value
        yield None if math.isnan(value) else value
        if one.changed:
            yield _plus_minus(one, name)


def _plus_minus(one: Compared, name: str) -> str:
    if name not in one.changed:
        return "–"
    found = one.changed[name]
    return f"{number(found.mean)} ± {number(found.deviation)}"


def primary_chart(found: SetComparison) -> Chart:
    """The primary measure of every set with its interval."""
    name, title = found.plan.primary, measure_title(found.plan.primary)
    rows = tuple((one.data.name, *long_cells(one.values[name], measure_metric(name))[:4]) for one in found.sets)
    return Chart(
        title=f"{title} of every set",
        summary=f"{title} with intervals over rows. {_order_words(found, name)}",
        kind="bars",
        data=Table(f"{title} of every set", ("Set", "Value", "Low", "High", "Units"), rows),
        x=Axis("Value", title),
        y=Axis("Set", "Set", "category"),
        low="Low",
        high="High",
    )


def _order_words(found: SetComparison, name: str) -> str:
    order = next((one.order for one in found.agreements if one.measure == name and one.pipeline == PLAIN), ())
    return f"Best first: {', '.join(order)}." if order else ""


def _change_tables(found: SetComparison) -> Iterator[Table]:
    rows = tuple(
        (
            measure_title(name),
            one.data.name,
            one.values[name].value,
            value.mean,
            value.deviation,
            one.change(name),
            value.repeats,
        )
        for name in found.names
        for one in found.sets
        if (value := one.changed.get(name)) is not None
    )
    if rows:
        columns = ("Measure", "Set", "Without", "With", "Deviation", "Change", "Repeats")
        yield Table("Change under transformations", columns, rows, "Change: with less without.")


def _proxy_tables(found: SetComparison) -> Iterator[Table]:
    if not found.proxy:
        return
    yield Table("The proxy", ("Set", "Value"), tuple(found.proxy.items()))
    rows = tuple(
        (
            measure_title(one.measure),
            one.pipeline,
            one.sets,
            number_or_none(one.spearman),
            number_or_none(one.kendall),
            ", ".join(one.order),
        )
        for one in found.agreements
    )
    note = f"With {plural('set', len(found.proxy))} correlations are a description, not a test."
    columns = ("Measure", "Transformations", "Sets", "Spearman", "Kendall tau-b", "Order, best first")
    yield Table("Ranks against the proxy", columns, rows, note if len(found.proxy) <= FEW_SETS else "")


def _records(found: SetComparison) -> Iterator[tuple[Cell, ...]]:
    for one in found.sets:
        for name, value in one.values.items():
            yield (one.data.name, name, "", "", *long_cells(value, measure_metric(name)))


def _sentences(found: SetComparison) -> Iterator[str]:
    name = found.plan.primary
    yield f"By {measure_title(name)}, {_order_words(found, name)[:1].lower()}{_order_words(found, name)[1:]}"
    plain_ones = [one for one in found.agreements if one.pipeline == PLAIN and not math.isnan(one.spearman)]
    if found.proxy and plain_ones:
        top = max(one.spearman for one in plain_ones)
        best = tuple(measure_title(one.measure) for one in plain_ones if one.spearman == top)
        yield f"Nearest to the order of the proxy: {enumeration(best)} (Spearman {number(top)})."
    if len({len(one.data.classes) for one in found.sets}) > 1:
        yield "The sets have different numbers of classes: see the notes for the measures that this alone changes."


def _facts(found: SetComparison) -> Facts:
    digests = tuple((f"Digest of {one.data.name}", one.data.digest) for one in found.sets)
    settings = tuple((f"Setting {name}", str(value)) for name, value in sorted(found.plan.choices.as_dict.items()))
    design = (("Draws", f"{found.plan.draws:,}"), ("Seed", str(found.plan.seed)))
    return (*design, *settings, *digests, ("Software", f"Basanite {__version__}"))
