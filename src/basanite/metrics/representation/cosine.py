"""FERM: how much more alike rows of one class are than rows of different classes, by the cosine.

Plain functions of arrays. All are exact and linear in the number of rows; never centre, standardise or whiten features
before them. The definitions, with the readings they rest on, are in `docs/explanation/representation-measures.md`.

FERM: A FEature-space Representation Measure for Improved Model Evaluation (2022).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from basanite.metrics.representation.classes import Classes, Labels, classes_of
from basanite.metrics.representation.ferm import Singletons, Weighting, class_figures, ferm_of
from basanite.metrics.representation.passes import Features, linear_pass, shape_of, unit_rows
from basanite.metrics.representation.results import ClassFigures, Measured, Numbers, SampleFigures
from basanite.metrics.representation.sums import ClassSums


@dataclass(frozen=True)
class Ferm:
    """The cosine measures of a data set and the figures of its classes."""

    values: dict[str, Measured]
    """`ferm1` to `ferm4`, and our own `gap` and `collapse`."""
    classes: ClassFigures


def ferm(
    features: Features, labels: Labels | Classes, *, weighting: Weighting = "classes", singletons: Singletons = "omit"
) -> Ferm:
    """FERM 1 to 4 with gap, collapse and the figures of each class, in one read of the features.

    >>> found = ferm(np.array([[1.0, 0], [1, 0.1], [0, 1], [0.1, 1]]), ["a", "a", "b", "b"])
    >>> round(found.values["ferm2"].value, 3), found.classes.names
    (10.025, ('a', 'b'))
    """
    sums = linear_pass(features, labels, moments=False)
    return Ferm(ferm_of(sums, weighting=weighting, singletons=singletons), class_figures(sums))


def ferm1(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """The mean over classes of similarity inside over similarity to all other rows."""
    return ferm(features, labels, singletons=singletons).values["ferm1"].value


def ferm2(
    features: Features, labels: Labels, *, weighting: Weighting = "classes", singletons: Singletons = "omit"
) -> float:
    """Mean similarity inside classes over mean similarity between pairs of classes.

    >>> round(ferm2(np.array([[1.0, 0], [1, 1], [0, 1], [1, 2]]), [0, 0, 1, 1]), 3)
    1.523
    """
    return ferm(features, labels, weighting=weighting, singletons=singletons).values["ferm2"].value


def ferm3(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """Mean similarity inside classes over that of rows with the angular centroids of other classes."""
    return ferm(features, labels, singletons=singletons).values["ferm3"].value


def ferm4(features: Features, labels: Labels, *, singletons: Singletons = "omit") -> float:
    """Mean similarity inside classes over that between the angular centroids of classes."""
    return ferm(features, labels, singletons=singletons).values["ferm4"].value


def gap(features: Features, labels: Labels) -> float:
    """Ours: mean similarity inside classes less that between them, in [-2, 2]; safe on centred features."""
    return ferm(features, labels).values["gap"].value


def collapse(features: Features, labels: Labels) -> float:
    """Ours: (1 - similarity inside) / (1 - similarity between); 0 is a collapsed class, 1 no structure."""
    return ferm(features, labels).values["collapse"].value


def samples(features: Features, labels: Labels | Classes, *, sums: ClassSums | None = None) -> SampleFigures:
    """Own-class and best-rival cosine of each row by class means: N K d work, no pair of rows is looked at (F-13).

    With the state of more rows (`sums`) rows are held against all of these, and rivals are places in its names.
    """
    classes = classes_of(labels, shape_of(features)[0])
    state = linear_pass(features, classes, moments=False) if sums is None else sums
    places = state.places(classes.names)[classes.codes]
    size = len(classes.codes)
    found = SampleFigures(np.empty(size), np.empty(size), np.empty(size, np.int64))
    step = max(1, (1 << 22) // max(len(state.names), state.dimensions))
    for start in range(0, size, step):
        _fill_samples(found, features, places, state, np.arange(start, min(start + step, size)))
    return found


def _fill_samples(found: SampleFigures, features: Features, places: Numbers, state: ClassSums, rows: Numbers) -> None:
    unit = unit_rows(features, rows)
    own = places[rows]
    similar = unit @ (state.unit / state.counts[:, None]).T
    others = state.counts[own] - 1
    at = np.arange(len(rows))
    inside = similar[at, own] * state.counts[own] - np.einsum("ij,ij->i", unit, unit)
    found.own_cosine[rows] = np.divide(inside, others, out=np.full(len(rows), np.nan), where=others > 0)
    similar[at, own] = -np.inf
    found.rival[rows] = similar.argmax(axis=1)
    found.rival_cosine[rows] = similar.max(axis=1)
