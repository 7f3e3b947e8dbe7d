"""One task of an evaluation as curves and layers see it: which teams have a deep system, and the steps to ask for.

Everything is a step of the engine with the plan's own splits, seeds and modules, so it is done once, kept in the result
folder beside the runs, and shares what the runs have made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.harness.building import Builder, Source
from basanite.harness.data.splits import split_name, strata_for
from basanite.harness.engine.graph import Outcome, Step
from basanite.harness.engine.store import WARNINGS, Store
from basanite.harness.extras import works
from basanite.harness.plan.model import ModuleChoice, System, TaskPlan
from basanite.harness.results import ResultFolder
from basanite.harness.steps.data import part
from basanite.harness.steps.layout import Layout, rows_in_order
from basanite.harness.steps.learning import NOT_PROVIDED

Rows = NDArray[np.int64]
WHOLE: Final = 0
"""The number that stands for what a classifier gets, which need not be a single layer."""


@dataclass(frozen=True)
class Deep:
    """A team with a deep system whose run ended well: its parts."""

    team: str
    preprocessor: ModuleChoice
    learner: ModuleChoice
    linear: ModuleChoice

    @property
    def run(self) -> str:
        """Its run of the full system."""
        return f"6{self.team}"


class Study:
    """Makes the steps that curves and layers of one task need, and reads what they gave."""

    def __init__(self, builder: Builder, task: TaskPlan, result: ResultFolder, store: Store) -> None:
        self.builder, self.task, self.result, self.store = builder, task, result, store
        self.outcomes: dict[str, Outcome] = {}

    @property
    def deep(self) -> tuple[Deep, ...]:
        """The teams whose full system ran."""
        done = set(self.result.done(self.task.name))
        teams = [team.letter for team in self.builder.evaluation.plan.teams]
        systems = {team: self.builder.system(self.task, team) for team in teams if f"6{team}" in done}
        return tuple(found for team, system in systems.items() if (found := _deep(team, system)))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits of the task, one or one for each target."""
        return tuple(dict.fromkeys(split_name(self.task, target) for target in self.task.targets))

    def features(self, deep: Deep, split: str) -> Source:
        """The team's preprocessed rows."""
        return self.builder.features(self.task, split, deep.preprocessor)

    def codes(self, deep: Deep, split: str, *, layer: int = WHOLE, share: float = 1.0) -> Source:
        """Codes of a layer by a learner that got a share of the rows, a stratified beginning of them (A38)."""
        features = self.features(deep, split)
        made = self.builder.codes(self.task, split, features, deep.learner, deep.team, layer=layer, share=share)
        if share in (0.0, 1.0):
            return made
        inputs = {**made.step.inputs, "order": self.order(split)}
        return replace(made, step=replace(made.step, inputs=inputs))

    def joined(self, deep: Deep, split: str, layers: int) -> Source:
        """The codes of the first layers side by side."""
        codes = self.codes(deep, split, layer=1)
        if layers == 1:
            return codes
        name = f"join {self.task.name}/{split} {deep.team} 1..{layers}"
        return Source(
            Step(name, works.joined, {"codes": codes.step}, {"layers": layers}, mapped=True), "features", "dense"
        )

    def classified(self, deep: Deep, target: str, source: Source) -> Step:
        """The team's linear classifier on these rows, as in its run."""
        return self.builder.classify(self.task, target, source, deep.linear, deep.run)

    def classified_with(self, deep: Deep, target: str, share: float) -> Step:
        """The same with a share of the labelled rows of each fold; the others choose parameters with the rest (A38)."""
        source = self.codes(deep, split_name(self.task, target))
        whole = self.classified(deep, target, source)
        if share == 1.0:
            return whole
        split = split_name(self.task, target)
        order, layout = self._labelled(split, share)
        rows = Step(
            f"reorder {whole.name} {share:g}",
            works.reordered,
            {"source": source.step, "order": order},
            {"part": source.part},
            mapped=True,
        )
        labels = Step(
            f"relabel {whole.name} {share:g}", works.picked, {"labels": whole.inputs["labels"], "order": order}
        )
        parameters = {**whole.parameters, "layout": layout.plain(), "part": "features"}
        return replace(
            whole, name=f"{whole.name} {share:g}", inputs={"source": rows, "labels": labels}, parameters=parameters
        )

    def order(self, split: str) -> Step:
        """An order of the rows that may be learned from of which every beginning is stratified."""
        classes = self._classes(split)[: self.layout(split).seen]
        dice = self.builder.evaluation.seeds.generator("share", self.task.name, split)
        return self._rows("order", split, nested_order(classes, dice))

    def classes(self, split: str) -> Step:
        """The classes of the test rows, for measures of representations."""
        values = self._classes(split)[self.layout(split).seen :]
        numbers = np.asarray(
            values if values.min(initial=0) < 0 else np.unique(values, return_inverse=True)[1], np.int64
        )
        return self._laid("classes", split, numbers, "values")

    def layout(self, split: str) -> Layout:
        """The sizes of the sets."""
        return self.builder.layout(self.task, split)

    def layers(self, deep: Deep, split: str) -> int:
        """How many layers the learner has, after its step has run."""
        return int(self.store.load(self.codes(deep, split).step.key, mapped=True)["layers"])

    def predictions(self, steps: Mapping[str, Step]) -> tuple[dict[str, Any] | None, str]:
        """Scores of the test rows for every target, or why there are none."""
        bad = next((step for step in steps.values() if not self.outcomes[step.key].good), None)
        if bad is not None:
            return None, self._reason(bad)
        return {target: self.store.load(step.key)["scores"] for target, step in steps.items()}, ""

    def value(self, step: Step) -> dict[str, Any] | None:
        """What a step gave, without what libraries warned of; None if it failed."""
        if not self.outcomes[step.key].good:
            return None
        return {name: part for name, part in self.store.load(step.key).items() if name != WARNINGS}

    def _reason(self, step: Step) -> str:
        outcome = self.outcomes[step.key]
        worse = next((other for other in step.inputs.values() if not self.outcomes[other.key].good), None)
        return outcome.reason.rpartition(NOT_PROVIDED)[2] if worse is None else self._reason(worse)

    def _labelled(self, split: str, share: float) -> tuple[Step, Layout]:
        """Rows so that each fold is its own stratified beginning, and the rest of it validates."""
        layout, classes = self.layout(split), self._classes(split)
        dice = self.builder.evaluation.seeds.generator("labelled", self.task.name, split)
        kept, left = [], []
        for fold in range(len(layout.folds)):
            rows = layout.fold(fold)
            order = rows[nested_order(classes[rows], dice)]
            count = max(1, round(share * len(rows)))
            kept.append(order[:count])
            left.append(np.sort(order[count:]))
        rest = np.arange(layout.dealt, layout.seen + layout.test)
        made = Layout(tuple(map(len, kept)), layout.validation + sum(map(len, left)), layout.test)
        return self._rows(f"labelled {share:g}", split, np.concatenate([*kept, *left, rest])), made

    def _classes(self, split: str) -> NDArray[Any]:
        """The strata of all rows of a split, in the order of its matrices."""
        evaluation = self.builder.evaluation
        rows = rows_in_order(evaluation.partitions[self.task.name][split])
        return np.asarray(strata_for(self.task, evaluation.data[self.task.name], split)[rows])

    def _rows(self, kind: str, split: str, rows: Rows) -> Step:
        return self._laid(kind, split, rows, "rows")

    def _laid(self, kind: str, split: str, values: Rows, name: str) -> Step:
        held = np.ascontiguousarray(values, "<i8")
        given = part(f"{kind} {self.task.name}/{split}", kind, hashlib.sha256(held.tobytes()).hexdigest(), {name: held})
        given.lay(self.store)
        return given.step


def nested_order(classes: NDArray[Any], dice: np.random.Generator) -> Rows:
    """Rows in an order of which every beginning has the classes of the whole, as nearly as can be.

    >>> order = nested_order(np.array([0, 0, 0, 0, 1, 1]), np.random.default_rng(0))
    >>> [int((order[:3] < 4).sum()), int((order < 4).sum())]
    [2, 4]
    """
    _, inverse = np.unique(classes, return_inverse=True)
    place = np.empty(len(classes))
    for number in range(inverse.max(initial=-1) + 1):
        members = dice.permutation(np.flatnonzero(inverse == number))
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.lexsort((inverse, place)).astype(np.int64)


def _deep(team: str, system: System) -> Deep | None:
    if system.preprocessor and system.learner and system.linear:
        return Deep(team, system.preprocessor, system.learner, system.linear)
    return None
