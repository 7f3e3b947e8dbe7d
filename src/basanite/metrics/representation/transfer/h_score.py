"""H-score: the share of feature covariance that class means explain, plain and with a shrunken covariance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from basanite.metrics.representation.classes import Classes, Labels, classes_of
from basanite.metrics.representation.passes import Features, linear_pass, shape_of
from basanite.metrics.representation.results import FEW_ROWS, UNDEFINED, Floats, Measured
from basanite.metrics.representation.spread import scatter

BLOCK: Final = 2048
"""Rows that are multiplied at a time."""


def h_score(features: Features, labels: Labels | Classes, *, shrunk: bool = False) -> Measured:
    """tr(pinv(cov f) cov(E[f|y])), between 0 and K - 1; `shrunk` takes the Ledoit-Wolf covariance.

    With no more than d + 1 rows the plain form is K - 1 whatever the features, which is flagged. `parts` hold
    `per_class`, the value over K - 1, the rank, and the cut below which eigenvalues count as zero.

    >>> h_score(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value.__round__(4)
    0.9615
    """
    rows, dimensions = shape_of(features)
    classes = classes_of(labels, rows)
    moments = Moments.of(features, classes)
    if not moments.covariance.any():
        return Measured(float("nan"), (UNDEFINED,), notes=("the features do not vary",))
    value, parts = _shrunk(moments, rows) if shrunk else _plain(moments, rows)
    parts["per_class"] = value / (len(classes) - 1)
    flags = (FEW_ROWS,) if rows - 1 <= dimensions and not shrunk else ()
    return Measured(value, flags, parts)


def h_score_draws(features: Features, labels: Labels | Classes, weights: Iterable[Floats]) -> Floats:
    """The plain H-score in every draw; only to be asked for where N - 1 > d (S-5), and slow for large d."""
    classes = classes_of(labels, shape_of(features)[0])
    rows = np.asarray(features[:], dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    found = []
    for block in weights:
        found += [_plain(Moments.weighted(rows, classes, one), len(rows))[0] for one in block]
    return np.array(found)


@dataclass(frozen=True)
class Moments:
    """The covariance of all rows, and the class means scaled so that their products give that of the means."""

    covariance: Floats
    means: Floats
    """sqrt(n_i / N) (c_i - c), `[K, d]`: cov(E[f|y]) is means^T means."""

    fourth: float = float("nan")
    """The mean of |f - c|^4, which the shrinkage needs."""

    @classmethod
    def of(cls, features: Features, classes: Classes) -> Moments:
        """The moments of the data, a few rows at a time."""
        sums = linear_pass(features, classes)
        scatter(sums)  # refuses features whose squares are lost
        rows, dimensions = shape_of(features)
        covariance, fourth = np.zeros((dimensions, dimensions)), 0.0
        for start in range(0, rows, BLOCK):
            away = np.asarray(features[start : start + BLOCK], dtype=np.float64) - sums.centre
            covariance += away.T @ away
            with np.errstate(over="ignore"):
                fourth += float((np.einsum("ij,ij->i", away, away) ** 2).sum())
        means = (sums.centroids + sums.shift - sums.centre) * np.sqrt(sums.counts / rows)[:, None]
        return cls(covariance / rows, means, fourth / rows)

    @classmethod
    def weighted(cls, rows: Floats, classes: Classes, weights: Floats) -> Moments:
        """The moments of a weighted draw of rows that are about centred."""
        total = weights.sum()
        centre = weights @ rows / total
        covariance = (rows * weights[:, None]).T @ rows / total - np.outer(centre, centre)
        heavy = np.bincount(classes.codes, weights, minlength=len(classes))
        sums = np.array([weights[own] @ rows[own] for own in map(classes.members, range(len(classes)))])
        means = np.divide(sums, heavy[:, None], out=np.zeros_like(sums), where=heavy[:, None] > 0) - centre
        return cls(covariance, means * np.sqrt(heavy / total)[:, None])


def _plain(moments: Moments, rows: int) -> tuple[float, dict[str, float]]:
    """The trace through the eigenvalues above eps max(N, d) lambda_max; those below count as zero."""
    values, vectors = np.linalg.eigh(moments.covariance)
    cut = float(np.finfo(np.float64).eps * max(rows, len(values)) * values[-1])
    kept = values > cut
    turned = moments.means @ vectors[:, kept]
    return float((turned**2 / values[kept]).sum()), {"rank": float(kept.sum()), "cut": cut}


def _shrunk(moments: Moments, rows: int) -> tuple[float, dict[str, float]]:
    """Ibrahim et al.: (1 - alpha) tr(shrunken^-1 cov g), alpha by Ledoit and Wolf."""
    alpha = ledoit_wolf(moments.covariance, moments.fourth, rows)
    size = len(moments.covariance)
    target = np.trace(moments.covariance) / size
    mixed = (1 - alpha) * moments.covariance + alpha * target * np.eye(size)
    value = (1 - alpha) * float(np.einsum("ij,ji->", moments.means, np.linalg.solve(mixed, moments.means.T)))
    return value, {"shrinkage": alpha}


def ledoit_wolf(covariance: Floats, fourth: float, rows: int) -> float:
    """The share of the scaled identity that the covariance is mixed with (Ledoit and Wolf 2004), in 0..1.

    >>> ledoit_wolf(np.diag([2.0, 0.0]), 16.0, 4)
    1.0
    """
    own = float((covariance**2).sum())
    distance = own - float(np.trace(covariance)) ** 2 / len(covariance)
    noise = (fourth - own) / rows
    if noise <= 0:
        return 0.0
    return min(noise, distance) / distance if distance > 0 else 1.0
