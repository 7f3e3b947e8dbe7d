"""Silhouette and point-biserial in resampled draws: tiles of distances times weights, pairs of copies left out (S-5).

For each row and draw the weighted sum of distances to a class is one entry of a matrix product, so a thousand draws
cost about as much as the distances themselves. A copy of a row is no neighbour of it: the own class counts its
weight less that of the row itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np

from basanite.metrics.representation.classes import Classes, Labels, classes_of
from basanite.metrics.representation.draws import joined
from basanite.metrics.representation.pairwise.pairs import PointBiserial, point_biserial_values
from basanite.metrics.representation.pairwise.panels import TILE, Plan, Tile
from basanite.metrics.representation.pairwise.sweep import Precision
from basanite.metrics.representation.passes import Features, linear_pass, shape_of
from basanite.metrics.representation.results import Floats, Numbers

MOST = 1 << 24
"""Weights worked on at a time."""


def pairwise_draws(
    features: Features,
    labels: Labels | Classes,
    weights: Iterable[Floats],
    *,
    precision: Precision = "float32",
    definition: PointBiserial = "pearson",
    executor: Executor | None = None,
) -> dict[str, Floats]:
    """`silhouette` (mean over rows) and `point_biserial` in every draw, given blocks of weights `[draws, N]`."""
    classes = classes_of(labels, shape_of(features)[0])
    plan = Plan.of(features, classes, linear_pass(features, classes), precision)
    groups = [_group(plan, group[:, classes.order], definition, executor) for group in joined(weights, MOST)]
    return {name: np.concatenate([group[name] for group in groups]) for name in ("silhouette", "point_biserial")}


@dataclass(frozen=True)
class _Sums:
    """What the rows of one strip give to every draw; strips add up."""

    silhouette: Floats
    within: Floats
    between: Floats
    squares: Floats
    means: Floats

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(mine + yours for mine, yours in zip(vars(self).values(), vars(other).values(), strict=True)))


def _group(plan: Plan, weights: Floats, definition: PointBiserial, executor: Executor | None) -> dict[str, Floats]:
    """One group of draws, weights in class order."""
    counts = np.add.reduceat(weights, plan.classes.starts[:-1], axis=1)
    work = partial(_strip, plan, weights, counts)
    starts = range(0, len(plan.classes.codes), TILE)
    sums = reduce(add, map(work, starts) if executor is None else executor.map(work, starts))
    total, copies = weights.sum(axis=1), (weights**2).sum(axis=1)
    inside = ((counts**2).sum(axis=1) - copies) / 2
    squares = total * sums.squares - np.einsum("ij,ij->i", sums.means, sums.means)
    values = point_biserial_values(
        (total**2 - copies) / 2, inside, sums.within / 2, sums.between / 2, squares, definition
    )
    defined = (counts > 0).sum(axis=1) >= 2
    return {"silhouette": np.where(defined, sums.silhouette / total, np.nan), "point_biserial": values}


def _strip(plan: Plan, weights: Floats, counts: Floats, start: int) -> _Sums:
    """Some rows against all classes, in every draw: figures are `[rows, draws]`."""
    stop = min(start + TILE, len(plan.classes.codes))
    mine, left = weights[:, start:stop].T, plan.left(start, stop)
    codes = plan.classes.codes[plan.classes.order[start:stop]]
    own, rival, between = np.zeros_like(mine), np.full_like(mine, np.inf), np.zeros(len(weights))
    for place in range(len(plan.classes)):
        sums, inside = _to_class(plan, left, start, place, weights), codes == place
        own[inside] = sums[inside]
        between += (mine[~inside] * sums[~inside]).sum(axis=0)
        means = np.divide(sums, counts[:, place], out=np.full_like(sums, np.inf), where=counts[:, place] > 0)
        rival[~inside] = np.minimum(rival[~inside], means[~inside])
    rows = plan.rows(start, stop)
    return _Sums(
        silhouette=(mine * _silhouettes(own, rival, counts[:, codes].T - mine)).sum(axis=0),
        within=(mine * own).sum(axis=0),
        between=between,
        squares=np.einsum("ij,ij->i", rows, rows) @ mine,
        means=mine.T @ rows,
    )


def _to_class(plan: Plan, left: Tile, start: int, place: int, weights: Floats) -> Floats:
    """The weighted sum of distances from some rows to one class, in every draw."""
    found = np.zeros((len(left), len(weights)))
    low, high = plan.classes.starts[place : place + 2].tolist()
    for at in range(low, high, TILE):
        end = min(at + TILE, high)
        tile = np.sqrt(np.maximum(left @ plan.right(at, end).T, 0.0))
        if at < start + len(left) and start < end:
            tile[
                np.arange(max(at, start), min(end, start + len(left))) - start, _overlap(start, len(left), at, end)
            ] = 0
        found += tile @ weights[:, at:end].T.astype(tile.dtype)
    return found


def _overlap(start: int, rows: int, at: int, end: int) -> Numbers:
    """The columns of a tile that are the rows themselves: a row is no neighbour of its copies."""
    return np.arange(max(at, start), min(end, start + rows)) - at


def _silhouettes(own: Floats, rival: Floats, others: Floats) -> Floats:
    """Silhouettes in every draw; 0 where the own class holds nothing but copies of the row, and where both are 0."""
    mean = np.divide(own, others, out=np.zeros_like(own), where=others > 0)
    larger = np.maximum(mean, rival)
    defined = (others > 0) & (larger > 0) & np.isfinite(rival)
    return np.divide(rival - mean, larger, out=np.zeros_like(own), where=defined)
