"""What programs do with a model of their own: features of its layers, robustness, and a curve over the epochs.

Robustness is each measure with and without random transformations of the inputs; the curve measures each epoch of a
training loop. `robustness` is promised to programs with one named argument for each choice, so it has more than six.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite import __version__
from basanite.canonical import plain_values
from basanite.figures import Axis, Cell, Chart, Table
from basanite.reports.report import Report, Section, write
from basanite.reports.wording import number, plural
from basanite.representation.catalogue import measure_title
from basanite.representation.comparison import Repeated, summarize_repeats
from basanite.representation.extraction.layers import BATCH, extract, layers
from basanite.representation.extraction.pooling import Pool, feature_flags
from basanite.representation.measures.all_measures import LINEAR, Options, linear_values, measure
from basanite.representation.measures.results import Classes, Labels, number_or_none
from basanite.representation.measures.sums import ClassSums, Features, LinearPass
from basanite.synthetic.transforms import Channels, Transformation, transform_pictures


def save_features(
    path: Path, features: NDArray[Any], labels: Sequence[Any] | NDArray[Any], **more: NDArray[Any]
) -> None:
    """Write features and labels (and `predictions`, `groups`, …) as the `.npz` that `basanite measure` reads."""
    np.savez_compressed(path, allow_pickle=False, features=features, labels=np.asarray(labels), **more)


REPEATS: Final = 5


@dataclass(frozen=True)
class Robustness:
    """Every measure without transformations, and its mean and deviation with them."""

    plain: dict[str, float]
    changed: dict[str, Repeated]

    def change(self, name: str) -> float:
        """With less without."""
        return self.changed[name].mean - self.plain[name]


@dataclass(frozen=True)
class Looked:
    """Where features are taken from: a model, one of its layers, and how its inputs lie."""

    model: Any
    layer: str
    batch: int = BATCH
    pool: Pool = "mean"
    channels: Channels = "last"
    flat: bool = False
    """Whether the model takes pictures as flat rows."""

    def features(self, pictures: NDArray[Any]) -> NDArray[np.float32]:
        """The features of some pictures."""
        inputs = pictures.reshape(len(pictures), -1) if self.flat else pictures
        return extract(self.model, inputs, layer=self.layer, batch=self.batch, pool=self.pool)


def transformed_features(
    looked: Looked,
    pictures: NDArray[Any],
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    how: Transformation | None = None,
) -> Iterator[NDArray[np.float32]]:
    """The features of the same pictures, transformed at random in every repeat."""
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        yield looked.features(transform_pictures(pictures, rng, how=how, channels=looked.channels))


def robustness(
    looked: Looked,
    pictures: NDArray[Any],
    labels: Labels,
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    how: Transformation | None = None,
    names: tuple[str, ...] | None = None,
    options: Options | None = None,
) -> Robustness:
    """Every measure with and without transformations: five repeats unless you say otherwise."""
    # Eight arguments: they are the options of the command and of the Python interface.
    classes = Classes.of(labels)
    without = measure(looked.features(pictures), classes, names=names, options=options).values
    runs = [
        measure(features, classes, names=names, options=options).values
        for features in transformed_features(looked, pictures, repeats=repeats, seed=seed, how=how)
    ]
    return Robustness(
        {name: found.value for name, found in without.items()},
        {name: summarize_repeats([run[name].value for run in runs]) for name in without},
    )


FORMAT = "basanite-epochs/1"
DRAWN = ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse", "rs", "c_root_k")
"""Measures near 1, which share an axis."""


@dataclass
class EpochCurve:
    """The measures of every epoch so far; call it, or `record`, at the end of each."""

    options: Options = field(default_factory=Options)
    name: str = "training"
    names: tuple[str, ...] = ()
    """The measures of each epoch: those of one pass without it. Others need all features of an epoch in memory."""
    epochs: list[int] = field(default_factory=list)
    values: list[dict[str, float]] = field(default_factory=list)

    def record(self, epoch: int, features: Features, labels: Labels) -> dict[str, float]:
        """Take in one epoch's features; gives its measures."""
        return self.record_batches(epoch, [(features, labels)])

    __call__ = record

    def record_batches(self, epoch: int, batches: Iterable[tuple[Features, Labels]]) -> dict[str, float]:
        """The same from batches as they come: sums are kept, not rows, unless a measure needs all of them."""
        if set(self.names) <= set(LINEAR) - {"davies_bouldin"}:
            stream = LinearPass()
            for features, labels in batches:
                stream.add(features, labels)
            found = _values(stream.sums(), self.options)
            found = {name: found[name] for name in self.names or found}
        else:
            parts = [(np.asarray(features), np.asarray(labels)) for features, labels in batches]
            whole, classes = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
            values = measure(whole, classes, names=self.names, options=self.options).values
            found = {name: one.value for name, one in values.items()}
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
            "Every measure",
            ("Epoch", *map(measure_title, names)),
            tuple(
                (epoch, *(number_or_none(values.get(name)) for name in names))
                for epoch, values in zip(self.epochs, self.values, strict=True)
            ),
        )
        return Report(
            title=self.name,
            subtitle="How the representation grows in training",
            sections=(Section("Curve", "", (self.chart(),)), Section("Values", "", (table,))),
            facts=(("Software", f"Basanite {__version__}"),),
            data=plain_values(data),
            records=replace(table, columns=("Epoch", *names)),
            sentences=(self._summary(),),
        )

    def save(self, path: Path) -> None:
        """Write the report: `.html`, `.json`, `.csv` …"""
        write(self.report(), path)

    def _rows(self) -> Iterator[tuple[Cell, ...]]:
        for name in DRAWN:
            for epoch, values in zip(self.epochs, self.values, strict=True):
                if name in values:
                    yield (measure_title(name), epoch, number_or_none(values[name]))

    def _summary(self) -> str:
        if not self.values:
            return "No epoch has been recorded yet."
        name = next(iter(self.values[0])) if "ferm1" not in self.values[0] else "ferm1"
        first, last = (values.get(name, np.nan) for values in (self.values[0], self.values[-1]))
        goes = f"{measure_title(name)} goes from {number(first)} to {number(last)}"
        return f"Over {plural('epoch', len(self.epochs))}, {goes}."


def _values(sums: ClassSums, options: Options) -> dict[str, float]:
    found = linear_values(sums.without_empty(), None, options)
    return {name: measured.value for name, measured in found.items()}


__all__ = [
    "EpochCurve",
    "Looked",
    "Robustness",
    "extract",
    "feature_flags",
    "layers",
    "robustness",
    "save_features",
    "transformed_features",
]
