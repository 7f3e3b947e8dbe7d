"""Feature files for the commands of `basanite measure`, and what those commands print about them."""

import numpy as np
from tests.cli.running import here
from tests.metrics.labelled_features import clouds, cosines

NAMES = np.array(["ant", "bee", "cow", "dog", "elk"])
COSINE = ("ferm1", "ferm2", "ferm3", "ferm4", "gap", "collapse")

EXACT = {"rel": 2e-9, "abs": 1e-10}
"""Printed values have 10 significant digits."""


def every_part():
    """A file with every part: uneven classes, the probabilities of a source head, and source rows."""
    features, codes = clouds(0, rows=90, spread=0.3)
    rng = np.random.default_rng(1)
    return {
        "features": features,
        "labels": NAMES[codes],
        "source_probabilities": rng.dirichlet(np.full(4, 0.5), 90),
        "source_features": features[:40] + 0.1 * rng.normal(size=(40, 6)),
        "source_labels": codes[:40],
    }


def measured(folder, *words, command="run", **arrays):
    """The JSON object of `basanite measure run`, for a file of these arrays or one that already exists."""
    if arrays:
        np.savez(folder / "set.npz", **arrays)
        words = ("set.npz", *words)
    ended = here("measure", command, *words, "--json", cwd=folder)
    assert ended.code == 0, ended.stderr
    return ended.data


def values(folder, *words, **arrays):
    """The plain numbers of a run without intervals."""
    found = measured(folder, "--draws", "0", *words, **arrays)
    return {name: value["value"] for name, value in found["values"].items()}


def refused(folder, *words, **arrays):
    """What `basanite measure run` says when it cannot measure a file."""
    np.savez(folder / "set.npz", **arrays)
    ended = here("measure", "run", "set.npz", *words, cwd=folder)
    assert ended.code in (1, 2), ended.stdout
    assert "Traceback" not in ended.stderr
    return ended.stdout + ended.stderr


def ferm1_of(features, labels, weights=None):
    """FERM 1 over all pairs of different rows; with weights, a pair counts the product of its two."""
    heavy = np.ones(len(labels)) if weights is None else weights
    pairs = np.outer(heavy, heavy)
    np.fill_diagonal(pairs, 0)
    cosine, ratios = cosines(features), []
    for name in np.unique(labels):
        own = labels == name
        inside, outside = np.outer(own, own) * pairs, np.outer(own, ~own) * pairs
        if inside.any():  # a class with one row, or copies of one, has no pair
            ratios.append(((cosine * inside).sum() / inside.sum()) / ((cosine * outside).sum() / outside.sum()))
    return float(np.mean(ratios))
