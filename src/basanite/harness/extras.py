"""What was asked for beyond the plan's graphs, run through the engine and put together by task and team.

Learning curves (A38) show the value by how many unlabelled rows the learner got, and by how many labels the classifier.
Shares are nested stratified beginnings of one order; the test rows and folds are those of the run. Nothing at all means
that the learner keeps the random weights it began with.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from basanite.errors import SettingError
from basanite.harness import study as works
from basanite.harness.analysis.gains import Comparer, Estimate
from basanite.harness.analysis.run_analysis import Options, comparer_of
from basanite.harness.data.splits import split_name
from basanite.harness.evaluation import Evaluation
from basanite.harness.inspection import inspect_learner
from basanite.harness.pipeline import Builder
from basanite.harness.protocol import nearest
from basanite.harness.records import planned_steps, warning_lines
from basanite.harness.results import ResultFolder
from basanite.harness.running import STEPS, Places, Watcher, one_thread_each
from basanite.harness.steps.graph import Step, run, steps_in_order
from basanite.harness.steps.store import Store
from basanite.harness.study import Deep, Study

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
        comparer.add_predictions(name, found)
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
            return nearest(share * layout.visible)
        return max(1, round(share * layout.folds[0]))

    def _at(self, share: float) -> dict[str, Step]:
        targets = self.study.task.targets
        if self.axis == "labelled":
            return {target: self.study.classifier_step_with_share(self.deep, target, share) for target in targets}
        return {
            target: self.study.classifier_step(
                self.deep, target, self.study.codes(self.deep, split_name(self.study.task, target), share=share)
            )
            for target in targets
        }


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
                yield from self._measure_steps(layer).values()

    def results(self, comparer: Comparer) -> list[dict[str, Any]]:
        """What there is to say about each layer, the lowest first."""
        return [self._layer(comparer, layer) for layer in range(1, self.count + 1)]

    def _layer(self, comparer: Comparer, layer: int) -> dict[str, Any]:
        single, together = self._add_codes(comparer, "layer", layer), self._add_codes(comparer, "layers 1 to", layer)
        below = f"4{self.deep.team}" if layer == 1 else f"{self.deep.run} layer {layer - 1}"
        before = f"4{self.deep.team}" if layer == 1 else f"{self.deep.run} layers 1 to {layer - 1}"
        value, measures = self.study.value, self._measure_steps(layer) if self.measures else {}
        return {
            "layer": layer,
            **self._training_gain(comparer, single, layer),
            "single": _plain(comparer.value(single)),
            "cumulative": _plain(comparer.value(together)),
            "gain_single": _plain(comparer.gain(single, below)) if self._has(below) else None,
            "gain_cumulative": _plain(comparer.gain(together, before)) if self._has(before) else None,
            "quantity": {split: value(step) for split, step in self._quantities(layer).items()},
            **({"measures": {split: value(step) for split, step in measures.items()}} if self.measures else {}),
        }

    def _has(self, name: str) -> bool:
        return name.startswith("6") or name in self.study.result.done(self.study.task.name)

    def _add_codes(self, comparer: Comparer, what: str, layer: int) -> str:
        name = f"{self.deep.run} {what} {layer}"
        steps = self._single(layer) if what == "layer" else self._cumulative(layer)
        found, _ = self.study.predictions(steps)
        if found is not None:
            comparer.add_predictions(name, found)
        return name

    def _training_gain(self, comparer: Comparer, single: str, layer: int) -> dict[str, Any]:
        """The layer as it was trained against the same with random weights (H-31)."""
        random, reason = self.study.predictions(self._single(layer, share=0.0))
        if random is None:
            return {"gain_of_training": None, "note": reason}
        name = f"{self.deep.run} random layer {layer}"
        comparer.add_predictions(name, random)
        gain = comparer.gain(single, name)
        return {"gain_of_training": _plain(gain), "learned": None if math.isnan(gain.low) else gain.low > 0}

    def _single(self, layer: int, share: float = 1.0) -> dict[str, Step]:
        return {
            target: self.study.classifier_step(
                self.deep,
                target,
                self.study.codes(self.deep, split_name(self.study.task, target), layer=layer, share=share),
            )
            for target in self.study.task.targets
        }

    def _cumulative(self, layer: int) -> dict[str, Step]:
        return {
            target: self.study.classifier_step(
                self.deep, target, self.study.codes_up_to(self.deep, split_name(self.study.task, target), layer)
            )
            for target in self.study.task.targets
        }

    def _quantities(self, layer: int) -> dict[str, Step]:
        return {split: self._step("quantity", works.describe_codes, split, layer) for split in self.study.splits}

    def _measure_steps(self, layer: int) -> dict[str, Step]:
        return {split: self._step("measure", works.measure_codes, split, layer) for split in self.study.splits}

    def _step(self, kind: str, work: Any, split: str, layer: int) -> Step:
        codes = self.study.codes(self.deep, split, layer=layer)
        inputs = {"codes": codes.step}
        parameters: dict[str, Any] = {"part": codes.part}
        if kind == "measure":
            inputs["classes"] = self.study.classes(split)
            parameters["seen"] = self.study.layout(split).visible
        return Step(
            f"{kind} {self.study.task.name}/{split} {self.deep.team} {layer}", work, inputs, parameters, mapped=True
        )


def _plain(estimate: Estimate) -> dict[str, float]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


@dataclass(frozen=True)
class Asked:
    """Which extras: shares of unlabelled and of labelled rows, layers, their measures, a look into learners."""

    curves: tuple[float, ...] = ()
    labelled: tuple[float, ...] = ()
    layers: bool = False
    measures: bool = False
    invariance: bool = False

    @classmethod
    def of(
        cls, plan: Mapping[str, Any], *, curves: bool = False, layers: bool = False, invariance: bool = False
    ) -> Asked:
        """What the plan's table [analysis] asks for, and what is asked for now."""
        shares, labelled = tuple(plan.get("curves", ())), tuple(plan.get("labelled_curves", ()))
        return cls(
            shares or (SHARES if curves else ()),
            labelled or (LABELLED if curves else ()),
            bool(plan.get("layers")) or layers or bool(plan.get("measures")),
            bool(plan.get("measures")) or layers,
            bool(plan.get("invariance")) or invariance,
        )

    @property
    def anything(self) -> bool:
        """Whether anything is asked for at all."""
        return bool(self.curves or self.labelled or self.layers or self.invariance)


def extras(
    evaluation: Evaluation,
    result: ResultFolder,
    asked: Asked,
    *,
    options: Options,
    places: Places | None = None,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Everything that was asked for, by task and team, as plain data."""
    if evaluation.plan.digest() != result.manifest["plan_digest"]:
        raise SettingError(f"{result.path} holds the results of another plan. Give the plan that it was made with.")
    analysis = {**evaluation.plan.analysis, "layers": True} if asked.layers else evaluation.plan.analysis
    asking = _Asking(replace(evaluation, plan=replace(evaluation.plan, analysis=analysis)), result, asked)
    with one_thread_each(places or Places(), result.path) as executor:
        layers, looks = asking.perform(executor, watcher or Watcher())
    return {study.task.name: asking.task_results(study, layers, looks, options) for study in asking.studies}


class _Asking:
    """The extras of one result folder while they are made."""

    def __init__(self, evaluation: Evaluation, result: ResultFolder, asked: Asked) -> None:
        self.result, self.asked, self.store = result, asked, Store((result.path / STEPS).resolve())
        self.builder = Builder(evaluation)
        tasks = evaluation.plan.tasks.values()
        self.studies = [Study(self.builder, task, result, self.store) for task in tasks]

    def perform(self, executor: Executor | None, told: Watcher) -> tuple[list[Layers], dict[tuple[str, str], Step]]:
        """Two rounds: learners first, since only then the number of layers is known."""
        self._run(
            (study.codes(deep, split).step for study in self.studies for deep in study.deep for split in study.splits),
            executor,
            told,
        )
        layers = list(self._layers())
        curves = [step for curve in self._curves() for step in curve.steps()]
        self._run([*curves, *(step for entry in layers for step in entry.steps())], executor, told)
        looks = dict(self._looks())
        self._run(looks.values(), executor, told)
        return layers, looks

    def _run(self, steps: Iterable[Step], executor: Executor | None, told: Watcher) -> None:
        wanted = list(steps)
        for given in self.builder.given.values():
            given.lay(self.store)
        every = steps_in_order(wanted)
        told.planned(every, sum(self.store.has(step.key) for step in every))
        outcomes = run(wanted, self.store, executor=executor, progress=told.progress, begun=told.begun)
        for study in self.studies:
            study.outcomes |= outcomes

    def _curves(self, only: Study | None = None) -> Iterator[Curve]:
        for study in self.studies if only is None else (only,):
            for deep in study.deep:
                if self.asked.curves:
                    yield Curve(study, deep, "unlabelled", self.asked.curves)
                if self.asked.labelled:
                    yield Curve(study, deep, "labelled", self.asked.labelled)

    def _layers(self) -> Iterator[Layers]:
        for study in self.studies if self.asked.layers else ():
            for deep in study.deep:
                if study.outcomes[study.codes(deep, study.splits[0]).step.key].good:
                    yield Layers(study, deep, study.layers(deep, study.splits[0]), self.asked.measures)

    def _looks(self) -> Iterator[tuple[tuple[str, str], Step]]:
        """One look into each learner, on the first split."""
        for study in self.studies if self.asked.invariance else ():
            for deep in study.deep:
                yield (study.task.name, deep.team), _look(study, deep)

    def task_results(
        self, study: Study, layers: Sequence[Layers], looks: Mapping[tuple[str, str], Step], options: Options
    ) -> dict[str, Any]:
        """What was found for one task, by team."""
        comparer = comparer_of(self.result, study.task.name, options)
        found: dict[str, Any] = {}
        for curve in self._curves(study):
            name = f"{curve.axis}_curves"
            found.setdefault(name, {})[curve.deep.team] = curve.points(comparer)
        for entry in layers:
            if entry.study is study:
                found.setdefault("layers", {})[entry.deep.team] = entry.results(comparer)
        for (task, team), step in looks.items():
            if task == study.task.name:
                found.setdefault("learners", {})[team] = study.value(step) or {"note": study.outcomes[step.key].reason}
        lines = list(warning_lines(self.store, self._beyond(study)))
        return {**found, "warnings": lines} if lines else found

    def _beyond(self, study: Study) -> Iterator[Step]:
        """The steps of one task that no run had: what was warned of in the others stands beside their runs."""
        done = {key for key, _ in planned_steps(self.result.path)}
        for outcome in study.outcomes.values():
            if outcome.step.key not in done and f" {study.task.name}/" in outcome.step.name:
                yield outcome.step


def _look(study: Study, deep: Deep) -> Step:
    split = study.splits[0]
    features, codes = study.features(deep, split).step, study.codes(deep, split).step
    items = features.inputs["items"]
    while "items" in items.inputs:  # what each item was made into alone; the look needs the items themselves
        items = items.inputs["items"]
    chosen = {
        name: {key: step.parameters[key] for key in ("module", "parameters", "seed")}
        for name, step in (("preprocessor", features), ("learner", codes))
    }
    return Step(
        f"inspect {study.task.name}/{split} {deep.team}",
        inspect_learner,
        {"items": items, "rows": features.inputs["rows"]},
        {**chosen, "seen": study.layout(split).visible},
        f"{features.code} {codes.code}",
    )
