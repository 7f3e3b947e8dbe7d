"""Linear classifiers of many folds and grid points as one matrix, so that a block of rows is scored by one product.

Also what all our classifiers share: the grid over C, and what happens to a fold with a single value (A7).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Features, Parameters, Scores

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.int64]
C_GRID: Final = (0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Planes:
    """Weights `[columns, folds, grid, outputs]` and intercepts `[folds, grid, outputs]`."""

    weights: Floats
    intercepts: Floats

    def values(self, features: Features) -> Floats:
        """The value of every output for every row: `[folds, grid, outputs, rows]`."""
        flat = self.weights.reshape(len(self.weights), -1)
        found = np.asarray(features @ flat, np.float64).reshape(-1, *self.intercepts.shape)
        return np.moveaxis(found, 0, -1) + self.intercepts[..., None]

    def chosen(self, points: Sequence[int]) -> Planes:
        """Of every fold the one grid point that was chosen for it; the grid has then one point."""
        folds = np.arange(len(points))
        return Planes(self.weights[:, folds, list(points)][:, :, None], self.intercepts[folds, list(points)][:, None])

    @classmethod
    def stack(cls, planes: Sequence[Sequence[tuple[Floats, Floats]]]) -> Planes:
        """From weights `[outputs, columns]` and intercepts `[outputs]` of every fold and grid point."""
        weights = np.array([[weights for weights, _ in row] for row in planes])
        return cls(
            np.ascontiguousarray(np.moveaxis(weights, -1, 0)), np.array([[bias for _, bias in row] for row in planes])
        )


class GridOverC:
    """A classifier whose only parameter to choose is C, smallest first (A23)."""

    def __init__(self, *, C: Sequence[float] = C_GRID) -> None:  # noqa: N803  its name everywhere
        self.costs = tuple(sorted(C))

    def grid(self) -> Sequence[Parameters]:
        """The values of C, the most regular first: ties go to it."""
        return tuple({"C": cost} for cost in self.costs)


class FoldsTogether(ABC):
    """A classifier that trains folds and grid points together; one fold alone is a set of one."""

    one: Any = None
    """What was trained on one fold alone."""

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""
        self.one = self.fit_many(features, [np.arange(features.shape[0])], target, [parameters])

    def score(self, features: Features) -> Scores:
        """Ratings, or decision values of a label."""
        if self.one is None:
            return Constant(0.0).predict(features)
        return np.asarray(self.score_many(self.one, features)[0, 0])

    @abstractmethod
    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> Any:
        """Train on every fold with every parameters."""

    @abstractmethod
    def score_many(self, state: Any, features: Features) -> Scores:
        """`float64[folds, grid, rows]`."""


class OnePlane(GridOverC, ABC):
    """A classifier with one output whose folds and grid points are fitted apart and scored together."""

    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> Planes:
        """Train on every fold with every C."""
        return Planes.stack([self._planes(*fold, grid) for fold in folds_of(features, folds, target)])

    def score_many(self, state: Planes, features: Features) -> Scores:
        """The scores of every fold and C by one product."""
        return state.values(features)[:, :, 0]

    def score_chosen(self, state: Planes, features: Features, chosen: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the grid point that was chosen for each fold."""
        return state.chosen(chosen).values(features)[:, 0, 0]

    def _planes(self, rows: Features, target: NDArray[Any], grid: Sequence[Parameters]) -> list[tuple[Floats, Floats]]:
        value = only_value(target)
        if value is not None:
            return [(np.zeros((1, rows.shape[1])), np.array([value]))] * len(grid)
        return self._fitted_planes(rows, target, grid)

    @abstractmethod
    def _fitted_planes(
        self, rows: Features, target: NDArray[Any], grid: Sequence[Parameters]
    ) -> list[tuple[Floats, Floats]]:
        """Weights and intercept for every C, of a fold with more than one value."""


def only_value(target: NDArray[Any]) -> float | None:
    """The value of a fold that has just one, from which no classifier can be trained; None for others (A7).

    >>> only_value(np.array([0, 0])), only_value(np.array([0, 1]))
    (0.0, None)
    """
    return float(target[0]) if len(target) and (target == target[0]).all() else None


@dataclass(frozen=True)
class Constant:
    """The same score for every row (A7), in the place of a scikit-learn estimator."""

    value: float

    def predict(self, features: Features) -> Scores:
        """The value, for every row."""
        return np.full(features.shape[0], self.value)

    decision_function = predict


@dataclass(frozen=True)
class RowSpace:
    """The rows of a fold in coordinates of their own, as many as there are rows.

    A penalty on the length of the weights keeps them in the span of the rows, so nothing is lost, and a fit on 100 rows
    of 5,000 columns becomes one on 100 columns.
    """

    rows: Features
    basis: Floats | None = None

    @classmethod
    def of(cls, rows: Features) -> RowSpace:
        """The rows turned, where that makes them smaller."""
        if rows.shape[0] >= rows.shape[1]:
            return cls(rows)
        basis, triangle = np.linalg.qr(_dense(rows).T)
        return cls(np.ascontiguousarray(triangle.T), basis)

    def back(self, weights: Floats) -> Floats:
        """Weights `[outputs, coordinates]` as weights of the columns."""
        return weights if self.basis is None else weights @ self.basis.T


def _dense(rows: Features) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)


def folds_of(
    features: Features, folds: Sequence[Rows], target: NDArray[Any]
) -> Iterator[tuple[Features, NDArray[Any]]]:
    """The rows and values of every fold."""
    for rows in folds:
        yield features[rows], target[rows]


def costs_schema(**more: Mapping[str, Any]) -> dict[str, Any]:
    """The permitted parameters of a classifier with a grid over C."""
    cost = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}
    costs = {"type": "array", "items": cost, "minItems": 1, "maxItems": 20, "default": list(C_GRID)}
    return {"type": "object", "properties": {"C": costs, **more}, "additionalProperties": False}
