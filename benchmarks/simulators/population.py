"""A large population of units for two systems that could change places on every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from basanite.kernel import Metric, Rows, UnitRows

POPULATION = 4000


@dataclass(frozen=True)
class Population:
    """All units of two exchangeable systems, as rows of one metric."""

    metric: Metric
    first: Rows
    second: Rows
    counts: bool = False
    """Whether the value is a count that grows with the number of units."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns; a metric without any has numbered ones."""
        return self.metric.columns or tuple(map(str, range(self.first.shape[1])))

    @cached_property
    def truth(self) -> float:
        """The value of all units of both systems."""
        return self.metric.of(np.concatenate([self.first, self.second]))

    def truth_of(self, units: int) -> float:
        """The value that a campaign of so many units estimates."""
        return self.truth * units / (2 * len(self.first)) if self.counts else self.truth

    def tables(self, chosen: Any, swap: Any) -> tuple[UnitRows, UnitRows]:
        """Both systems on some units, having changed places on some of them."""
        names, first, second = tuple(f"{at:04}" for at in range(len(chosen))), self.first[chosen], self.second[chosen]
        pair = np.where(swap, second, first), np.where(swap, first, second)
        return UnitRows("unit", names, self.columns, pair[0]), UnitRows("unit", names, self.columns, pair[1])


def populations(metrics: Sequence[Metric], blocks: Sequence[Any]) -> list[Population]:
    """The population of each metric from a block for each system; metrics with the same statistics share their rows."""
    rows = {metric.statistics: [metric.statistics(block) for block in blocks] for metric in metrics}
    return [Population(metric, *rows[metric.statistics]) for metric in metrics]


Simulator = Callable[[Sequence[Metric], np.random.Generator], list[Population]]
