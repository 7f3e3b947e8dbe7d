"""Logistic regression for ratings and labels, and LIBLINEAR's support vector machine (H-9).

A rating is the expected value under the posterior, which is what the root mean squared error asks for, or its likeliest
value (A18). A label's score is the raw decision value: probabilities saturate and would make ties (A15).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.planes import (
    C_GRID,
    Constant,
    Floats,
    GridOverC,
    OnePlane,
    Planes,
    Rows,
    RowSpace,
    costs_schema,
    folds_of,
    only_value,
)

TOLERANCE: Final = 1e-8
"""scikit-learn's 1e-4 leaves two equal formulations .01 of a rating apart."""
ROUNDS: Final = 10_000
Solver = Literal["multinomial", "liblinear"]
Output = Literal["expected", "argmax", "margin"]


@dataclass(frozen=True)
class Posteriors:
    """Fitted planes, one output for each value of the target that any fold has."""

    planes: Planes
    values: Floats


class Logistic(GridOverC):
    """Logistic regression: one model of all values (multinomial), or one against the rest by LIBLINEAR."""

    def __init__(
        self,
        *,
        C: Sequence[float] = C_GRID,  # noqa: N803
        solver: Solver = "multinomial",
        output: Output = "expected",
        tol: float = TOLERANCE,
    ) -> None:
        super().__init__(C=C)
        self.solver, self.output, self.tol = solver, output, tol
        self.fitted: Posteriors | None = None

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold, as it is."""
        values = np.unique(target).astype(np.float64)
        plane = self._plane(features, target, values, parameters)
        self.fitted = Posteriors(Planes.stack([[plane]]), values)

    def score(self, features: Features) -> Scores:
        """The ratings, or the decision values of a label."""
        if self.fitted is None:
            return Constant(0.0).predict(features)
        return np.asarray(self.score_many(self.fitted, features)[0, 0])

    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> Posteriors:
        """Train on every fold with every C, in the space of the fold's rows where that is smaller."""
        values = np.unique(np.concatenate([target[rows] for rows in folds])).astype(np.float64)
        planes = [self._planes(*fold, values, grid) for fold in folds_of(features, folds, target)]
        return Posteriors(Planes.stack(planes), values)

    def score_many(self, state: Posteriors, features: Features) -> Scores:
        """The scores of every fold and C by one product."""
        return self._output(state.planes.values(features), state.values)

    def score_chosen(self, state: Posteriors, features: Features, chosen: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the grid point that was chosen for each fold."""
        return self.score_many(Posteriors(state.planes.chosen(chosen), state.values), features)[:, 0]

    def _planes(
        self, rows: Features, target: NDArray[Any], values: Floats, grid: Sequence[Parameters]
    ) -> list[tuple[Floats, Floats]]:
        space = RowSpace.of(rows)
        planes = (self._plane(space.rows, target, values, parameters) for parameters in grid)
        return [(space.back(weights), bias) for weights, bias in planes]

    def _plane(
        self, rows: Features, target: NDArray[Any], values: Floats, parameters: Parameters
    ) -> tuple[Floats, Floats]:
        """The log posterior of every value, up to a constant, as a plane; a value not in the fold is impossible."""
        present = np.unique(target)
        if len(present) == 1:
            weights, bias = np.zeros((1, rows.shape[1])), np.zeros(1)
        elif self.solver == "multinomial":
            weights, bias = self._multinomial(rows, target, parameters)
        else:
            weights, bias = self._one_against_rest(rows, target, present, parameters)
        places = np.searchsorted(values, present)
        spread, biases = np.zeros((len(values), rows.shape[1])), np.full(len(values), -np.inf)
        spread[places], biases[places] = weights, bias
        return spread, biases

    def _multinomial(self, rows: Features, target: NDArray[Any], parameters: Parameters) -> tuple[Floats, Floats]:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=parameters["C"], tol=self.tol, max_iter=ROUNDS).fit(rows, target)
        return _both_sides(model.coef_, model.intercept_, 0.5)

    def _one_against_rest(
        self, rows: Features, target: NDArray[Any], present: NDArray[Any], parameters: Parameters
    ) -> tuple[Floats, Floats]:
        from sklearn.linear_model import LogisticRegression

        def one(value: Any) -> Any:
            model = LogisticRegression(C=parameters["C"], tol=self.tol, max_iter=ROUNDS, solver="liblinear")
            return model.fit(rows, target == value)

        models = [one(value) for value in (present[1:] if len(present) == 2 else present)]
        coefficients = np.concatenate([model.coef_ for model in models])
        biases = np.concatenate([model.intercept_ for model in models])
        return _both_sides(coefficients, biases, 1.0)

    def _output(self, planes: Floats, values: Floats) -> Scores:
        if self.output == "margin":
            return np.asarray(_margin(planes) * (0.5 if self.solver == "liblinear" else 1.0))
        if self.solver == "liblinear":
            posterior = _sigmoids(planes)
        else:
            powers = np.exp(planes - planes.max(axis=2, keepdims=True))
            posterior = np.asarray(powers / powers.sum(axis=2, keepdims=True))
        if self.output == "argmax":
            return np.asarray(values[posterior.argmax(axis=2)])
        return np.asarray(np.einsum("fgvr,v->fgr", posterior, values))


def _both_sides(weights: Floats, bias: Floats, share: float) -> tuple[Floats, Floats]:
    """A model of two values has one plane, between them: here as one plane for each value, with the same posterior."""
    if len(weights) > 1:
        return weights, bias
    return np.concatenate([-weights, weights]) * share, np.concatenate([-bias, bias]) * share


def _sigmoids(planes: Floats) -> Floats:
    """Each value against the rest, made to sum to one."""
    from scipy.special import expit

    found = expit(planes)
    return np.asarray(found / found.sum(axis=2, keepdims=True))


def _margin(planes: Floats) -> Floats:
    """The decision value for the greatest value against the least; a fold with one value has the same for all (A7)."""
    low, high = planes[:, :, 0], planes[:, :, -1]
    there = np.isfinite(low) & np.isfinite(high)
    return np.where(there, np.where(there, high, 0) - np.where(there, low, 0), 0.0)


class LiblinearSVM(OnePlane):
    """LIBLINEAR's support vector machine (squared hinge, primal) for one label; scores are raw decision values."""

    def __init__(self, *, C: Sequence[float] = C_GRID, tol: float = 1e-6) -> None:  # noqa: N803
        super().__init__(C=C)
        self.tol = tol
        self.model: Any = Constant(0.0)

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""
        value = only_value(target)
        self.model = self._model(features, target, parameters) if value is None else Constant(value)

    def score(self, features: Features) -> Scores:
        """The decision values."""
        return np.asarray(self.model.decision_function(features), np.float64)

    def _fitted_planes(
        self, rows: Features, target: NDArray[Any], grid: Sequence[Parameters]
    ) -> list[tuple[Floats, Floats]]:
        """In the space of the fold's rows, where that is smaller."""
        space = RowSpace.of(rows)
        models = (self._model(space.rows, target, parameters) for parameters in grid)
        return [(space.back(model.coef_), model.intercept_) for model in models]

    def _model(self, rows: Features, target: NDArray[Any], parameters: Parameters) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=parameters["C"], tol=self.tol, dual=False, max_iter=ROUNDS).fit(rows, target)


_SOLVER: Final = {"enum": ["multinomial", "liblinear"], "default": "multinomial"}
_OUTPUT: Final = {"enum": ["expected", "argmax"], "default": "expected"}
_TOL: Final = {"type": "number", "minimum": 1e-12, "maximum": 0.1}

LOGISTIC = Module(
    name="logistic",
    role="linear",
    summary="Logistic regression for ratings: expected value under the posterior",
    make=lambda parameters, seed: Logistic(**parameters),
    scale="rating",
    schema=costs_schema(solver=_SOLVER, output=_OUTPUT, tol=_TOL),
    random=False,
    code=(__file__,),
)
LOGISTIC_LABELS = Module(
    name="logistic-labels",
    role="linear",
    summary="Logistic regression for one label: raw decision value",
    make=lambda parameters, seed: Logistic(**{**parameters, "output": "margin"}),
    scale="margin",
    schema=costs_schema(solver=_SOLVER, tol=_TOL),
    random=False,
    code=(__file__,),
)
LINEAR_SVM = Module(
    name="linear-svm",
    role="linear",
    summary="LIBLINEAR's linear support vector machine for one label",
    make=lambda parameters, seed: LiblinearSVM(**parameters),
    scale="margin",
    schema=costs_schema(tol=_TOL),
    random=False,
    code=(__file__,),
)
