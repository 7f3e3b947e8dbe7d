"""Support vector machines with a linear kernel, by LIBSVM: epsilon-SVR for ratings, SVC for labels (H-9, A14).

LIBSVM scores a row against every support vector. With a linear kernel the sum over support vectors is one vector of
weights, w = X'a, so a thousand products become one; and the products of a fold's rows with each other are made once for
the whole grid.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.planes import (
    C_GRID,
    Constant,
    Floats,
    OnePlane,
    costs_schema,
    only_value,
)

CACHE_MIB: Final = 500
Estimator: TypeAlias = Any
"""A scikit-learn SVR or SVC."""


class _Machine(OnePlane):
    """What both machines do: fit plainly, or with one Gram matrix a fold; score plainly, or by one product."""

    def __init__(self, *, C: Sequence[float] = C_GRID, tol: float = 1e-3) -> None:  # noqa: N803
        super().__init__(C=C)
        self.tol = tol
        self.model: Estimator = Constant(0.0)

    @abstractmethod
    def estimator(self, kernel: str, parameters: Parameters) -> Estimator:
        """The scikit-learn estimator with this kernel."""

    def fit(self, features: Features, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on one fold."""
        value = only_value(target)
        self.model = self.estimator("linear", parameters) if value is None else Constant(value)
        if value is None:
            self.model.fit(features, target)

    def _fitted_planes(
        self, rows: Features, target: NDArray[Any], grid: Sequence[Parameters]
    ) -> list[tuple[Floats, Floats]]:
        """By one Gram matrix for the whole grid."""
        gram = _gram(rows)
        return [self._plane(rows, gram, target, parameters) for parameters in grid]

    def _plane(
        self, rows: Features, gram: Floats, target: NDArray[Any], parameters: Parameters
    ) -> tuple[Floats, Floats]:
        model = self.estimator("precomputed", parameters).fit(gram, target)
        weights = np.asarray(model.dual_coef_ @ rows[model.support_], np.float64)
        return weights.reshape(1, -1), np.asarray(model.intercept_, np.float64)


class LinearSVR(_Machine):
    """Epsilon support vector regression with a linear kernel; its ratings are not clipped here (A18)."""

    def __init__(
        self,
        *,
        C: Sequence[float] = C_GRID,  # noqa: N803
        epsilon: float = 0.1,
        tol: float = 1e-3,
    ) -> None:
        super().__init__(C=C, tol=tol)
        self.epsilon = epsilon

    def estimator(self, kernel: str, parameters: Parameters) -> Estimator:
        """LIBSVM's epsilon-SVR."""
        from sklearn.svm import SVR

        return SVR(kernel=kernel, C=parameters["C"], epsilon=self.epsilon, tol=self.tol, cache_size=CACHE_MIB)

    def score(self, features: Features) -> Scores:
        """The ratings."""
        return np.asarray(self.model.predict(features), np.float64)


class LinearSVC(_Machine):
    """A support vector machine with a linear kernel for one label; its scores are raw decision values (A15)."""

    def estimator(self, kernel: str, parameters: Parameters) -> Estimator:
        """LIBSVM's C-SVC, without probabilities: those need random splits inside (A15)."""
        from sklearn.svm import SVC

        return SVC(kernel=kernel, C=parameters["C"], tol=self.tol, cache_size=CACHE_MIB)

    def score(self, features: Features) -> Scores:
        """The decision values."""
        return np.asarray(self.model.decision_function(features), np.float64)


def _gram(rows: Features) -> Floats:
    """The products of all rows with each other."""
    found = rows @ rows.T
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)


def make_svr(parameters: Mapping[str, Any], seed: int) -> LinearSVR:
    """A support vector regression; nothing in it is random."""
    return LinearSVR(**parameters)


def make_svc(parameters: Mapping[str, Any], seed: int) -> LinearSVC:
    """A support vector machine; nothing in it is random."""
    return LinearSVC(**parameters)


_TOLERANCE: Final = {"type": "number", "minimum": 1e-9, "maximum": 0.1, "default": 1e-3}
_EPSILON: Final = {"type": "number", "minimum": 0, "maximum": 10, "default": 0.1}

SVR_LINEAR = Module(
    name="svr-linear",
    role="linear",
    summary="Epsilon support vector regression with a linear kernel (LIBSVM)",
    make=make_svr,
    needs="dense",
    scale="rating",
    schema=costs_schema(epsilon=_EPSILON, tol=_TOLERANCE),
    random=False,
    code=(__file__,),
)
SVC_LINEAR = Module(
    name="svc-linear",
    role="linear",
    summary="Support vector machine with a linear kernel for one label (LIBSVM)",
    make=make_svc,
    needs="dense",
    scale="margin",
    schema=costs_schema(tol=_TOLERANCE),
    random=False,
    code=(__file__,),
)
