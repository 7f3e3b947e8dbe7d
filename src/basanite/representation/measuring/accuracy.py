"""Accuracy beside the measures: a class may be predicted well from features that represent it badly (F-18).

A row is misplaced if it is more similar, on average, to the rows of another class than to those of its own. A class or
group is *accurate but badly formed* if most of its rows are predicted rightly while many of them are misplaced: the
classifier gets by, but the feature space does not carry it, and new data may fall to the other side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from basanite.analysis.results import Value
from basanite.metrics.representation.results import Floats, SampleFigures
from basanite.representation.measuring.settings import Choices

FLAG: Final = "accurate but badly formed"
Levels = Mapping[str, Mapping[str, Value]]


def misplaced(samples: SampleFigures) -> Floats:
    """1 for each row that is more similar to another class than to its own, else 0; a class of one row has none.

    >>> misplaced(SampleFigures(np.array([0.9, 0.2]), np.array([0.1, 0.6]), np.array([1, 0]))).tolist()
    [0.0, 1.0]
    """
    return np.asarray(np.nan_to_num(samples.own_cosine, nan=np.inf) < samples.rival_cosine, dtype=np.float64)


def flagged(levels: Levels, choices: Choices) -> dict[str, dict[str, Value]]:
    """The same values, with the flag on the accuracy of what is accurate but badly formed."""
    return {name: _flagged(values, choices) for name, values in levels.items()}


def _flagged(values: Mapping[str, Value], choices: Choices) -> dict[str, Value]:
    found = dict(values)
    if is_badly_formed(found, choices):
        found["accuracy"] = replace(found["accuracy"], flags=(FLAG, *found["accuracy"].flags))
    return found


def is_badly_formed(values: Mapping[str, Value], choices: Choices) -> bool:
    """Whether something is accurate, and yet many of its rows are misplaced."""
    if "accuracy" not in values or "misplaced" not in values:
        return False
    return values["accuracy"].value >= choices.accurate and values["misplaced"].value >= choices.misplaced


def badly_formed(breakdowns: Mapping[str, Levels]) -> Iterator[tuple[str, str]]:
    """Every class and group that carries the flag, as factor and level."""
    for factor, levels in breakdowns.items():
        yield from ((factor, level) for level, found in levels.items() if _has_flag(found))


def _has_flag(values: Mapping[str, Value]) -> bool:
    return "accuracy" in values and FLAG in values["accuracy"].flags
