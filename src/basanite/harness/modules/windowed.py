"""Linear classifiers for clips: trained and applied window by window, a clip scoring as its best window (H-9, A28)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.harness.modules import logistic, machines
from basanite.harness.modules.interfaces import Module, Parameters, Scores
from basanite.harness.steps.store import Sequences


@dataclass
class Windowed:
    """Any linear classifier on windows: a clip's label is the label of all its windows, its score their greatest."""

    inner: Any

    def grid(self) -> Sequence[Parameters]:
        """What the classifier inside can choose from."""
        found: Sequence[Parameters] = self.inner.grid()
        return found

    def fit(self, features: Sequences, target: NDArray[Any], parameters: Parameters) -> None:
        """Train on the windows of one fold."""
        self.inner.fit(features.rows, features.spread(target), parameters)

    def score(self, features: Sequences) -> Scores:
        """The score of the best window of every clip."""
        return best(np.asarray(self.inner.score(features.rows)), features)

    def fit_many(
        self,
        features: Sequences,
        folds: Sequence[NDArray[np.int64]],
        target: NDArray[Any],
        grid: Sequence[Parameters],
    ) -> Any:
        """Train on the windows of every fold with every parameters."""
        places = [features.windows(rows) for rows in folds]
        return self.inner.fit_many(features.rows, places, features.spread(target), grid)

    def score_many(self, state: Any, features: Sequences) -> Scores:
        """`float64[folds, grid, clips]`."""
        return best(self.inner.score_many(state, features.rows), features)

    def score_chosen(self, state: Any, features: Sequences, chosen: Sequence[int]) -> Scores:
        """`float64[folds, clips]`."""
        return best(self.inner.score_chosen(state, features.rows, chosen), features)


def best(scores: Scores, features: Sequences) -> Scores:
    """The greatest score of every clip's windows, along the last axis.

    >>> best(np.array([1.0, 3.0, 2.0]), Sequences(np.zeros((3, 1)), np.array([0, 2, 3]))).tolist()
    [3.0, 2.0]
    """
    return np.asarray(np.maximum.reduceat(scores, features.offsets[:-1], axis=-1))


def by_window(module: Module) -> Module:
    """A registered linear classifier in its windowed form."""

    def make(parameters: Mapping[str, Any], seed: int) -> Windowed:
        return Windowed(module.make(parameters, seed))

    return replace(
        module,
        name=f"windowed-{module.name}",
        summary=f"{module.summary}; on windows of 30 frames, the best one counts",
        make=make,
        needs="sequence",
        code=(__file__, *module.code),
    )


LINEAR_SVM = by_window(logistic.LINEAR_SVM)
LOGISTIC_LABELS = by_window(logistic.LOGISTIC_LABELS)
SVC_LINEAR = by_window(machines.SVC_LINEAR)
