"""Learning curves (A38): the value by how many unlabelled rows the learner got, and by how many labels the classifier.

Shares are nested stratified beginnings of one order; the test rows and folds are those of the run. Nothing at all means
that the learner keeps the random weights it began with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from basanite.harness.analysis.gains import Comparer
from basanite.harness.data.splits import split_name
from basanite.harness.engine.graph import Step
from basanite.harness.extras.study import Deep, Study
from basanite.harness.protocol import nearest

Axis = Literal["unlabelled", "labelled"]
SHARES: Final = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
LABELLED: Final = (0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Curve:
    """One curve of one team: a value for each share, with the steps that make it."""

    study: Study
    deep: Deep
    axis: Axis
    shares: Sequence[float]

    def steps(self) -> Iterator[Step]:
        """All steps that the curve needs."""
        for share in self.shares:
            yield from self._at(share).values()

    def points(self, comparer: Comparer) -> list[dict[str, Any]]:
        """The value at each share, with its interval, and the gain of all rows over it."""
        return [self._point(comparer, share) for share in self.shares]

    def _point(self, comparer: Comparer, share: float) -> dict[str, Any]:
        told = {"share": share, "rows": self._rows(share)}
        found, reason = self.study.predictions(self._at(share))
        if found is None:
            return {**told, "value": None, "low": None, "high": None, "note": reason}
        name = f"{self.deep.run} {self.axis} {share:g}"
        comparer.put(name, found)
        value = comparer.value(name)
        numbers = {"value": value.value, "low": value.low, "high": value.high}
        if share == 1.0:
            return {**told, **numbers}
        gain = comparer.gain(self.deep.run, name)
        return {**told, **numbers, "gain_of_all": {"gain": gain.value, "low": gain.low, "high": gain.high}}

    def _rows(self, share: float) -> int:
        """How many rows that is, in the first split."""
        layout = self.study.layout(self.study.splits[0])
        if self.axis == "unlabelled":
            return nearest(share * layout.seen)
        return max(1, round(share * layout.folds[0]))

    def _at(self, share: float) -> dict[str, Step]:
        targets = self.study.task.targets
        if self.axis == "labelled":
            return {target: self.study.classified_with(self.deep, target, share) for target in targets}
        return {
            target: self.study.classified(
                self.deep, target, self.study.codes(self.deep, split_name(self.study.task, target), share=share)
            )
            for target in targets
        }
