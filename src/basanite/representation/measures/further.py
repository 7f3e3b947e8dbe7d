"""Further measures that people ask for, by their papers: LogME, NCE, TransRate, RankMe, effective rank, CKA.

They are measured when they are named. Each takes one decomposition of the features, so they cost N d^2.

You et al., LogME (ICML 2021); Tran et al., NCE (ICCV 2019); Huang et al., TransRate (ICML 2022); Garrido et al., RankMe
(ICML 2023); Roy and Vetterli, effective rank (EUSIPCO 2007); Kornblith et al., CKA (ICML 2019).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import FeaturesError
from basanite.representation.measures.results import (
    NOT_CONVERGED,
    UNDEFINED,
    Classes,
    Floats,
    Labels,
    Measured,
    classes_of,
)
from basanite.representation.measures.sums import Features, refuse_infinite, shape_of
from basanite.representation.measures.transfer import conditional_entropy, probabilities_of

FURTHER: Final = ("logme", "nce", "transrate", "rankme", "effective_rank")
"""In the order of reports. CKA is of two sets."""
ROUNDS: Final = 500
SETTLED: Final = 1e-10
SMALLEST_SHARE: Final = 1e-7
"""What RankMe adds to every share."""
DISTORTION: Final = 1e-4
"""Epsilon of TransRate's coding rate."""
NAN: Final = float("nan")


def logme(features: Features, labels: Labels | Classes) -> Measured:
    """The largest log evidence of a linear model of each class against the others, a row; its mean over classes.

    The published program counts a term for each dimension, also for those that N rows cannot span; here only the rank
    counts, which is the evidence itself. Both agree where there are more rows than dimensions.
    """
    rows, classes = _rows(features), classes_of(labels, shape_of(features)[0])
    left, lengths, _ = np.linalg.svd(rows, full_matrices=False)
    kept = lengths > np.finfo(np.float64).eps * max(rows.shape) * (lengths[0] if len(lengths) else 0.0)
    targets = (classes.codes[:, None] == np.arange(len(classes))).astype(np.float64)
    if not kept.any():
        return Measured(NAN, (UNDEFINED,), notes=("all features are zero",))
    projected = (left[:, kept].T @ targets) ** 2
    found = [_evidence(lengths[kept] ** 2, projected[:, place], targets[:, place]) for place in range(len(classes))]
    values = np.array([value for value, _ in found])
    flags = () if all(settled for _, settled in found) else (NOT_CONVERGED,)
    return Measured(float(values.mean()), flags, {"worst_class": float(values.min())})


def _evidence(squares: Floats, projected: Floats, target: Floats) -> tuple[float, bool]:
    """The log evidence a row at its largest, by the fixed point of the two precisions, and whether it settled."""
    rows = len(target)
    rest = max(float(target @ target - projected.sum()), 0.0)  # what no weights reach
    alpha = beta = 1.0
    settled = False
    for _ in range(ROUNDS):
        ratio = alpha / beta
        gamma = float((squares / (squares + ratio)).sum())
        weights = float((squares * projected / (ratio + squares) ** 2).sum())
        left = float((projected * (ratio / (ratio + squares)) ** 2).sum()) + rest
        alpha, beta = gamma / max(weights, 1e-300), (rows - gamma) / max(left, 1e-300)
        if not np.isfinite(alpha / beta):
            break
        if settled := abs(alpha / beta - ratio) <= SETTLED * ratio:
            break
    ratio = alpha / beta
    weights = float((squares * projected / (ratio + squares) ** 2).sum())
    left = float((projected * (ratio / (ratio + squares)) ** 2).sum()) + rest
    value = 0.5 * (
        len(squares) * np.log(alpha)
        + rows * np.log(beta / (2 * np.pi))
        - np.log(alpha + beta * squares).sum()
        - beta * left
        - alpha * weights
    )
    return float(value) / rows, settled


def nce(*, source_probabilities: NDArray[np.floating[Any]], labels: Labels | Classes) -> Measured:
    """Minus the entropy of labels in nats, given the class that the source head says of each row; at most 0.

    >>> nce(source_probabilities=np.eye(2)[[0, 0, 1, 1]], labels=[0, 0, 1, 1]).value + 0.0
    0.0
    """
    theta, classes = probabilities_of(source_probabilities, labels)
    table = np.zeros((theta.shape[1], len(classes)))
    np.add.at(table, (theta.argmax(axis=1), classes.codes), 1 / len(theta))
    used = float((table.sum(axis=1) > 0).sum())
    return Measured(-conditional_entropy(table[table.sum(axis=1) > 0]), (), {"source_classes": used})


def transrate(features: Features, labels: Labels | Classes) -> Measured:
    """The coding rate of all features less the mean of that of each class, as the authors' program has it."""
    rows = _rows(features)
    classes = classes_of(labels, len(rows))
    rows = rows - rows.mean(axis=0)
    whole = _coding_rate(rows)
    each = [_coding_rate(rows[classes.members(place)]) for place in range(len(classes))]
    return Measured(whole - float(np.mean(each)), (), {"whole": whole, "classes": float(np.mean(each))})


def _coding_rate(rows: Floats) -> float:
    """Half the logarithm of det(I + Z'Z / (n epsilon)), by the smaller of the two products."""
    products = rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T
    _, value = np.linalg.slogdet(np.eye(len(products)) + products / (len(rows) * DISTORTION))
    return float(value) / 2


def rankme(features: Features) -> Measured:
    """The exponential of the entropy of the shares of singular values: how many directions features fill."""
    lengths = np.linalg.svd(_rows(features), compute_uv=False)
    if not lengths.sum() > 0:
        return Measured(NAN, (UNDEFINED,), notes=("all features are zero",))
    shares = lengths / lengths.sum() + SMALLEST_SHARE
    return Measured(float(np.exp(-(shares * np.log(shares)).sum())), (), {"dimensions": float(shape_of(features)[1])})


def effective_rank(features: Features) -> Measured:
    """The same of centred features, without RankMe's small constant: 1 where they vary along one direction only.

    >>> round(effective_rank(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])).value, 6)
    2.0
    """
    rows = _rows(features)
    lengths = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)
    if not lengths[0] > 1e-12 * max(float(np.abs(rows).max()), 1e-300):
        return Measured(NAN, (UNDEFINED,), notes=("the features do not vary",))
    shares = lengths[lengths > 0] / lengths.sum()
    return Measured(float(np.exp(-(shares * np.log(shares)).sum())), (), {"dimensions": float(rows.shape[1])})


def cka(first: Features, second: Features) -> float:
    """How alike two sets of features of the same rows are, by linear CKA: 1 if they are the same but for a rotation.

    >>> round(cka(np.eye(3), 5 * np.eye(3)[:, ::-1]), 6)
    1.0
    """
    left, right = (_rows(one) - _rows(one).mean(axis=0) for one in (first, second))
    if len(left) != len(right):
        raise FeaturesError(f"CKA compares features of the same rows; there are {len(left)} and {len(right)}.")
    crossed = float(((left.T @ right) ** 2).sum())
    own = [float(np.linalg.norm(one.T @ one if one.shape[1] <= len(one) else one @ one.T)) for one in (left, right)]
    return crossed / (own[0] * own[1]) if own[0] * own[1] > 0 else NAN


def _rows(features: Features) -> Floats:
    """Features in memory as float64; nan and inf are refused by row."""
    rows = np.asarray(features[:], dtype=np.float64)
    refuse_infinite(rows, np.arange(len(rows)))
    return rows


def further_values(
    wanted: tuple[str, ...] | list[str],
    features: Features,
    classes: Classes,
    source_probabilities: NDArray[Any] | None,
) -> dict[str, Measured]:
    """The values of those that are wanted."""
    found: dict[str, Measured] = {}
    if "logme" in wanted:
        found["logme"] = logme(features, classes)
    if "nce" in wanted and source_probabilities is not None:
        found["nce"] = nce(source_probabilities=source_probabilities, labels=classes)
    if "transrate" in wanted:
        found["transrate"] = transrate(features, classes)
    if "rankme" in wanted:
        found["rankme"] = rankme(features)
    if "effective_rank" in wanted:
        found["effective_rank"] = effective_rank(features)
    return found
