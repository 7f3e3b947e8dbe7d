"""Layer by layer: what each adds for the linear classifier (A39), whether it learned (H-31), and how much it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from basanite.harness.analysis.gains import Comparer, Estimate
from basanite.harness.data.splits import split_name
from basanite.harness.engine.graph import Step
from basanite.harness.extras import works
from basanite.harness.extras.study import Deep, Study


@dataclass(frozen=True)
class Layers:
    """The layers of one team's learner; asked when it has been trained, for only then their number is known."""

    study: Study
    deep: Deep
    count: int
    measures: bool = False

    def steps(self) -> Iterator[Step]:
        """All steps: each layer alone, the first ones together, each layer with random weights, and its figures."""
        for layer in range(1, self.count + 1):
            yield from self._single(layer).values()
            yield from self._cumulative(layer).values()
            yield from self._single(layer, share=0.0).values()
            yield from self._quantities(layer).values()
            if self.measures:
                yield from self._measured(layer).values()

    def found(self, comparer: Comparer) -> list[dict[str, Any]]:
        """What there is to say about each layer, the lowest first."""
        return [self._layer(comparer, layer) for layer in range(1, self.count + 1)]

    def _layer(self, comparer: Comparer, layer: int) -> dict[str, Any]:
        single, together = self._put(comparer, "layer", layer), self._put(comparer, "layers 1 to", layer)
        below = f"4{self.deep.team}" if layer == 1 else f"{self.deep.run} layer {layer - 1}"
        before = f"4{self.deep.team}" if layer == 1 else f"{self.deep.run} layers 1 to {layer - 1}"
        return {
            "layer": layer,
            **self._learned(comparer, single, layer),
            "single": _plain(comparer.value(single)),
            "cumulative": _plain(comparer.value(together)),
            "gain_single": _plain(comparer.gain(single, below)) if self._has(below) else None,
            "gain_cumulative": _plain(comparer.gain(together, before)) if self._has(before) else None,
            "quantity": {split: self.study.value(step) for split, step in self._quantities(layer).items()},
            **self._shown_measures(layer),
        }

    def _has(self, name: str) -> bool:
        return name.startswith("6") or name in self.study.result.done(self.study.task.name)

    def _put(self, comparer: Comparer, what: str, layer: int) -> str:
        name = f"{self.deep.run} {what} {layer}"
        steps = self._single(layer) if what == "layer" else self._cumulative(layer)
        found, _ = self.study.predictions(steps)
        if found is not None:
            comparer.put(name, found)
        return name

    def _learned(self, comparer: Comparer, single: str, layer: int) -> dict[str, Any]:
        """The layer as it was trained against the same with random weights (H-31)."""
        random, reason = self.study.predictions(self._single(layer, share=0.0))
        if random is None:
            return {"gain_of_training": None, "note": reason}
        name = f"{self.deep.run} random layer {layer}"
        comparer.put(name, random)
        gain = comparer.gain(single, name)
        return {"gain_of_training": _plain(gain), "learned": gain.low > 0}

    def _single(self, layer: int, share: float = 1.0) -> dict[str, Step]:
        return {
            target: self.study.classified(
                self.deep,
                target,
                self.study.codes(self.deep, split_name(self.study.task, target), layer=layer, share=share),
            )
            for target in self.study.task.targets
        }

    def _cumulative(self, layer: int) -> dict[str, Step]:
        return {
            target: self.study.classified(
                self.deep, target, self.study.joined(self.deep, split_name(self.study.task, target), layer)
            )
            for target in self.study.task.targets
        }

    def _quantities(self, layer: int) -> dict[str, Step]:
        return {split: self._step("quantity", works.quantity, split, layer) for split in self.study.splits}

    def _measured(self, layer: int) -> dict[str, Step]:
        return {split: self._step("measure", works.measured, split, layer) for split in self.study.splits}

    def _step(self, kind: str, work: Any, split: str, layer: int) -> Step:
        codes = self.study.codes(self.deep, split, layer=layer)
        inputs = {"codes": codes.step}
        parameters: dict[str, Any] = {"part": codes.part}
        if kind == "measure":
            inputs["classes"] = self.study.classes(split)
            parameters["seen"] = self.study.layout(split).seen
        return Step(
            f"{kind} {self.study.task.name}/{split} {self.deep.team} {layer}", work, inputs, parameters, mapped=True
        )

    def _shown_measures(self, layer: int) -> dict[str, Any]:
        if not self.measures:
            return {}
        return {"measures": {split: self.study.value(step) for split, step in self._measured(layer).items()}}


def _plain(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}
