"""What the tests over all metrics ask of a family: samples of its units, some of them, and none that carry a value.

A file of this folder gives `FAMILIES`: for each `Metric.family` a function `sample(seed, *, perfect=False) -> Case`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class Case(ABC):
    """Some units to be measured."""

    settings: Mapping[str, Any] = MappingProxyType({})
    """What is bound to the metric."""

    @abstractmethod
    def __len__(self): ...

    @abstractmethod
    def taken(self, order):
        """The units at these places, some perhaps several times, by the same rules."""

    @abstractmethod
    def rows(self, metric):
        """What the metric's statistics give."""

    def arrays(self):
        """The arrays that the metric reads and must leave as they are."""
        return []

    def awkward(self):
        """The same with a unit that is hard to count (nothing in it, or everything)."""
        return self

    def without_carriers(self):
        """Units of which none carries a value; asked for only where a metric names a carrier."""
        raise NotImplementedError

    def best(self, metric):
        """The value of a perfect system."""
        return {"high": 1.0, "low": 0.0}[metric.best]
