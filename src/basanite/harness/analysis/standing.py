"""Where the runs of a task stand: K x C values, means with standard errors as ruled, and the plan's own view.

A standard error is sd(n-1) over the square root of n: across targets in the second graph, across folds in the third
(A3). Neither decides a claim; contrasts rest on folds and test rows together (`gains`, S-7).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.resampling import all_signs
from basanite.harness.results import ResultFolder, Score
from basanite.harness.steps.scoring import ALL_CLIPPED

Reals = NDArray[np.float64]
MOST_SIGNS: Final = 16
"""Up to so many folds all patterns of signs are tried."""


@dataclass(frozen=True)
class RunValues:
    """The values of one run: folds x targets, nan where a value is undefined."""

    run: str
    condition: int
    team: str
    targets: tuple[str, ...]
    values: Reals
    flags: tuple[str, ...] = ()
    """What must stand beside them, each with how often."""

    @property
    def by_fold(self) -> list[tuple[float, float]]:
        """For each fold the mean over targets and its standard error across targets (second graph)."""
        return [mean_and_error(fold) for fold in self.values]

    @property
    def overall(self) -> tuple[float, float]:
        """The mean over folds and its standard error across folds (third graph)."""
        return mean_and_error(np.array([mean for mean, _ in self.by_fold]))

    @property
    def by_target(self) -> list[tuple[float, float]]:
        """For each target the mean over folds and its standard error across folds."""
        return [mean_and_error(target) for target in self.values.T]

    @property
    def all_clipped(self) -> bool:
        """Whether no prediction of some fold lay inside the range: the model says nothing (H-37)."""
        return any(flag.startswith(ALL_CLIPPED) for flag in self.flags)

    @property
    def undefined(self) -> int:
        """How many of the K x C values are undefined (A21)."""
        return int(np.isnan(self.values).sum())


def mean_and_error(values: Reals) -> tuple[float, float]:
    """The mean of the defined values and its standard error; nan where there are too few.

    >>> mean_and_error(np.array([1.0, 2.0, 3.0]))
    (2.0, 0.5773502691896258)
    """
    defined = values[~np.isnan(values)]
    if not len(defined):
        return math.nan, math.nan
    spread = float(defined.std(ddof=1) / math.sqrt(len(defined))) if len(defined) > 1 else math.nan
    return float(defined.mean()), spread


def all_values(result: ResultFolder, task: str) -> dict[tuple[str, int], RunValues]:
    """The K x C values of every run and replication of a task (H-22)."""
    targets, folds = result.targets(task), int(result.task(task)["folds"])
    grids: dict[tuple[str, int], RunValues] = {}
    flags: dict[tuple[str, int], list[str]] = {}
    for score in result.scores():
        if score.task == task and score.target in targets:
            key = score.run, score.replication
            if key not in grids:
                grids[key] = _empty(score, targets, folds)
            value = math.nan if score.value is None else score.value
            grids[key].values[score.fold - 1, targets.index(score.target)] = value
            flags.setdefault(key, []).extend(score.flags)
    return {key: replace(grid, flags=counted(flags[key])) for key, grid in grids.items()}


def _empty(score: Score, targets: tuple[str, ...], folds: int) -> RunValues:
    return RunValues(score.run, score.condition, score.team, targets, np.full((folds, len(targets)), np.nan))


def averaged(found: Mapping[tuple[str, int], RunValues]) -> dict[str, RunValues]:
    """The values of every run, averaged over its replications."""
    runs = dict.fromkeys(run for run, _ in found)
    return {run: _averaged([values for (name, _), values in found.items() if name == run]) for run in runs}


def _averaged(replications: Sequence[RunValues]) -> RunValues:
    flags = tuple(dict.fromkeys(flag for values in replications for flag in values.flags))
    return replace(replications[0], values=np.mean([values.values for values in replications], axis=0), flags=flags)


def counted(flags: Sequence[str]) -> tuple[str, ...]:
    """Flags of many values in short: equal ones once with how often, numbers at their beginning added up.

    >>> counted(["constant scorer", "3 predictions were clipped", "constant scorer", "4 predictions were clipped"])
    ('constant scorer (2 values)', '7 predictions were clipped')
    """
    sums: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for flag in flags:
        head, _, rest = flag.partition(" ")
        words = f"# {rest}" if head.isdigit() else flag
        sums[words] += int(head) if head.isdigit() else 0
        times[words] += 1
    return tuple(
        words.replace("#", str(sums[words]), 1) if words.startswith("# ") else _times(words, times[words])
        for words in times
    )


def _times(words: str, count: int) -> str:
    return f"{words} ({count} values)" if count > 1 else f"{words} (1 value)"


def bars_overlap(first: tuple[float, float], second: tuple[float, float]) -> bool:
    """Whether the bars mean plus and minus one standard error meet: a note beside an interval, never a verdict (A3).

    >>> bars_overlap((0.5, 0.1), (0.7, 0.1)), bars_overlap((0.5, 0.1), (0.8, 0.1))
    (True, False)
    """
    return abs(first[0] - second[0]) <= (first[1] + second[1]) * (1 + 1e-12)


def fold_tests(first: Reals, second: Reals) -> tuple[float, float]:
    """The plan's own view: two-sided p of a paired t over folds, and of all patterns of signs (1,024 for ten folds)."""
    from scipy.special import stdtr  # here, because it is slow to load

    gaps = first - second
    gaps = gaps[~np.isnan(gaps)]
    mean, error = mean_and_error(gaps)
    if math.isnan(error):
        return math.nan, math.nan
    if error == 0:
        return (1.0, 1.0) if mean == 0 else (0.0, 2.0 / 2 ** len(gaps))
    by_t = 2 * float(stdtr(len(gaps) - 1, -abs(mean / error)))
    if len(gaps) > MOST_SIGNS:
        return by_t, math.nan
    sums = np.abs(all_signs(len(gaps)) @ gaps)
    return by_t, float(np.mean(sums >= abs(gaps.sum()) * (1 - 1e-12)))


def run_of(condition: int, team: str) -> str:
    """The run of a condition that has a team's parts; condition 1 has none.

    >>> run_of(1, "a"), run_of(6, "a")
    ('1', '6a')
    """
    return "1" if condition == 1 else f"{condition}{team}"
