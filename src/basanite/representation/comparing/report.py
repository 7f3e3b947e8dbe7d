"""The report on several sets: the paper's tables, the change under transformations, and ranks against a proxy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

from basanite import __version__
from basanite.figures import Axis, Cell, Chart, Table, Text
from basanite.metrics.representation.results import DIRECTIONS
from basanite.reports.formats.json_output import plain, values_object
from basanite.reports.kinds.scoring import long_cells
from basanite.reports.model import LONG_COLUMNS, Facts, Report, Section, facts_table, filled
from basanite.reports.wording import listed, number, plural
from basanite.representation.catalogue import described
from basanite.representation.comparing.sets import PLAIN, Agreement, Compared, SetComparison

FORMAT: Final = "basanite-representations/1"
FEW_SETS: Final = 5


def sets_report(found: SetComparison) -> Report:
    """The report on several sets, ready for any output."""
    facts = _facts(found)
    return Report(
        title=listed(tuple(one.data.name for one in found.sets)),
        subtitle="How well features represent several data sets",
        sections=filled(
            Section("Values", "", (values_table(found), primary_chart(found))),
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
    made: dict[str, Any] = plain(
        {
            "format": FORMAT,
            "task": "measure compare",
            "sets": {one.data.name: _set_object(one) for one in found.sets},
            "agreement": [vars(one) for one in found.agreements] if found.proxy else [],
            "orders": {one.measure: list(one.order) for one in found.agreements if one.pipeline == PLAIN},
            "proxy": dict(found.proxy),
            "settings": {**found.plan.choices.written, "draws": found.plan.draws, "seed": found.plan.seed},
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
        (name, {"high": "higher", "low": "lower"}[DIRECTIONS[name]], *_cells(found, name)) for name in found.names
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
    name = found.plan.primary
    rows = tuple((one.data.name, *long_cells(one.values[name], described(name))[:4]) for one in found.sets)
    return Chart(
        title=f"{name} of every set",
        summary=f"{name} with intervals over rows. {_order_words(found, name)}",
        kind="bars",
        data=Table(f"{name} of every set", ("Set", "Value", "Low", "High", "Units"), rows),
        x=Axis("Value", name),
        y=Axis("Set", "Set", "category"),
        low="Low",
        high="High",
    )


def _order_words(found: SetComparison, name: str) -> str:
    order = next((one.order for one in found.agreements if one.measure == name and one.pipeline == PLAIN), ())
    return f"Best first: {', '.join(order)}." if order else ""


def _change_tables(found: SetComparison) -> Iterator[Table]:
    rows = tuple(
        (name, one.data.name, one.values[name].value, value.mean, value.deviation, one.change(name), value.repeats)
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
    rows = tuple(_agreement_row(one) for one in found.agreements)
    note = f"With {plural('set', len(found.proxy))} correlations are a description, not a test."
    columns = ("Measure", "Transformations", "Sets", "Spearman", "Kendall tau-b", "Order, best first")
    yield Table("Ranks against the proxy", columns, rows, note if len(found.proxy) <= FEW_SETS else "")


def _agreement_row(one: Agreement) -> tuple[Cell, ...]:
    spearman, kendall = (None if math.isnan(value) else value for value in (one.spearman, one.kendall))
    return (one.measure, one.pipeline, one.sets, spearman, kendall, ", ".join(one.order))


def _records(found: SetComparison) -> Iterator[tuple[Cell, ...]]:
    for one in found.sets:
        for name, value in one.values.items():
            yield (one.data.name, name, "", "", *long_cells(value, described(name)))


def _sentences(found: SetComparison) -> Iterator[str]:
    name = found.plan.primary
    yield f"By {name}, {_order_words(found, name)[:1].lower()}{_order_words(found, name)[1:]}"
    plain_ones = [one for one in found.agreements if one.pipeline == PLAIN and not math.isnan(one.spearman)]
    if found.proxy and plain_ones:
        top = max(one.spearman for one in plain_ones)
        best = tuple(one.measure for one in plain_ones if one.spearman == top)
        yield f"Nearest to the order of the proxy: {listed(best)} (Spearman {number(top)})."
    if len({len(one.data.classes) for one in found.sets}) > 1:
        yield "The sets have different numbers of classes: see the notes for the measures that this alone moves."


def _facts(found: SetComparison) -> Facts:
    digests = tuple((f"Digest of {one.data.name}", one.data.digest) for one in found.sets)
    settings = tuple((f"Setting {name}", str(value)) for name, value in sorted(found.plan.choices.written.items()))
    design = (("Draws", f"{found.plan.draws:,}"), ("Seed", str(found.plan.seed)))
    return (*design, *settings, *digests, ("Software", f"Basanite {__version__}"))
