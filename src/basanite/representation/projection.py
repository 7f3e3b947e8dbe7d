"""Two dimensions for the eye: t-SNE or principal components of the rows, scaled to 0..1 and seeded (F-15).

Distances in a t-SNE picture mean little and cluster sizes nothing; it shows which classes run into each other.

Van der Maaten and Hinton, Visualizing Data using t-SNE (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from basanite.errors import FeaturesError
from basanite.kernel import source_of
from basanite.representation.data import threads_for
from basanite.representation.measures.resamples import drawn_rows
from basanite.representation.measures.results import Classes, Floats, Numbers

Method = Literal["tsne", "pca"]
METHODS: Final = ("tsne", "pca")
MOST: Final = 1500
"""Rows that are drawn: more would only hide each other."""
PERPLEXITY: Final = 30.0
COMPONENTS: Final = 50
"""t-SNE starts from so many principal components, as its authors advise."""


@dataclass(frozen=True)
class Projection:
    """Points of some rows, 0 to 1 in both directions."""

    method: Method
    rows: Numbers
    points: Floats
    """`[rows, 2]`."""


def project(features: Any, classes: Classes, *, method: Method = "tsne", seed: int = 0, most: int = MOST) -> Projection:
    """Rows of all classes in two dimensions; of many rows a seeded part of each class.

    >>> found = project(np.eye(4), Classes.of([0, 0, 1, 1]), method="pca")
    >>> float(found.points.min()), float(found.points.max())
    (0.0, 1.0)
    """
    if method not in METHODS:
        raise FeaturesError(f"No projection is called {method!r}: use {' or '.join(METHODS)}.")
    rows = _some(classes, most, seed)
    table = np.asarray(features[rows], dtype=np.float64)
    points = _principal(table, 2) if method == "pca" or len(rows) < 4 else _tsne(table, seed)
    low, wide = points.min(axis=0), np.ptp(points, axis=0)
    scaled = np.divide(points - low, wide, out=np.full_like(points, 0.5), where=wide > 0)  # without any spread 0.5
    return Projection(method, rows, scaled)


def _some(classes: Classes, most: int, seed: int) -> Numbers:
    """All rows, or about as many of each class as it has in the whole."""
    count = len(classes.codes)
    if count <= most:
        return np.arange(count)
    source = source_of(seed, "projection")
    sizes = np.maximum(1, np.floor(classes.counts * most / count)).astype(int)
    parts = [
        classes.members(place)[drawn_rows(int(classes.counts[place]), int(size), source)]
        for place, size in enumerate(sizes)
    ]
    return np.sort(np.concatenate(parts))


def _principal(table: Floats, count: int) -> Floats:
    """The first principal components, each with the sign that makes its largest entry positive."""
    centred = table - table.mean(axis=0)
    left, sizes, right = np.linalg.svd(centred, full_matrices=False)
    count = min(count, len(sizes))
    signs = np.sign(right[np.arange(count), np.abs(right[:count]).argmax(axis=1)])
    found = left[:, :count] * sizes[:count] * np.where(signs == 0, 1.0, signs)
    return np.hstack([found, np.zeros((len(table), max(0, 2 - count)))])


def _tsne(table: Floats, seed: int) -> Floats:
    from sklearn.manifold import TSNE

    reduced = _principal(table, COMPONENTS) if table.shape[1] > COMPONENTS else table
    perplexity = min(PERPLEXITY, (len(table) - 1) / 3)
    made = TSNE(2, perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed, max_iter=500)
    with threads_for(reduced.size):
        return np.asarray(made.fit_transform(reduced), dtype=np.float64)
