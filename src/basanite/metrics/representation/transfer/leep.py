"""LEEP: the mean log-likelihood of target labels under the source head's classes, read off their joint table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.metrics.representation.classes import Classes, Labels, classes_of, named_rows
from basanite.metrics.representation.passes import refuse_infinite
from basanite.metrics.representation.results import Floats, Measured

SUM_TOLERANCE = 1e-3
"""How far from 1 the probabilities of a row may sum: float16 heads are no better."""


def leep(*, source_probabilities: NDArray[np.floating], labels: Labels | Classes) -> Measured:
    """LEEP in nats, at most 0, from the probabilities that the source head gives to the target's rows.

    `parts` hold the entropy of the labels and `above_constant`: LEEP plus that entropy, which is 0 for a head that
    says the same of every row.

    >>> leep(source_probabilities=np.full((4, 2), 0.5), labels=[0, 0, 1, 1]).parts["above_constant"]
    0.0
    """
    theta, classes = probabilities_of(source_probabilities, labels)
    value = float(leep_values(theta, classes, np.ones((1, len(theta))))[0])
    shares = classes.counts / len(theta)
    entropy = float(-(shares * np.log(shares)).sum())
    return Measured(value, (), {"entropy": entropy, "above_constant": value + entropy})


def leep_draws(
    source_probabilities: NDArray[np.floating], labels: Labels | Classes, weights: Iterable[Floats]
) -> Floats:
    """LEEP in every draw, given blocks of weights `[draws, N]`."""
    theta, classes = probabilities_of(source_probabilities, labels)
    return np.concatenate([leep_values(theta, classes, block) for block in weights])


def leep_values(theta: Floats, classes: Classes, weights: Floats) -> Floats:
    """LEEP under each row of weights; only the column of a row's own label is ever needed: O(N Z) each."""
    joint = [weights[:, classes.members(place)] @ theta[classes.members(place)] for place in range(len(classes))]
    margin = np.sum(joint, axis=0)
    found = np.zeros(len(weights))
    for place, table in enumerate(joint):
        members = classes.members(place)
        given = np.divide(table, margin, out=np.zeros_like(table), where=margin > 0)
        likelihood = theta[members] @ given.T
        own = weights[:, members].T
        logs = np.log(likelihood, out=np.zeros_like(likelihood), where=own > 0)
        found += (own * logs).sum(axis=0)
    return np.asarray(np.minimum(found / weights.sum(axis=1), 0.0))  # likelihoods of 1 may come out a rounding above it


def probabilities_of(given: NDArray[np.floating], labels: Labels | Classes) -> tuple[Floats, Classes]:
    """Probabilities as float64 rows that sum to 1, and the classes; anything else is refused with its rows."""
    theta = np.asarray(given, dtype=np.float64)
    if theta.ndim != 2:
        raise FeaturesError(f"Source probabilities must be a table, rows by source classes, not {theta.shape}.")
    classes = classes_of(labels, len(theta))
    refuse_infinite(theta, np.arange(len(theta)))
    totals = theta.sum(axis=1)
    bad = np.flatnonzero((theta < 0).any(axis=1) | (np.abs(totals - 1) > SUM_TOLERANCE))
    if bad.size:
        raise FeaturesError(f"Source probabilities must not be negative and sum to 1; not so {named_rows(bad)}.")
    return theta / totals[:, None], classes
