"""Two systems on a metric that is no function of sums: to swap them on some units is to weight the rows of both.

The rows of both systems are stacked. The system in the first place has the first half where it was not swapped and the
second half where it was, so every split is one draw of weights and all of them are computed together.
"""

from __future__ import annotations

from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import BLOCK, Numbers, drawn_values
from basanite.kernel import Metric, Rows

MOST_PULLS = 4_000
"""Beyond so many units single pulls are not computed (their cost grows with the square): the test is then not
studentised, and no unit is named as dominant or moved."""


def apart(metric: Metric, pair: tuple[Rows, Rows], members: Numbers, signs: NDArray[Any]) -> Rows:
    """First minus second in every draw: the systems change places on the things whose sign is -1."""
    both = np.concatenate(pair)
    outcomes, step = [np.zeros(0)], max(1, BLOCK // len(both))
    for start in range(0, len(signs), step):
        block = signs[start : start + step].astype(np.float64, copy=False)  # from elsewhere they come in a byte each
        kept = (1 + block[:, members]) / 2
        sides = (kept, 1 - kept), (1 - kept, kept)
        first, second = (drawn_values(metric, both, np.concatenate(side, axis=1)) for side in sides)
        outcomes.append(first - second)
    return np.concatenate(outcomes)


def single_pulls(metric: Metric, pair: tuple[Rows, Rows], members: Numbers, executor: Executor | None = None) -> Rows:
    """Half of what swapping each thing alone takes away from the difference: of a mean, its own share of it."""
    things = int(members.max()) + 1
    if things > MOST_PULLS:
        return np.zeros(things)
    observed = apart(metric, pair, members, np.ones((1, things)))
    work, starts = partial(_one_swapped, metric, pair, members, things), range(0, things, max(1, BLOCK // things))
    found = list(map(work, starts) if executor is None else executor.map(work, starts))
    return np.nan_to_num((observed - np.concatenate(found)) / 2, posinf=0.0, neginf=0.0)


def _one_swapped(metric: Metric, pair: tuple[Rows, Rows], members: Numbers, things: int, start: int) -> Rows:
    """The difference with each of some things swapped alone."""
    count = min(max(1, BLOCK // things), things - start)
    return apart(metric, pair, members, 1.0 - 2.0 * np.eye(count, things, start))
