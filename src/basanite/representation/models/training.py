"""The linear measures of each epoch as a curve: a callback for training loops of any framework (F-19).

    curve = EpochCurve()
    for epoch in range(epochs):
        train(model)
        curve.record(epoch, features, labels)            # arrays, or
        curve.record_batches(epoch, batches)             # batches of (features, labels), never all in memory

Only measures that one pass gives are taken, so an epoch costs one read of the features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite import __version__
from basanite.figures import Axis, Cell, Chart, Table
from basanite.metrics.representation.classes import Labels
from basanite.metrics.representation.everything import Options, linear_values
from basanite.metrics.representation.passes import Features, LinearPass
from basanite.metrics.representation.sums import ClassSums
from basanite.reports.formats.json_output import plain
from basanite.reports.model import Report, Section
from basanite.reports.outputs import write
from basanite.reports.wording import number, plural
from basanite.representation.models.extraction import BATCH, Pool, extract

FORMAT = "basanite-epochs/1"
DRAWN = ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse", "rs", "c_root_k")
"""Measures near 1, which share an axis."""


@dataclass
class EpochCurve:
    """The measures of every epoch so far; call it, or `record`, at the end of each."""

    options: Options = field(default_factory=Options)
    name: str = "training"
    epochs: list[int] = field(default_factory=list)
    values: list[dict[str, float]] = field(default_factory=list)

    def record(self, epoch: int, features: Features, labels: Labels) -> dict[str, float]:
        """Take in one epoch's features; gives its measures."""
        return self.record_batches(epoch, [(features, labels)])

    __call__ = record

    def record_batches(self, epoch: int, batches: Iterable[tuple[Features, Labels]]) -> dict[str, float]:
        """The same from batches as they come: sums are kept, not rows."""
        stream = LinearPass()
        for features, labels in batches:
            stream.add(features, labels)
        found = _values(stream.sums(), self.options)
        self.epochs.append(epoch)
        self.values.append(found)
        return found

    def record_model(
        self, epoch: int, model: Any, inputs: NDArray[Any], labels: Labels, *, layer: str, pool: Pool = "mean"
    ) -> dict[str, float]:
        """The same from a layer of the model that is being trained."""
        return self.record(epoch, extract(model, inputs, layer=layer, batch=BATCH, pool=pool), labels)

    def column(self, name: str) -> NDArray[np.float64]:
        """One measure over the epochs; nan where an epoch does not have it."""
        return np.array([values.get(name, np.nan) for values in self.values])

    def chart(self) -> Chart:
        """The measures near 1 over the epochs."""
        rows = tuple(self._rows())
        return Chart(
            title="Measures over the epochs",
            summary=self._summary(),
            kind="line",
            data=Table("Measures over the epochs", ("Measure", "Epoch", "Value"), rows),
            x=Axis("Epoch", "epoch"),
            y=Axis("Value", "value"),
            series="Measure",
        )

    def report(self) -> Report:
        """The curve as a report, ready for any output."""
        data = {"format": FORMAT, "epochs": self.epochs, "values": self.values}
        names = sorted({name for values in self.values for name in values})
        table = Table(
            "Every linear measure",
            ("Epoch", *names),
            tuple(
                (epoch, *(_defined(values.get(name)) for name in names))
                for epoch, values in zip(self.epochs, self.values, strict=True)
            ),
        )
        return Report(
            title=self.name,
            subtitle="How the representation grows in training",
            sections=(Section("Curve", "", (self.chart(),)), Section("Values", "", (table,))),
            facts=(("Software", f"Basanite {__version__}"),),
            data=plain(data),
            records=table,
            sentences=(self._summary(),),
        )

    def save(self, path: Path) -> None:
        """Write the report: `.html`, `.json`, `.csv` …"""
        write(self.report(), path)

    def _rows(self) -> Iterator[tuple[Cell, ...]]:
        for name in DRAWN:
            for epoch, values in zip(self.epochs, self.values, strict=True):
                if name in values:
                    yield (name, epoch, _defined(values[name]))

    def _summary(self) -> str:
        if not self.values:
            return "No epoch has been recorded yet."
        first, last = (values["ferm1"] for values in (self.values[0], self.values[-1]))
        return f"Over {plural('epoch', len(self.epochs))}, ferm1 goes from {number(first)} to {number(last)}."


def _values(sums: ClassSums, options: Options) -> dict[str, float]:
    found = linear_values(sums.without_empty(), None, options)
    return {name: measured.value for name, measured in found.items()}


def _defined(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value
