"""OTCE: how far apart two data sets lie, and how uncertain target labels stay under the plan that joins them.

Its published form weighs the two parts by factors fitted on auxiliary tasks of known accuracy, so it cannot be computed
from one pair of data sets: we return the parts and take the factors as arguments.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from basanite.errors import FeaturesError
from basanite.metrics.representation.classes import Classes, Labels
from basanite.metrics.representation.dice import drawn_rows, source_of
from basanite.metrics.representation.passes import Features, refuse_infinite, shape_of
from basanite.metrics.representation.results import NOT_CONVERGED, SUBSAMPLED, Floats, Measured, Numbers

Plan = Literal["exact", "entropic"]
Factors = tuple[float, float, float]
ROWS: Final = 1000
"""Rows drawn from each side, as the authors' demonstration does."""
SMALL: Final = 40_000
"""Numbers of a plan up to which unequal sides are moved exactly by linear programming."""
ROUNDS: Final = 5000


@dataclass(frozen=True)
class Otce:
    """The parts of OTCE: `wd` (W_D), `wt` (W_T = H(Y_t|Y_s) in nats), and `nce` (-W_T, which the authors advise)."""

    wd: Measured
    wt: Measured
    nce: Measured
    score: Measured | None
    """l1 W_D + l2 W_T + b, where the factors were given."""

    @property
    def values(self) -> dict[str, Measured]:
        """The two values by name; -W_T, and the score where there is one, are parts of the second."""
        score = {} if self.score is None else {"otce": self.score.value}
        parts = {**self.wt.parts, "minus_wt": self.nce.value, **score}
        return {"otce_wd": self.wd, "otce_wt": replace(self.wt, parts=parts)}


def otce(
    *,
    source_features: Features,
    source_labels: Labels | Classes,
    target_features: Features,
    target_labels: Labels | Classes,
    rows: int = ROWS,
    seed: int = 0,
    plan: Plan = "exact",
    regularisation: float = 0.1,
    factors: Factors | None = None,
) -> Otce:
    """OTCE's parts from a seeded draw of at most `rows` rows a side; `factors` are (l1, l2, b).

    An entropic plan is unique; its `regularisation` is a share of the mean cost.

    >>> same = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> found = otce(source_features=same, source_labels=[0, 0, 1, 1], target_features=same, target_labels=list("aabb"))
    >>> found.wd.value, abs(found.wt.value)
    (0.0, 0.0)
    """
    source, target = _side(source_features, source_labels), _side(target_features, target_labels)
    drawn = _drawn(source, target, rows, source_of(seed, "otce"))
    cost = squared_distances(drawn[0].rows, drawn[1].rows)
    moved, converged = _exact(cost) if plan == "exact" else sinkhorn(cost, regularisation * float(cost.mean()))
    used = {"source_rows": float(cost.shape[0]), "target_rows": float(cost.shape[1])}
    flags = (*((SUBSAMPLED,) if drawn != (source, target) else ()), *(() if converged else (NOT_CONVERGED,)))
    apart = float((moved * cost).sum())
    uncertain = conditional_entropy(joint_table(moved, drawn[0].classes, drawn[1].classes))
    score = None if factors is None else factors[0] * apart + factors[1] * uncertain + factors[2]
    return Otce(
        Measured(apart, flags, used),
        Measured(uncertain, flags, used),
        Measured(-uncertain, flags, used),
        None if score is None else Measured(score, flags, used),
    )


@dataclass(frozen=True, eq=False)
class _Side:
    rows: Floats
    classes: Classes

    def taken(self, numbers: Numbers) -> _Side:
        return _Side(self.rows[numbers], self.classes.taken(numbers))


def _side(features: Features, labels: Labels | Classes) -> _Side:
    count, _ = shape_of(features)
    classes = Classes.of(labels)
    if len(classes.codes) != count or not count:
        raise FeaturesError(f"There are {len(classes.codes)} labels for {count} rows. Give one for each row.")
    rows = np.asarray(features[:], dtype=np.float64)
    refuse_infinite(rows, np.arange(count))
    return _Side(rows, classes)


def _drawn(source: _Side, target: _Side, most: int, dice: np.random.PCG64) -> tuple[_Side, _Side]:
    """At most so many rows a side; unequal sides are cut to equal ones where a plan would be too large otherwise."""
    if source.rows.shape[1] != target.rows.shape[1]:
        raise FeaturesError("Source and target features must have the same number of dimensions.")
    if most < 1:
        raise FeaturesError(f"At least one row a side is needed, not {most}.")
    sizes = [min(len(side.rows), most) for side in (source, target)]
    if sizes[0] != sizes[1] and sizes[0] * sizes[1] > SMALL:
        sizes = [min(sizes)] * 2
    first, second = (_some(side, size, dice) for side, size in zip((source, target), sizes, strict=True))
    return first, second


def _some(side: _Side, size: int, dice: np.random.PCG64) -> _Side:
    return side if size == len(side.rows) else side.taken(drawn_rows(len(side.rows), size, dice))


def squared_distances(first: Floats, second: Floats) -> Floats:
    """|x - y|^2 for every pair of rows, centred so that little is lost."""
    centre = first.mean(axis=0)
    left, right = first - centre, second - centre
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    return np.asarray(np.maximum(squares, 0.0))


def _exact(cost: Floats) -> tuple[Floats, bool]:
    """The plan of least cost under uniform weights: an assignment for equal sides, a linear programme otherwise."""
    from scipy.optimize import linear_sum_assignment

    if cost.shape[0] != cost.shape[1]:
        return _programme(cost), True
    plan = np.zeros_like(cost)
    plan[linear_sum_assignment(cost)] = 1 / len(cost)
    return plan, True


def _programme(cost: Floats) -> Floats:
    from scipy import sparse
    from scipy.optimize import linprog

    sources, targets = cost.shape
    give = sparse.kron(sparse.eye(sources), np.ones((1, targets)))
    take = sparse.kron(np.ones((1, sources)), sparse.eye(targets))
    bounds = np.concatenate([np.full(sources, 1 / sources), np.full(targets, 1 / targets)])
    solved = linprog(cost.ravel(), A_eq=sparse.vstack([give, take]).tocsr(), b_eq=bounds, method="highs")
    if solved.x is None:
        raise FeaturesError(f"The transport plan could not be solved: {solved.message} Use fewer rows a side.")
    return np.asarray(solved.x, dtype=np.float64).reshape(cost.shape)


def sinkhorn(cost: Floats, strength: float, *, tolerance: float = 1e-9) -> tuple[Floats, bool]:
    """The entropic plan under uniform weights, in logarithms, and whether it converged (Cuturi 2013)."""
    from scipy.special import logsumexp

    if not strength > 0:
        return np.full_like(cost, 1 / cost.size), True  # all costs are 0: every plan is as good, this one is entropic
    sources, targets = cost.shape
    kernel = -cost / strength
    down, across = np.zeros(sources), np.zeros(targets)
    for _ in range(ROUNDS):
        down = -np.log(sources) - logsumexp(kernel + across, axis=1)
        across = -np.log(targets) - logsumexp(kernel + down[:, None], axis=0)
        plan = np.exp(kernel + down[:, None] + across)
        if np.abs(plan.sum(axis=1) - 1 / sources).sum() <= tolerance:
            return plan, True
    return plan, False


def joint_table(plan: Floats, source: Classes, target: Classes) -> Floats:
    """P(y_s, y_t): the plan summed over the rows of each pair of classes."""
    by_source = np.zeros((len(source), plan.shape[1]))
    np.add.at(by_source, source.codes, plan)
    table = np.zeros((len(target), len(source)))
    np.add.at(table, target.codes, by_source.T)
    return table.T


def conditional_entropy(table: Floats) -> float:
    """H(columns | rows) in nats of a table of probabilities.

    >>> round(conditional_entropy(np.full((2, 2), 0.25)), 4)
    0.6931
    """
    margin = table.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(table > 0, table * np.log(table / margin), 0.0)
    return max(float(-terms.sum()), 0.0)
