"""Rank correlations of a few values, and the interval of one over models."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from basanite.representation.measures.results import Floats

NAN = float("nan")


def kendall_tau_b(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Kendall's tau-b of what is defined on both sides; nan with fewer than two, or where one side is constant.

    >>> kendall_tau_b([1, 2, 3, 4], [1, 3, 2, 4]).__round__(4)
    0.6667
    """
    x, y = _both(first, second)
    across, up = np.triu_indices(len(x), 1)
    signs = np.sign(x[across] - x[up]), np.sign(y[across] - y[up])
    sizes = float((signs[0] != 0).sum()) * float((signs[1] != 0).sum())
    return float((signs[0] * signs[1]).sum() / np.sqrt(sizes)) if sizes > 0 else NAN


def spearman_rho(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> float:
    """Spearman's rho of what is defined on both sides; tied values share their middle rank.

    >>> spearman_rho([1, 2, 3, 4], [1, 3, 2, 4])
    0.8
    """
    x, y = (ranks(side) for side in _both(first, second))
    spread = float(x.std() * y.std()) if len(x) > 1 else 0.0
    return round(float(((x - x.mean()) * (y - y.mean())).mean() / spread), 12) if spread > 0 else NAN


def ranks(values: Floats) -> Floats:
    """Ranks from 1, tied values sharing their middle rank.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    below = (values[:, None] > values[None, :]).sum(axis=1)
    same = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(below + (same + 1) / 2)


def _both(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    kept = np.isfinite(x) & np.isfinite(y)
    return x[kept], y[kept]


def spearman_interval(rho: float, pairs: int, level: float = 0.95) -> tuple[float, float]:
    """An interval of Spearman's rho of independent pairs, by Fisher's transformation (Bonett and Wright 2000).

    A perfect correlation has no spread of its own; its interval is that of the next lower value there can be, and
    reaches to 1. With fewer than five pairs there is none.

    >>> [round(end, 3) for end in spearman_interval(0.8, 12)]
    [0.335, 0.952]
    """
    if pairs < 5 or not np.isfinite(rho):
        return NAN, NAN
    most = 1 - 12 / (pairs * (pairs**2 - 1))  # two neighbours swapped
    inner = float(np.clip(rho, -most, most))
    half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt((1 + inner**2 / 2) / (pairs - 3))
    low, high = np.tanh(np.arctanh(inner) - half), np.tanh(np.arctanh(inner) + half)
    return (-1.0 if rho < -most else float(low)), (1.0 if rho > most else float(high))
