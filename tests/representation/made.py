"""Small sets of features with known structure, for all tests of this folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from basanite.representation.data import Data
from basanite.representation.measures.results import Classes

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "features"


def features(rng, classes=4, rows=30, dimensions=6, apart=3.0, spread=1.0):
    """Rows around one positive centre for each class, never negative, as after a ReLU."""
    centres = apart * rng.random((classes, dimensions))
    table = np.maximum(np.repeat(centres, rows, axis=0) + spread * rng.normal(size=(classes * rows, dimensions)), 0)
    return table + 0.05, np.repeat(np.arange(classes), rows)


def data(rng=None, name="made", **more):
    """The same as a set that is ready to be measured."""
    rng = np.random.default_rng(0) if rng is None else rng
    given = {key: more.pop(key) for key in ("correct", "groups", "source", "predicted") if key in more}
    table, labels = features(rng, **more)
    return Data(name, table, Classes.of(labels), **given)


def cosine(a, b):
    """The cosine of two rows."""
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def slow_ferm1(table, labels, weights=None):
    """FERM 1 by looking at every pair; with weights, pairs of copies are left out (S-5)."""
    weights = np.ones(len(table)) if weights is None else weights
    found = []
    for name in np.unique(labels):
        inside, outside, pairs, others = 0.0, 0.0, 0.0, 0.0
        for a in range(len(table)):
            for b in range(len(table)):
                if labels[a] != name or a == b:
                    continue
                heavy = weights[a] * weights[b]
                if labels[b] == name:
                    inside, pairs = inside + heavy * cosine(table[a], table[b]), pairs + heavy
                else:
                    outside, others = outside + heavy * cosine(table[a], table[b]), others + heavy
        if pairs:
            found.append((inside / pairs) / (outside / others))
    return float(np.mean(found))
