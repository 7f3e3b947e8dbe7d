"""How much each measure changes when a model's inputs are flipped, scaled, resized and rotated at random (F-16).

A model that learned its task represents transformed inputs about as well; a measure to be used while training must not
change much under the transformations of training.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.metrics.representation.classes import Classes, Labels
from basanite.metrics.representation.everything import Options, measure
from basanite.representation.comparing.sets import Repeated, repeated
from basanite.representation.models.extraction import BATCH, Pool, extract
from basanite.synthetic.files.transforms import Channels, Transformation, transformed

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
        yield looked.features(transformed(pictures, rng, how=how, channels=looked.channels))


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
    classes = Classes.of(labels)
    without = measure(looked.features(pictures), classes, names=names, options=options).values
    runs = [
        measure(features, classes, names=names, options=options).values
        for features in transformed_features(looked, pictures, repeats=repeats, seed=seed, how=how)
    ]
    return Robustness(
        {name: found.value for name, found in without.items()},
        {name: repeated([run[name].value for run in runs]) for name in without},
    )
