"""Transferability: how well features or predictions learned on one task would serve another (LEEP, H-score, OTCE).

Plain functions of arrays; nothing is trained. Arguments are named for what they are, because published figures have
been wrong through swapped ones.

Nguyen et al., LEEP (ICML 2020); Bao et al., H-score (ICIP 2019); Ibrahim et al., shrunken H-score (2021); Tan et al.,
OTCE (CVPR 2021).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.kernel import source_of
from basanite.representation.measures.resamples import drawn_rows
from basanite.representation.measures.results import (
    FEW_ROWS,
    NOT_CONVERGED,
    SUBSAMPLED,
    UNDEFINED,
    Classes,
    Floats,
    Labels,
    Measured,
    Numbers,
    classes_of,
    named_rows,
)
from basanite.representation.measures.spread import scatter
from basanite.representation.measures.sums import Features, linear_pass, refuse_infinite, shape_of

SMALLEST: Final = 1e-4
"""Diagonal of a Cholesky factor below which digits are lost, and the eigenvalues are taken instead."""
BLOCK: Final = 2048
"""Rows that are multiplied at a time."""


def h_score(features: Features, labels: Labels | Classes, *, shrunk: bool = False) -> Measured:
    """tr(pinv(cov f) cov(E[f|y])), between 0 and K - 1; `shrunk` takes the Ledoit-Wolf covariance.

    With no more than d + 1 rows the plain form is K - 1 whatever the features, which is flagged. `parts` hold
    `per_class`, the value over K - 1, the rank, and the cut below which eigenvalues count as zero.

    >>> h_score(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1]).value.__round__(4)
    0.9615
    """
    rows, _ = shape_of(features)
    classes = classes_of(labels, rows)
    return h_score_of(Moments.of(features, classes), rows, shrunk=shrunk)


def h_score_of(moments: Moments, rows: int, *, shrunk: bool = False, factored: bool = False) -> Measured:
    """The H-score of moments; `factored` takes a Cholesky factor where the covariance allows it, which is quicker."""
    if not moments.covariance.any():
        return Measured(float("nan"), (UNDEFINED,), notes=("the features do not vary",))
    quick = _by_factor(moments) if factored and not shrunk else None
    value, parts = quick or (_shrunk(moments, rows) if shrunk else _plain(moments, rows))
    parts["per_class"] = value / (len(moments.means) - 1)
    flags = (FEW_ROWS,) if rows - 1 <= len(moments.covariance) and not shrunk else ()
    return Measured(value, flags, parts)


def _by_factor(moments: Moments) -> tuple[float, dict[str, float]] | None:
    """The trace through a Cholesky factor of the features that vary; None where the covariance is nearly singular."""
    scale = np.sqrt(np.diag(moments.covariance).clip(0))
    live = scale > SMALLEST * scale.max()
    correlation = moments.covariance[np.ix_(live, live)] / np.outer(scale[live], scale[live])
    if not live.all() and (scale[~live] > 0).any():
        return None
    try:
        factor = np.linalg.cholesky(correlation)
    except np.linalg.LinAlgError:
        return None
    if np.diag(factor).min() < SMALLEST:
        return None
    from scipy.linalg import solve_triangular

    turned = solve_triangular(factor, (moments.means[:, live] / scale[live]).T, lower=True, check_finite=False)
    return float((turned**2).sum()), {"rank": float(live.sum())}


def h_score_draws(features: Features, labels: Labels | Classes, weights: Iterable[Floats]) -> Floats:
    """The plain H-score in every resample; defined only where N - 1 > d (S-5), and slow for large d."""
    classes = classes_of(labels, shape_of(features)[0])
    rows = np.asarray(features[:], dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    found = []
    for block in weights:
        found += [_plain(Moments.of_draw(rows, classes, one), len(rows))[0] for one in block]
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
    def of_draw(cls, rows: Floats, classes: Classes, weights: Floats) -> Moments:
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


Plan = Literal["exact", "entropic"]
Factors = tuple[float, float, float]
ROWS: Final = 1000
"""Rows drawn from each side, as the authors' demonstration does."""
SMALL: Final = 40_000
"""Numbers of a plan up to which unequal sides are moved exactly by linear programming."""
ROUNDS: Final = 5000


@dataclass(frozen=True)
class Transport:
    """How source rows are moved to target rows: a seeded draw of at most `rows` a side, and the kind of plan."""

    rows: int = ROWS
    seed: int = 0
    plan: Plan = "exact"
    regularisation: float = 0.1
    """Of an entropic plan, which is unique: a share of the mean cost."""


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
    transport: Transport | None = None,
    factors: Factors | None = None,
) -> Otce:
    """OTCE's parts; `factors` are (l1, l2, b).

    >>> same = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> found = otce(source_features=same, source_labels=[0, 0, 1, 1], target_features=same, target_labels=list("aabb"))
    >>> found.wd.value, abs(found.wt.value)
    (0.0, 0.0)
    """
    source, target = _side(source_features, source_labels), _side(target_features, target_labels)
    how = transport or Transport()
    drawn = _draw_sides(source, target, how.rows, source_of(how.seed, "otce"))
    cost = squared_distances(drawn[0].rows, drawn[1].rows)
    exact = how.plan == "exact"
    moved, converged = _exact(cost) if exact else sinkhorn(cost, how.regularisation * float(cost.mean()))
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

    def subset(self, numbers: Numbers) -> _Side:
        return _Side(self.rows[numbers], self.classes.subset(numbers))


def _side(features: Features, labels: Labels | Classes) -> _Side:
    count, _ = shape_of(features)
    classes = Classes.of(labels)
    if len(classes.codes) != count or not count:
        raise FeaturesError(f"There are {len(classes.codes)} labels for {count} rows. Give one for each row.")
    rows = np.asarray(features[:], dtype=np.float64)
    refuse_infinite(rows, np.arange(count))
    return _Side(rows, classes)


def _draw_sides(source: _Side, target: _Side, most: int, dice: np.random.PCG64) -> tuple[_Side, _Side]:
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
    return side if size == len(side.rows) else side.subset(drawn_rows(len(side.rows), size, dice))


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
