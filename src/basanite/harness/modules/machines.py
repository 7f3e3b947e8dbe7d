"""Support vector machines: linear for ratings and labels, and the strong shallow classifier, whose kernel is chosen.

LIBSVM scores a row against every support vector (H-9, A14). With a linear kernel the sum over support vectors is one
vector of weights, w = X'a, so a thousand products become one; and the products of a fold's rows with each other are
made once for the whole grid.

The strong one (H-8, A13) chooses its kernel and C. Kernels are linear, and exp(-S/A) of the chi-squared distance
S(a, b) = sum (a-b)^2 / (a+b) with A its mean over the pairs of the training fold. The distances between rows are worked
out once for all folds, values of C and targets.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.modules.interfaces import Features, Module, Parameters, Scores
from basanite.harness.modules.planes import (
    C_GRID,
    Constant,
    Floats,
    FoldsTogether,
    OnePlane,
    Rows,
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
        products = rows @ rows.T
        gram = np.asarray(products.toarray() if hasattr(products, "toarray") else products, np.float64)
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


_TOLERANCE: Final = {"type": "number", "minimum": 1e-9, "maximum": 0.1, "default": 1e-3}
_EPSILON: Final = {"type": "number", "minimum": 0, "maximum": 10, "default": 0.1}

SVR_LINEAR = Module(
    name="svr-linear",
    role="linear",
    summary="Epsilon support vector regression with a linear kernel (LIBSVM)",
    make=lambda parameters, seed: LinearSVR(**parameters),
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
    make=lambda parameters, seed: LinearSVC(**parameters),
    needs="dense",
    scale="margin",
    schema=costs_schema(tol=_TOLERANCE),
    random=False,
    code=(__file__,),
)


Kernel = Literal["linear", "chi2"]
Preset = Literal["plan", "wang2009"]
PRESETS: Final[Mapping[Preset, tuple[tuple[Kernel, ...], tuple[float, ...], bool]]] = {
    "plan": (("linear", "chi2"), (0.01, 0.1, 1.0, 10.0, 100.0), False),
    "wang2009": (("chi2",), (100.0,), True),
}
"""Kernels, values of C, and whether classes are weighted by n / (2 n_c) (A13)."""


def chi2_distances(rows: Features, others: Features) -> Floats:
    """sum (a-b)^2 / (a+b) between all rows and all others.

    >>> chi2_distances(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [[2.0, 0.0]]
    """
    from sklearn.metrics.pairwise import additive_chi2_kernel

    return np.asarray(-additive_chi2_kernel(_dense(rows), _dense(others)), np.float64)


def products(rows: Features, others: Features) -> Floats:
    """The products of all rows with all others."""
    found = rows @ others.T
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)


@dataclass(frozen=True)
class Fitted:
    """One machine: its kernel, the mean distance of its fold, its support vectors among the rows, and their weights."""

    kernel: Kernel
    mean: float
    support: Rows
    dual: Floats
    bias: float

    def scores(self, table: Floats) -> Floats:
        """Decision values, from the distances (or products) of some rows and all the training rows."""
        chosen = table[:, self.support]
        return np.asarray((chosen if self.kernel == "linear" else np.exp(-chosen / self.mean)) @ self.dual + self.bias)


@dataclass(frozen=True)
class FittedMany:
    """The machines of every fold and grid point, and the rows that they were trained on."""

    rows: Features
    machines: Sequence[Sequence[Fitted]]


class SupportVectorMachine(FoldsTogether):
    """One label against the rest; scores are raw decision values (A15)."""

    def __init__(
        self,
        *,
        preset: Preset = "plan",
        kernels: Sequence[Kernel] = (),
        C: Sequence[float] = (),  # noqa: N803
    ) -> None:
        preset_kernels, preset_costs, self.weighted = PRESETS[preset]
        self.kernels = tuple(kernels) or preset_kernels
        self.costs = tuple(sorted(C)) or preset_costs
        self._tables: tuple[Features, dict[Kernel, Floats]] = (None, {})

    def grid(self) -> Sequence[Parameters]:
        """Every C with every kernel: smaller C first, and linear before chi2 (A23)."""
        return tuple({"C": cost, "kernel": kernel} for cost in self.costs for kernel in self.kernels)

    def fit_many(
        self, features: Features, folds: Sequence[Rows], target: NDArray[Any], grid: Sequence[Parameters]
    ) -> FittedMany:
        """Train on every fold with every kernel and C; distances are kept for the next target of the same rows."""
        numbers = features.data if hasattr(features, "indptr") else features
        if any(parameters["kernel"] == "chi2" for parameters in grid) and numbers.size and np.min(numbers) < 0:
            raise SettingError("The chi2 kernel needs features that are never negative: use another preprocessor.")
        for kernel in {parameters["kernel"] for parameters in grid}:
            self._table(features, kernel)
        machines = [[self._machine(features, rows, target, parameters) for parameters in grid] for rows in folds]
        return FittedMany(features, machines)

    def score_many(self, state: FittedMany, features: Features) -> Scores:
        """The decision values of every machine; distances from the training rows are worked out once."""
        tables = _tables(features, state.rows, [one for row in state.machines for one in row])
        return np.array([[one.scores(tables[one.kernel]) for one in row] for row in state.machines])

    def score_chosen(self, state: FittedMany, features: Features, chosen: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the grid point that was chosen for each fold."""
        picked = [row[at] for row, at in zip(state.machines, chosen, strict=True)]
        tables = _tables(features, state.rows, picked)
        return np.array([one.scores(tables[one.kernel]) for one in picked])

    def _table(self, features: Features, kernel: Kernel) -> Floats:
        """The distances or products of the training rows, remembered for as long as the same rows are asked for."""
        if self._tables[0] is not features:
            self._tables = (features, {})
        held = self._tables[1]
        if kernel not in held:
            held[kernel] = _table(kernel, features, features)
        return held[kernel]

    def _machine(self, features: Features, rows: Rows, target: NDArray[Any], parameters: Parameters) -> Fitted:
        kernel: Kernel = parameters["kernel"]
        value = only_value(target[rows])
        if value is not None:
            return Fitted(kernel, 1.0, rows[:0], np.zeros(0), value)
        table = self._table(features, kernel)[np.ix_(rows, rows)]
        mean = float(table.mean()) or 1.0
        model = self._estimator(parameters["C"]).fit(
            table if kernel == "linear" else np.exp(-table / mean), target[rows]
        )
        return Fitted(kernel, mean, rows[model.support_], np.asarray(model.dual_coef_[0]), float(model.intercept_[0]))

    def _estimator(self, cost: float) -> Any:
        from sklearn.svm import SVC

        return SVC(kernel="precomputed", C=cost, class_weight="balanced" if self.weighted else None)


def _table(kernel: Kernel, rows: Features, others: Features) -> Floats:
    return products(rows, others) if kernel == "linear" else chi2_distances(rows, others)


def _tables(features: Features, rows: Features, machines: Sequence[Fitted]) -> dict[Kernel, Floats]:
    """The distances or products that these machines need."""
    return {kernel: _table(kernel, features, rows) for kernel in sorted({one.kernel for one in machines})}


def _dense(rows: Features) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)


def make(parameters: Mapping[str, Any], seed: int) -> SupportVectorMachine:
    """A support vector machine; nothing in it is random."""
    return SupportVectorMachine(**parameters)


_COSTS: Final = {"type": "array", "items": {"type": "number", "exclusiveMinimum": 0}, "minItems": 1, "maxItems": 20}
_KERNELS: Final = {"type": "array", "items": {"enum": ["linear", "chi2"]}, "minItems": 1, "maxItems": 2}

SVM = Module(
    name="svm",
    role="strong",
    summary="Support vector machine for one label; kernel (linear or chi2) and C are chosen",
    make=make,
    needs="nonneg",
    scale="margin",
    schema={
        "type": "object",
        "properties": {"preset": {"enum": ["plan", "wang2009"], "default": "plan"}, "kernels": _KERNELS, "C": _COSTS},
        "additionalProperties": False,
    },
    random=False,
    code=(__file__,),
)
