"""Where the heavy work is done: one small layer of three operations. NumPy is here, others come by entry point.

`basanite.registry.load("backends", "torch")` gives a class that makes one: `load(...)(device="cuda")`.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import ClassVar, Protocol

from basanite.representation.measures.pairs import PairSums
from basanite.representation.measures.results import Classes
from basanite.representation.measures.sums import ClassSums, Features, Radii, linear_pass, radii
from basanite.representation.measures.sweep import Precision, pairwise_sweep


class Backend(Protocol):
    """The three operations that read all features."""

    @property
    def label(self) -> str:
        """What the backend is called in a result's settings."""

    def linear_pass(self, features: Features, classes: Classes, *, moments: bool = True) -> ClassSums:
        """The state of all linear measures."""

    def radii(self, features: Features, classes: Classes, sums: ClassSums) -> Radii:
        """The second pass, for Davies-Bouldin."""

    def pairwise_sweep(
        self, features: Features, classes: Classes, *, precision: Precision = "float32", sums: ClassSums | None = None
    ) -> PairSums:
        """The sweep over all pairs of rows."""


@dataclass(frozen=True)
class Blas:
    """NumPy with its own matrix products; `executor` (threads, processes, a cluster's) takes parts in parallel."""

    name: ClassVar = "numpy"
    summary: ClassVar = "NumPy and its matrix products; any executor for parallel parts"
    executor: Executor | None = None

    @property
    def label(self) -> str:
        """What the backend is called in a result's settings."""
        return self.name

    def linear_pass(self, features: Features, classes: Classes, *, moments: bool = True) -> ClassSums:
        """The state of all linear measures."""
        return linear_pass(features, classes, moments=moments, executor=self.executor)

    def radii(self, features: Features, classes: Classes, sums: ClassSums) -> Radii:
        """The second pass, for Davies-Bouldin."""
        return radii(features, classes, sums, executor=self.executor)

    def pairwise_sweep(
        self, features: Features, classes: Classes, *, precision: Precision = "float32", sums: ClassSums | None = None
    ) -> PairSums:
        """The sweep over all pairs of rows."""
        return pairwise_sweep(features, classes, precision=precision, executor=self.executor, sums=sums)
