"""From confidences to probabilities, and from probabilities to the decisions that the primary form rewards.

Confidences are whole numbers from 0 to `SCALE`, so a calibration is a table: the probability that a document with each
confidence is relevant, never falling. Documents are counted by confidence first, so fitting does not depend on how
many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from basanite.metrics.retrieval.thresholds import SCALE, Pool, Ranked

Floats: TypeAlias = NDArray[np.float64]
Calibration: TypeAlias = Floats
"""`float64[SCALE + 1]`: the probability at every confidence, never falling."""

STEPS = 100
CLOSE = 1e-10


def isotonic(values: ArrayLike, weights: ArrayLike) -> Floats:
    """The rising sequence nearest to these values in weighted squares, by pooling adjacent violators.

    Ayer et al., An empirical distribution function for sampling with incomplete information (1955).

    >>> isotonic([0.0, 1.0, 0.0, 1.0], [1, 1, 1, 1]).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    pairs = zip(np.asarray(values, np.float64).tolist(), np.asarray(weights, np.float64).tolist(), strict=True)
    for mean, mass in pairs:
        size = 1
        while means and means[-1] >= mean:
            before, old = masses.pop(), means.pop()
            mean = (old * before + mean * mass) / (before + mass)
            mass, size = before + mass, size + sizes.pop()
        means.append(mean)
        masses.append(mass)
        sizes.append(size)
    return np.repeat(np.array(means, dtype=np.float64), sizes)


def isotonic_calibration(counts: Pool) -> Calibration:
    """The share of relevant documents at each confidence, made rising; straight lines join confidences that occur."""
    documents = counts.relevant + counts.other
    seen = np.flatnonzero(documents)
    if not len(seen):
        return np.zeros(SCALE + 1)
    fitted = isotonic(counts.relevant[seen] / documents[seen], documents[seen])
    return np.interp(np.arange(SCALE + 1), seen, fitted)


def logistic_calibration(counts: Pool) -> Calibration:
    """A logistic curve over the log odds of the confidence, with Platt's targets, which keep 0 and 1 out of reach.

    Platt, Probabilistic outputs for support vector machines (1999). A falling curve would turn the ranking round; then
    the confidence tells nothing and every document gets the same probability.
    """
    relevant, other = int(counts.relevant.sum()), int(counts.other.sum())
    if not relevant:
        return np.zeros(SCALE + 1)
    seen = np.flatnonzero(counts.relevant + counts.other)
    odds = log_odds(np.arange(SCALE + 1) / SCALE)
    yes, no = counts.relevant[seen].astype(np.float64), counts.other[seen].astype(np.float64)
    hits = yes * (relevant + 1) / (relevant + 2) + no / (other + 2)
    intercept, slope = _logistic_fit(odds[seen], hits, yes + no)
    if slope < 0:
        return np.full(SCALE + 1, relevant / (relevant + other))
    return _probability(intercept + slope * odds)


def log_odds(confidence: Floats) -> Floats:
    """log p/(1-p), with 0 and 1 moved in by half a step of the scale.

    >>> log_odds(np.array([0.5])).tolist()
    [0.0]
    """
    inside = np.clip(confidence, 0.5 / SCALE, 1 - 0.5 / SCALE)
    return np.asarray(np.log(inside / (1 - inside)))


def _probability(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -500, 500))))


def _logistic_fit(x: Floats, hits: Floats, trials: Floats) -> tuple[float, float]:
    """Intercept and slope by Newton's method, halving steps that lead uphill; where x does not vary the slope is 0."""
    design = np.column_stack([np.ones_like(x), x])
    share = float(hits.sum() / trials.sum())
    at = np.array([np.log(share / (1 - share)), 0.0])
    if len(x) < 2:
        return float(at[0]), 0.0
    for _ in range(STEPS):
        fitted = _probability(design @ at)
        curvature = design.T @ (design * (trials * fitted * (1 - fitted))[:, None])
        step = np.linalg.lstsq(curvature, design.T @ (hits - trials * fitted), rcond=None)[0]
        while _loss(design @ (at + step), hits, trials) > _loss(design @ at, hits, trials) and abs(step).max() > CLOSE:
            step = step / 2
        at = at + step
        if abs(step).max() <= CLOSE:
            break
    return float(at[0]), float(at[1])


def _loss(odds: Floats, hits: Floats, trials: Floats) -> float:
    return float((trials * np.logaddexp(0.0, odds) - hits * odds).sum())


def least_probability(*, beta: float, share: float, relevant: float, other: float) -> float:
    """The probability above which returning a document pays in the primary form (S-15).

    Return it iff p/(1-p) > beta (n_rel/n) N_rel/N_non: `share` is n_rel/n, `relevant` and `other` are N_rel and N_non.

    >>> least_probability(beta=20, share=0.5, relevant=10, other=100)
    0.5
    """
    odds = beta * share * relevant / other
    return odds / (1 + odds)


def query_threshold(
    ranked: Ranked, calibration: Calibration, *, beta: float, share: float, relevant: float | None = None
) -> int:
    """The confidence from which one query's documents are returned, by the rule above.

    N_rel is unknown when decisions are made: it is given (estimated from other queries), or else the sum of the query's
    own probabilities. It is at least 1, for a document that is worth returning is relevant, and leaves one other.
    """
    documents = len(ranked.relevant) + len(ranked.other)
    if relevant is None:
        relevant = float(calibration[ranked.relevant].sum() + calibration[ranked.other].sum())
    relevant = min(max(relevant, 1.0), max(documents - 1.0, 1.0))
    other = max(documents - relevant, 1.0)
    least = least_probability(beta=beta, share=share, relevant=relevant, other=other)
    return int(np.searchsorted(calibration, least, side="right"))


CALIBRATIONS: dict[str, Callable[[Pool], Calibration]] = {
    "isotonic": isotonic_calibration,
    "logistic": logistic_calibration,
}
"""How confidences become probabilities, by name."""
