"""Gains of runs over others on one task, with errors from folds and test rows together (S-7), and seeds (S-8).

What is compared are predictions of the same test rows by classifiers of the same folds: runs of the plan, and whatever
else is put beside them (a layer, a point of a learning curve, the same run of an earlier evaluation).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.analysis.variance import (
    Block,
    Cells,
    Resamples,
    Sample,
    Values,
    components,
    crossed_bootstrap,
    mean_square_root,
    precision_of,
    rmse_cells,
)
from basanite.harness.plan import BEST
from basanite.harness.results import SHARED, ResultFolder
from basanite.kernel import ANY, SHARE, Ends
from basanite.reports.wording import plural

Reals = NDArray[np.float64]
Predictions = Mapping[str, Reals]
"""For each target the scores of the test rows by the classifier of every fold: float64[folds, rows]."""
PLAIN: Final = "map"
"""The mean of the average precision without interpolation, which stands beside that of the plan (A22)."""
ENOUGH_SEEDS: Final = 3
FEWEST_FOLDS: Final = 5
FEWEST_ITEMS: Final = 50
"""With fewer folds or test items no interval of MAP has its coverage, so none is shown (H-45)."""
MOST_NUMBERS: Final = 2 * 10**8
"""Rows times draws up to which ratings are drawn for the picture, too."""


@dataclass(frozen=True)
class Estimate:
    """A value or a gain with its standard error, its degrees of freedom, and the middle 95 % of the draws."""

    value: float
    error: float
    degrees: float
    drawn: tuple[float, float] | None = None
    undefined: int = 0
    """In how many draws some target was undefined."""
    bounds: Ends = ANY
    """What the value can be at all; no interval goes beyond."""

    def half(self, level: float = 0.95) -> float:
        """Half of the two-sided t interval."""
        from scipy.special import stdtrit  # here, because it is slow to load

        return float(stdtrit(self.degrees, (1 + level) / 2)) * self.error if self.degrees > 0 else math.nan

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval."""
        return max(self.value - self.half(), self.bounds[0])

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval."""
        return min(self.value + self.half(), self.bounds[1])

    def lower(self, level: float = 0.95) -> float:
        """The one-sided lower bound, without the t of an error of 0."""
        from scipy.special import stdtrit  # here, because it is slow to load

        if math.isnan(self.error) or not self.degrees > 0:
            return math.nan
        return max(self.value - float(stdtrit(self.degrees, level)) * self.error, self.bounds[0])

    @property
    def p(self) -> float:
        """The two-sided p of no gain; 1 for what is the same."""
        from scipy.special import stdtr

        if not self.error > 0:
            return 1.0 if self.value == 0 else 0.0 if self.error == 0 else math.nan
        return 2 * float(stdtr(self.degrees, -abs(self.value / self.error)))


class Comparer:
    """Values and gains on one task, by its own metric or (labels only) by the plain average precision."""

    def __init__(
        self, result: ResultFolder, task: str, *, draws: int, seed: int = 0, metric: str = "", replications: int = 1
    ) -> None:
        self.result, self.task, self.draws, self.seed, self.replications = result, task, draws, seed, replications
        told = result.task(task)
        self.metric = metric or str(told["metric"])
        self.low = BEST[str(told["metric"])] == "low"
        self.targets, self.folds = result.targets(task), int(told["folds"])
        self.shared = (result.path / "splits" / task / f"{SHARED}.npz").is_file()
        self._given: dict[str, list[Predictions]] = {}
        self._resamples: dict[tuple[str, int], Resamples] = {}
        self._values: dict[tuple[str, int], Reals] = {}
        self._functions: dict[tuple[str, str, int], tuple[Values, ...]] = {}

    def add_predictions(self, name: str, *replications: Predictions) -> None:
        """Put something beside the runs under a name of its own, as often as it was trained."""
        self._given[name] = list(replications)

    def values(self, name: str, replication: int = 1) -> Reals:
        """Folds x targets, from the predictions."""
        key = name, replication
        if key not in self._values:
            columns = [self._fold_values(name, target, replication) for target in self.targets]
            self._values[key] = np.stack(columns, axis=1)
        return self._values[key]

    def value(self, name: str) -> Estimate:
        """The mean over folds of the mean over targets, with the error that new folds and test rows would bring."""
        return replace(self._estimate(name, None), bounds=self.ends)

    def gain(self, first: str, second: str) -> Estimate:
        """By how much the first does better, whatever the direction of the metric."""
        return replace(self._estimate(first, second), bounds=self.gain_ends)

    @property
    def ends(self) -> Ends:
        """The values there can be: a share, or an error no longer than the scale of the ratings."""
        if self.metric != "mrmse":
            return SHARE
        low, high = self._scale
        return 0.0, high - low

    @property
    def gain_ends(self) -> Ends:
        """The gains there can be."""
        low, high = self.ends
        return low - high, high - low

    def resamples(self, name: str, replication: int = 1) -> Resamples:
        """The value in every draw of the crossed bootstrap; the same draws for every run."""
        key = name, replication
        if key not in self._resamples:
            sample = {name: self._sample(name, replication)}
            found = crossed_bootstrap(
                sample, rows=self._rows, draws=self.draws, seed=self.seed, clusters=self._clusters
            )
            self._resamples[key] = found[name]
        return self._resamples[key]

    def _estimate(self, first: str, second: str | None) -> Estimate:
        numbers = self._replications(first) if second is None else max(map(self._replications, (first, second)))
        gains = np.array([self._gap(first, second, number) for number in range(1, numbers + 1)])
        if self.too_small:
            return Estimate(float(gains.mean()), math.nan, self.folds - 1.0)
        error, degrees = self._error(first, second, numbers)
        if numbers >= ENOUGH_SEEDS:  # the seed is a third random factor (S-8)
            between_seeds = float(gains.std(ddof=1)) / math.sqrt(numbers)
            error, degrees = _combine_errors(error, degrees, between_seeds, numbers - 1.0)
        picture, undefined = self._picture(first, second, numbers)
        return Estimate(float(gains.mean()), error, degrees, picture, undefined)

    def _error(self, first: str, second: str | None, numbers: int) -> tuple[float, float]:
        if self.metric == "mrmse":
            found = components(list(self._blocks(first, second, numbers)), shared_folds=self.shared)
            return found.error, found.degrees
        draws = self._draws(first, second, numbers)
        return float(draws.std(ddof=1)) if len(draws) > 1 else math.nan, self.folds - 1.0

    def _picture(self, first: str, second: str | None, numbers: int) -> tuple[tuple[float, float] | None, int]:
        """The middle of the draws, as the picture of an interval (S-7)."""
        if self.metric == "mrmse" and self._rows * self.draws > MOST_NUMBERS:
            return None, 0
        draws = self._draws(first, second, numbers)
        undefined = max(self.resamples(name).undefined for name in (first, second) if name is not None)
        low, high = np.quantile(draws, [0.025, 0.975]) if len(draws) else (math.nan, math.nan)
        return (float(low), float(high)), undefined

    def _draws(self, first: str, second: str | None, numbers: int) -> Reals:
        """The draws that have a value: one without a positive of any target has none."""
        found = np.mean([self.resamples(first, number).values for number in self._numbers(first, numbers)], axis=0)
        if second is not None:
            two = np.mean([self.resamples(second, number).values for number in self._numbers(second, numbers)], axis=0)
            found = self._sign * (found - two)
        return np.asarray(found[np.isfinite(found)])

    @cached_property
    def too_small(self) -> str:
        """Why no interval can be shown; "" where one can (H-45)."""
        return few_for_map(self.folds, self._fewest_rows) if self.metric != "mrmse" else ""

    @property
    def _fewest_rows(self) -> int:
        return min(len(self.result.split(self.task, target).test) for target in self.targets)

    @property
    def _sign(self) -> float:
        return -1.0 if self.low else 1.0

    def _gap(self, first: str, second: str | None, replication: int) -> float:
        one = self._overall(first, replication)
        return one if second is None else self._sign * (one - self._overall(second, replication))

    def _overall(self, name: str, replication: int) -> float:
        table = self.values(name, min(replication, self._replications(name)))
        with np.errstate(invalid="ignore"):
            return float(np.mean([fold[~np.isnan(fold)].mean() for fold in table]))

    def _replications(self, name: str) -> int:
        return len(self._given[name]) if name in self._given else self.replications

    def _numbers(self, name: str, numbers: int) -> range:
        return range(1, min(numbers, self._replications(name)) + 1)

    def _blocks(self, first: str, second: str | None, numbers: int) -> Iterator[Block]:
        for target in self.targets:
            cells = self._cells(first, target, numbers)
            found = cells if second is None else self._cells(second, target, numbers) - cells
            test = self.result.split(self.task, target).test
            # Rows of one cluster vary together, so a column stands for its cluster where there are any (S-10).
            yield Block(found, test if self._clusters is None else self._clusters[test])

    def _cells(self, name: str, target: str, numbers: int) -> Cells:
        """What each row adds to the RMSE of each fold, averaged over replications."""
        every = [rmse_cells(self._squares(name, target, number)) for number in self._numbers(name, numbers)]
        return np.asarray(np.mean(every, axis=0))

    @cached_property
    def _rows(self) -> int:
        return 1 + max(int(self.result.split(self.task, target).test.max()) for target in self.targets)

    @cached_property
    def _clusters(self) -> NDArray[np.int64] | None:
        """The cluster of every row of the data, where rows come in films or restaurants (S-10)."""
        path = self.result.path / "truth" / self.task / "clusters.npy"
        return np.asarray(np.load(path, allow_pickle=False), np.int64)[: self._rows] if path.is_file() else None

    def _scores(self, name: str, target: str, replication: int) -> Reals:
        if name in self._given:
            return np.asarray(self._given[name][replication - 1][target], np.float64)
        return self.result.predictions(self.task, name, target, replication=replication)

    def _squares(self, name: str, target: str, replication: int) -> Cells:
        scores = self._scores(name, target, replication)
        return np.asarray((np.clip(scores, *self._scale) - self.result.truth(self.task, target)) ** 2)

    @property
    def _scale(self) -> Ends:
        """The scale of the ratings, to which predictions are clipped; without one any number is possible."""
        low, high = self.result.task(self.task).get("range") or ANY
        return float(low), float(high)

    def _fold_values(self, name: str, target: str, replication: int) -> Reals:
        if self.metric == "mrmse":
            return np.asarray(np.sqrt(self._squares(name, target, replication).mean(axis=1)))
        rows = len(self.result.truth(self.task, target))
        return np.array(
            [float(value(np.ones((1, rows)))[0]) for value in self._value_functions(name, target, replication)]
        )

    def _sample(self, name: str, replication: int) -> Sample:
        targets = {
            target: (self.result.split(self.task, target).test, self._value_functions(name, target, replication))
            for target in self.targets
        }
        return Sample(targets)

    def _value_functions(self, name: str, target: str, replication: int) -> tuple[Values, ...]:
        """The value of each fold as a function of row weights."""
        key = name, target, replication
        if key not in self._functions:
            self._functions[key] = tuple(self._functions_of(*key))
        return self._functions[key]

    def _functions_of(self, name: str, target: str, replication: int) -> Iterator[Values]:
        if self.metric == "mrmse":
            yield from (mean_square_root(fold) for fold in self._squares(name, target, replication))
            return
        truth = self.result.truth(self.task, target) > 0
        for scores in self._scores(name, target, replication):
            yield precision_of(scores, truth, plain=self.metric == PLAIN)


def few_for_map(folds: int, rows: int) -> str:
    """Why MAP has no interval with so many folds and test items; "" where it has one (H-45).

    >>> few_for_map(5, 50), few_for_map(2, 46)
    ('', 'no interval of MAP is reliable with 2 folds and 46 test items; it takes 5 folds and 50 items')
    """
    if folds >= FEWEST_FOLDS and rows >= FEWEST_ITEMS:
        return ""
    return (
        f"no interval of MAP is reliable with {plural('fold', folds)} and {plural('test item', rows)}; it takes "
        f"{FEWEST_FOLDS} folds and {FEWEST_ITEMS} items"
    )


def _combine_errors(error: float, degrees: float, more: float, more_degrees: float) -> tuple[float, float]:
    """Two independent errors as one, with Satterthwaite's degrees of freedom."""
    one, two = error**2, more**2
    if one + two == 0:
        return 0.0, degrees
    return math.sqrt(one + two), (one + two) ** 2 / (one**2 / degrees + two**2 / more_degrees)
