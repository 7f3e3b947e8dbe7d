"""Draws of rows with replacement inside each class: classes and their sizes stay what they are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from basanite.analysis.resampling import indices
from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.dice import source_of
from basanite.metrics.representation.results import Floats

BLOCK = 1 << 22
"""Weights of one block (32 MB)."""


def class_weights(classes: Classes, *, draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of weights `[draws, N]`: how often each row is in each draw; every class keeps its number of rows.

    >>> drawn = np.concatenate(list(class_weights(Classes.of(["a", "b", "a", "b", "b"]), draws=3, seed=0)))
    >>> drawn[:, [0, 2]].sum(axis=1).tolist(), drawn[:, [1, 3, 4]].sum(axis=1).tolist()
    ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0])
    """
    rows = len(classes.codes)
    sources = [source_of(seed, "rows", str(place)) for place in range(len(classes))]
    most = max(1, BLOCK // max(rows, 1))
    for start in range(0, draws, most):
        size = min(most, draws - start)
        block = np.zeros((size, rows))
        for place, source in enumerate(sources):
            own = classes.members(place)
            block[:, own] = _counted(source, size, len(own))
        yield block


def _counted(source: np.random.PCG64, draws: int, rows: int) -> Floats:
    words = source.random_raw(draws * ((rows + 1) // 2)).reshape(draws, -1)
    drawn = indices(words, rows)[:, :rows] + np.arange(draws)[:, None] * rows
    return np.bincount(drawn.ravel(), minlength=draws * rows).reshape(draws, rows).astype(np.float64)
