"""The unusual cross-validation: each classifier trains on ONE fold, its parameters are chosen on all others (H-16).

Rows pass in blocks: first those that parameters are chosen on, then the test rows, so codes of the whole data are never
in memory, and the truth of the test rows is not even here. Nothing is fitted again after the choice (A23).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from basanite.harness.modules.catalogue import find_module
from basanite.harness.modules.interfaces import Module, Parameters
from basanite.harness.plan import BEST
from basanite.harness.steps.layout import Layout, ModuleError, blocks
from basanite.harness.steps.store import whole
from basanite.metrics.ratings import RMSE, Rated, clip_to_scale, squared_errors
from basanite.metrics.retrieval.average_precision import AP11, Confidences, rows

Numbers = NDArray[np.float64]
ALL_CLIPPED: Final = "all predictions of a fold were clipped"


@dataclass(frozen=True)
class Measure:
    """The metric of a task, applied to one target: 11-point average precision, or the root mean squared error."""

    metric: str
    range: tuple[float, ...] | None = None

    def value(self, truth: Numbers, scores: Numbers) -> float | None:
        """The value, or None where it is undefined (A21).

        >>> Measure("mrmse", (1.0, 5.0)).value(np.array([1.0, 5.0]), np.array([0.0, 7.0]))
        0.0
        """
        if self.metric == "map11":
            found = AP11.of(rows(Confidences((), truth[:, None] > 0, np.asarray(scores, np.float64)[:, None])))
        else:
            found = RMSE.of(squared_errors(Rated((), truth[:, None], self.clip(scores)[:, None])))
        return None if np.isnan(found) else found

    def clip(self, scores: Numbers) -> Numbers:
        """Predictions inside the declared range, if there is one (H-21)."""
        return clip_to_scale(scores, self.range[0], self.range[1])[0] if self.range else np.asarray(scores)

    def best_of(self, values: Sequence[float | None]) -> int:
        """The place of the best value; the earlier of equal ones, the first if none is defined (A23).

        >>> Measure("mrmse").best_of([0.5, 0.4, 0.4]), Measure("map11").best_of([None, 0.4])
        (1, 1)
        """
        sign = 1 if BEST[self.metric] == "high" else -1
        numbers = [-np.inf if value is None else sign * value for value in values]
        return int(np.argmax(numbers))


def floor_scores(
    labels: Mapping[str, Any],
    layout: Mapping[str, Any],
    metric: str,
    seeds: Sequence[int],
    full: bool = False,
) -> dict[str, Any]:
    """Scores of the test rows that need no features (H-38): the mean of each training fold, or a random ranking.

    A constant score would rank no row: its interpolated precision is below that of chance where positives are few.
    """
    rows, values = Layout.read(layout), labels["values"]
    if metric == "map11":
        scores = np.array([np.random.default_rng(seed).random(rows.test) for seed in seeds])
    else:
        folds = [values[: rows.dealt] if full else values[rows.fold(fold)] for fold in range(len(rows.folds))]
        scores = np.array([np.full(rows.test, fold.mean()) for fold in folds])
    return {"scores": scores, "chosen": [{} for _ in seeds], "flags": [[] for _ in seeds]}


def score_predictions(
    predictions: Mapping[str, Any],
    truth: Mapping[str, Any],
    metric: str,
    range: Sequence[float] | None,  # noqa: A002  the plan's word
    strict: bool = False,
) -> dict[str, Any]:
    """The value of every fold's predictions of the test rows, with what must stand beside it."""
    measure, values = Measure(metric, tuple(range) if range else None), truth["values"]
    if strict and metric == "map11" and not (values > 0).any():
        raise ModuleError("no test row has this label, and the plan says strict (A21)")
    found = [measure.value(values, scores) for scores in predictions["scores"]]
    flags = [_flags(measure, scores, value) for scores, value in zip(predictions["scores"], found, strict=True)]
    return {"values": found, "flags": flags}


def _flags(measure: Measure, scores: Numbers, value: float | None) -> list[str]:
    found = [] if value is not None else ["undefined: no test row has this label"]
    if measure.range:
        outside = int(clip_to_scale(scores, measure.range[0], measure.range[1])[1].sum())
        found += [f"{outside} predictions outside the range were clipped"] if outside else []
        found += [ALL_CLIPPED] if outside == len(scores) else []
    return found


Scores = NDArray[np.float64]


class Trained(Protocol):
    """Classifiers of some folds with every parameters of the grid."""

    def scores(self, block: Any) -> Scores:
        """`float64[folds, grid, rows]`."""

    def by(self, block: Any, points: Sequence[int]) -> Scores:
        """`float64[folds, rows]` by the place in the grid that was chosen for each fold."""


def classify_folds(
    source: Mapping[str, Any],
    labels: Mapping[str, Any],
    part: str,
    module: str,
    parameters: Mapping[str, Any],
    seeds: Sequence[int],
    layout: Mapping[str, Any],
    metric: str,
    range: Sequence[float] | None,  # noqa: A002  the plan's word
    full: bool = False,
) -> dict[str, Any]:
    """Scores of every test row by the classifier of every fold, with the parameters that were chosen for it.

    `seeds` has one for each fold; work that is shared by the folds takes the first. With `full`, what was chosen on a
    fold is trained on the rows of all folds, as published results are (A22).
    """
    # Ten arguments: a step of the graph is called with its inputs and parameters by name, which are its key.
    chosen_module = find_module(module)
    rows = source[part] if chosen_module.needs == "sequence" else whole(source[part])
    work = _Work(rows, labels["values"], Layout.read(layout), chosen_module, parameters, seeds)
    trained = work.train()
    chosen, found = work.chosen(trained, Measure(metric, tuple(range) if range else None))
    return {
        "scores": work.full_scores(chosen) if full else work.test_scores(trained, chosen),
        "chosen": [dict(work.grid[at]) for at in chosen],
        "grid": [dict(point) for point in work.grid],
        "validation": found,
        "flags": work.flags(found),
    }


@dataclass(frozen=True)
class _Singles:
    """Classifiers that were fitted one by one."""

    fitted: Sequence[Sequence[Any]]

    def scores(self, block: Any) -> Scores:
        return np.array([[np.asarray(one.score(block), np.float64) for one in row] for row in self.fitted])

    def by(self, block: Any, points: Sequence[int]) -> Scores:
        chosen = zip(self.fitted, points, strict=True)
        return np.array([np.asarray(row[at].score(block), np.float64) for row, at in chosen])


@dataclass(frozen=True)
class _Many:
    """Classifiers that share their work (`ManyAtOnce`)."""

    classifier: Any
    state: Any

    def scores(self, block: Any) -> Scores:
        return np.asarray(self.classifier.score_many(self.state, block), np.float64)

    def by(self, block: Any, points: Sequence[int]) -> Scores:
        if hasattr(self.classifier, "score_chosen"):
            return np.asarray(self.classifier.score_chosen(self.state, block, points), np.float64)
        return self.scores(block)[np.arange(len(points)), list(points)]


class _Work:
    """One target of one run: its features and values, and the folds that can be learned from."""

    def __init__(
        self,
        features: Any,
        values: Scores,
        layout: Layout,
        module: Module,
        parameters: Parameters,
        seeds: Sequence[int],
    ) -> None:
        self.features, self.values, self.layout, self.module = features, values, layout, module
        self.parameters, self.seeds = parameters, seeds
        first = self._new_classifier(0)
        self.grid = list(first.grid())
        if not self.grid:
            raise ModuleError(f"{module.name} offers no parameters to choose from")
        trained = not getattr(first, "learns", True)  # then no fold has to teach it anything
        folds = range(len(layout.folds))
        self.live = [fold for fold in folds if trained or len(np.unique(values[layout.fold(fold)])) > 1]

    def _new_classifier(self, fold: int) -> Any:
        """An untrained classifier with the dice of this fold (A37)."""
        return self.module.make(self.parameters, self.seeds[fold])

    def train(self) -> Trained:
        """Classifiers of all folds that have more than one value, by one call where the module can."""
        one = self._new_classifier(0)
        if not self.live:
            return _Singles([])
        if hasattr(one, "fit_many"):
            folds = [self.layout.fold(fold) for fold in self.live]
            dealt = self.layout.dealt
            return _Many(one, one.fit_many(self.features[:dealt], folds, self.values[:dealt], self.grid))
        return _Singles([[self._fit(fold, point) for point in self.grid] for fold in self.live])

    def _fit(self, fold: int, point: Parameters) -> Any:
        one, rows = self._new_classifier(fold), self.layout.fold(fold)
        one.fit(self.features[rows], self.values[rows], point)
        return one

    def chosen(self, trained: Trained, measure: Measure) -> tuple[list[int], list[list[float | None]]]:
        """The place in the grid of every fold's parameters, and the values on which they were chosen (A23)."""
        scores = self._all_scores(trained, 0, self.layout.visible)
        found = [self._validation_values(fold, scores, measure) for fold in range(len(self.layout.folds))]
        return [measure.best_of(values) for values in found], found

    def _validation_values(self, fold: int, scores: Scores, measure: Measure) -> list[float | None]:
        if fold not in self.live:
            return [None] * len(self.grid)
        rows, at = self.layout.others(fold), self.live.index(fold)
        return [measure.value(self.values[rows], scores[at, point, rows]) for point in range(len(self.grid))]

    def test_scores(self, trained: Trained, chosen: Sequence[int]) -> Scores:
        """The whole test set by each fold's classifier; a constant where a fold had nothing to learn from (A7)."""
        start, end = self.layout.visible, self.layout.visible + self.layout.test
        found = np.empty((len(self.layout.folds), self.layout.test))
        for fold in range(len(self.layout.folds)):
            found[fold] = self.values[self.layout.fold(fold)][0]
        picked = [chosen[fold] for fold in self.live]
        for block in blocks(start, end) if self.live else ():
            scores = self._check_scores(trained.by(self.features[block], picked), block, len(picked))
            found[self.live, block.start - start : block.stop - start] = scores
        return found

    def full_scores(self, chosen: Sequence[int]) -> Scores:
        """The whole test set by a classifier of all training rows with each fold's parameters (A22)."""
        start, end = self.layout.visible, self.layout.visible + self.layout.test
        fitted = {at: self._new_classifier(0) for at in set(chosen)}
        for at, one in fitted.items():
            one.fit(self.features[: self.layout.dealt], self.values[: self.layout.dealt], self.grid[at])
        found = np.empty((len(chosen), self.layout.test))
        for block in blocks(start, end):
            for fold, at in enumerate(chosen):
                scores = np.asarray(fitted[at].score(self.features[block]), np.float64)[None]
                found[fold, block.start - start : block.stop - start] = self._check_scores(scores, block, 1)[0]
        return found

    def _all_scores(self, trained: Trained, start: int, end: int) -> Scores:
        found = np.zeros((len(self.live), len(self.grid), end - start))
        for block in blocks(start, end) if self.live else ():
            scores = self._check_scores(trained.scores(self.features[block]), block, len(self.live), len(self.grid))
            found[:, :, block.start - start : block.stop - start] = scores
        return found

    def _check_scores(self, scores: Scores, block: slice, *sizes: int) -> Scores:
        """Scores of the right shape, finite, and inside 0..1 where they are declared to be probabilities (A15)."""
        wanted = (*sizes, block.stop - block.start)
        if scores.shape != wanted:
            raise ModuleError(f"{self.module.name} gave scores of shape {scores.shape} where {wanted} is needed")
        if not np.isfinite(scores).all():
            raise ModuleError(f"{self.module.name} gave scores that are not finite")
        if self.module.scale == "probability" and not ((scores >= 0) & (scores <= 1)).all():
            raise ModuleError(f"{self.module.name} says it gives probabilities, and some are outside 0..1")
        return scores

    def flags(self, found: Sequence[Sequence[float | None]]) -> list[list[str]]:
        """What must stand beside each fold's value."""
        return [self._flags_of(fold, values) for fold, values in enumerate(found)]

    def _flags_of(self, fold: int, values: Sequence[float | None]) -> list[str]:
        if fold not in self.live:
            value = self.values[self.layout.fold(fold)][0]
            return [f"constant scorer: every row of the training fold has the value {value:g}"]
        undefined = len(self.grid) > 1 and all(value is None for value in values)
        return ["parameters not chosen: the metric is undefined on the validation rows"] if undefined else []
