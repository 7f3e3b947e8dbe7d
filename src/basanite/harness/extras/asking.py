"""What was asked for beyond the plan's graphs, run through the engine and put together by task and team."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from basanite.clusters.address import Cluster
from basanite.errors import SettingError
from basanite.harness.analysis.analysing import Options, comparer_of
from basanite.harness.building import Builder
from basanite.harness.engine.graph import Step, needed, run
from basanite.harness.engine.store import Store
from basanite.harness.evaluation import Evaluation
from basanite.harness.extras.curves import LABELLED, SHARES, Curve
from basanite.harness.extras.inspecting import inspected
from basanite.harness.extras.layers import Layers
from basanite.harness.extras.study import Deep, Study
from basanite.harness.recording import planned_steps, warned
from basanite.harness.results import ResultFolder
from basanite.harness.running import STEPS, Watcher, one_thread_each


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
    workers: int = 1,
    cluster: Cluster | None = None,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Everything that was asked for, by task and team, as plain data."""
    if evaluation.plan.digest() != result.manifest["plan_digest"]:
        raise SettingError(f"{result.path} holds the results of another plan. Give the plan that it was made with.")
    analysis = {**evaluation.plan.analysis, "layers": True} if asked.layers else evaluation.plan.analysis
    asking = _Asking(replace(evaluation, plan=replace(evaluation.plan, analysis=analysis)), result, asked)
    with one_thread_each(workers, cluster, result.path) as executor:
        layers, looks = asking.perform(executor, watcher or Watcher())
    return {study.task.name: asking.found(study, layers, looks, options) for study in asking.studies}


class _Asking:
    """The extras of one result folder while they are made."""

    def __init__(self, evaluation: Evaluation, result: ResultFolder, asked: Asked) -> None:
        self.result, self.asked, self.store = result, asked, Store((result.path / STEPS).resolve())
        self.builder = Builder(evaluation)
        tasks = evaluation.plan.tasks.values()
        self.studies = [Study(self.builder, task, result, self.store) for task in tasks]

    def perform(self, executor: Executor | None, told: Watcher) -> tuple[list[Layers], dict[tuple[str, str], Step]]:
        """Two rounds: learners first, since only then the number of layers is known."""
        self._run(self._learning(), executor, told)
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
        every = needed(wanted)
        told.planned(every, sum(self.store.has(step.key) for step in every))
        outcomes = run(wanted, self.store, executor=executor, progress=told.progress, begun=told.begun)
        for study in self.studies:
            study.outcomes |= outcomes

    def _learning(self) -> Iterator[Step]:
        for study in self.studies:
            for deep in study.deep:
                yield from (study.codes(deep, split).step for split in study.splits)

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

    def found(
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
                found.setdefault("layers", {})[entry.deep.team] = entry.found(comparer)
        for (task, team), step in looks.items():
            if task == study.task.name:
                found.setdefault("learners", {})[team] = study.value(step) or {"note": study.outcomes[step.key].reason}
        lines = list(warned(self.store, self._beyond(study)))
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
        inspected,
        {"items": items, "rows": features.inputs["rows"]},
        {**chosen, "seen": study.layout(split).seen},
        f"{features.code} {codes.code}",
    )
