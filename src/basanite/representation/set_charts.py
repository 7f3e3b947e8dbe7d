"""Charts of several sets in an order that means something, and how alike sets of the same rows are (F-25, F-26)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from basanite.figures import Axis, Cell, Chart, Table
from basanite.reports.wording import number
from basanite.representation.catalogue import measure_title
from basanite.representation.measures.all_measures import measured_families
from basanite.representation.measures.further import cka
from basanite.representation.measures.results import number_or_none
from basanite.representation.shift_curves import scale_to_unit

if TYPE_CHECKING:
    from basanite.representation.comparison import Compared, SetComparison

CURVES_LEAD: Final = "Each measure is scaled to 0..1 over the sets, in the order in which they were given."
CKA_LEAD: Final = (
    "Linear CKA of sets of the same rows: 1 means the same features but for a rotation and a scale, 0 that nothing is "
    "shared. Rows are paired by their position."
)
MOST_SETS: Final = 30
"""Sets beyond which pairs are not compared."""
Pair = tuple[str, str, float]


def curve_charts(found: SetComparison) -> Iterator[Chart]:
    """Every measure over the layers of a model or the times of its training, a chart for each family."""
    if not found.along:
        return
    for title, names in measured_families(found.names):
        rows = tuple(row for name in names for row in _points(found, name))
        first, last = (found.sets[at].values[names[0]].value for at in (0, -1))
        yield Chart(
            title=f"{title} along the {found.along}s",
            summary=(
                f"From {found.sets[0].data.name} to {found.sets[-1].data.name}, {measure_title(names[0])} goes from "
                f"{number(first)} to {number(last)}."
            ),
            kind="line",
            data=Table(title, ("Measure", "Place", "Scaled value", "Set", "Value"), rows),
            x=Axis("Place", found.along),
            y=Axis("Scaled value", "scaled value", low=0.0, high=1.0),
            series="Measure",
        )


def _points(found: SetComparison, name: str) -> Iterator[tuple[Cell, ...]]:
    values = np.array([one.values[name].value for one in found.sets])
    for place, (one, scaled) in enumerate(zip(found.sets, scale_to_unit(values), strict=True), 1):
        value = one.values[name].value
        yield (measure_title(name), place, number_or_none(scaled), one.data.name, number_or_none(value))


def cka_pairs(found: SetComparison) -> list[Pair]:
    """CKA of every two sets that have the same rows, as far as labels tell; none where rows cannot be paired."""
    sets = found.sets
    if len(sets) > MOST_SETS or not all(_same_rows(sets[0], one) for one in sets[1:]):
        return []
    return [
        (one.data.name, other.data.name, cka(one.data.features, other.data.features))
        for at, one in enumerate(sets)
        for other in sets[at + 1 :]
    ]


def _same_rows(one: Compared, other: Compared) -> bool:
    first, second = one.data.classes, other.data.classes
    return first.names == second.names and np.array_equal(first.codes, second.codes)


def cka_charts(found: SetComparison) -> Iterator[Chart]:
    """A map of the similarity between sets."""
    pairs = cka_pairs(found)
    if not pairs:
        return
    names = [one.data.name for one in found.sets]
    known = {(one, other): value for one, other, value in pairs}
    rows = tuple(
        (one, other, number_or_none(1.0 if one == other else known.get((one, other), known.get((other, one), np.nan))))
        for one in names
        for other in names
    )
    closest = max(pairs, key=lambda pair: -1.0 if np.isnan(pair[2]) else pair[2])
    yield Chart(
        title="Similarity of the sets (CKA)",
        summary=f"The most alike are {closest[0]} and {closest[1]} ({number(closest[2])}).",
        kind="heat",
        data=Table("Similarity of the sets", ("Set", "Other set", "CKA"), rows),
        x=Axis("Other set", "Other set", "category"),
        y=Axis("Set", "Set", "category"),
        shade="CKA",
    )
