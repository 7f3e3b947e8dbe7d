"""Rank correlations, with ties as they should be: Kendall's tau-b and Spearman's rho.

Kendall, The treatment of ties in ranking problems (1945); Spearman (1904).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from basanite.metrics.representation.results import Floats

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
    x, y = (ranked(side) for side in _both(first, second))
    spread = float(x.std() * y.std()) if len(x) > 1 else 0.0
    return round(float(((x - x.mean()) * (y - y.mean())).mean() / spread), 12) if spread > 0 else NAN


def ranked(values: Floats) -> Floats:
    """Ranks from 1, tied values sharing their middle rank.

    >>> ranked(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    below = (values[:, None] > values[None, :]).sum(axis=1)
    same = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(below + (same + 1) / 2)


def _both(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> tuple[Floats, Floats]:
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    kept = np.isfinite(x) & np.isfinite(y)
    return x[kept], y[kept]
