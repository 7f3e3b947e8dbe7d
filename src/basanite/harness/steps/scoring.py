"""The task's own metric for one target: what parameters are chosen by, and what the folds are scored with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.plan.model import BEST
from basanite.harness.steps.layout import ModuleError
from basanite.metrics.ratings import RMSE, Rated, clipped, squared_errors
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
            found = RMSE.of(squared_errors(Rated((), truth[:, None], self.clipped(scores)[:, None])))
        return None if np.isnan(found) else found

    def clipped(self, scores: Numbers) -> Numbers:
        """Predictions inside the declared range, if there is one (H-21)."""
        return clipped(scores, self.range[0], self.range[1])[0] if self.range else np.asarray(scores)

    def best_of(self, values: Sequence[float | None]) -> int:
        """The place of the best value; the earlier of equal ones, the first if none is defined (A23).

        >>> Measure("mrmse").best_of([0.5, 0.4, 0.4]), Measure("map11").best_of([None, 0.4])
        (1, 1)
        """
        sign = 1 if BEST[self.metric] == "high" else -1
        numbers = [-np.inf if value is None else sign * value for value in values]
        return int(np.argmax(numbers))


def scored(
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
        outside = int(clipped(scores, measure.range[0], measure.range[1])[1].sum())
        found += [f"{outside} predictions outside the range were clipped"] if outside else []
        found += [ALL_CLIPPED] if outside == len(scores) else []
    return found
