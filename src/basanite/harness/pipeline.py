"""From a plan to the graph of its steps. Steps with the same inputs are one step, no matter who asks for them (H-19).

items -> preprocess (a split) -> learn (a team) -> classify (a run and target) -> score
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from basanite.errors import FeaturesError
from basanite.harness.conditions import FLOOR, Run, runs
from basanite.harness.data.dataset import stored_items
from basanite.harness.data.splits import partition_digest, split_name
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.programs import surroundings
from basanite.harness.frozen.facts import trained_faults, trained_name
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.modules.catalogue import code_digest, find_module, mismatch
from basanite.harness.modules.interfaces import Form
from basanite.harness.modules.weights import OUTPUTS, head_parameters, is_predictor, output_choice
from basanite.harness.plan import System, TaskPlan
from basanite.harness.results import State
from basanite.harness.steps.classification import classify_folds, floor_scores, score_predictions
from basanite.harness.steps.graph import Step
from basanite.harness.steps.layout import Given, Layout, part, rows_in_order
from basanite.harness.steps.training import learn_codes, prepare, preprocess, rows_of_split, transform_all

EVERY_LAYER: Final = -1
SOFTWARE: Final = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Source:
    """Where a classifier's rows come from: a step, the part of its value, and what form the rows have (A17)."""

    step: Step
    part: str
    form: Form


@dataclass(frozen=True)
class Planned:
    """One target of one run and replication: its two last steps, or why there are none (A35)."""

    task: str
    run: Run
    replication: int
    target: str
    predictions: Step | None = None
    scores: Step | None = None
    state: State = "done"
    reason: str = ""


class _GapError(Exception):
    """A run that cannot be: a module is missing, or does not fit to what comes before it."""

    def __init__(self, state: State, reason: str) -> None:
        self.state, self.reason = state, reason


@dataclass(frozen=True)
class Learning:
    """How a team's learner is trained, and which of its codes are wanted."""

    choice: ModuleChoice
    team: str
    mode: str = "deep"
    """Or "shallow": the one-layer mode, which is the first layer of the deep one if the learner is greedy."""
    layer: int = 0
    """0 is what a classifier gets."""
    share: float = 1.0
    """How much of the unlabelled rows it is trained on (A38)."""
    replication: int = 1


class Builder:
    """Makes the steps of one evaluation; the analysis asks it for further ones on the same splits."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.given: dict[str, Given] = {}

    def planned_runs(self, only: Sequence[str] = ()) -> Iterator[Planned]:
        """Every target of every run and replication, or of the runs that are named; the floor is always among them."""
        letters = [team.letter for team in self.evaluation.plan.teams]
        for task in self.evaluation.plan.tasks.values():
            for run in runs(letters):
                if not only or run.name in only or run.condition == FLOOR:
                    yield from self._run(task, run)

    def _run(self, task: TaskPlan, run: Run) -> Iterator[Planned]:
        for replication in range(1, self.evaluation.plan.replications + 1):
            for target in task.targets:
                yield self._target(task, run, replication, target)

    def _target(self, task: TaskPlan, run: Run, replication: int, target: str) -> Planned:
        if run.condition == FLOOR:
            predictions = self._floor(task, target, replication)
            return Planned(task.name, run, replication, target, predictions, self.score(task, target, predictions))
        try:
            named = task.strong if run.condition.strong else self.system(task, run.team).linear
            if named and is_predictor(named.module):
                source, choice = self._predictor(task, run, target, named)
            else:
                source = self.source(task, run, target, replication)
                choice = self._classifier(task, run)
        except _GapError as gap:
            return Planned(task.name, run, replication, target, state=gap.state, reason=gap.reason)
        wrong = "" if is_predictor(choice.module) else mismatch(find_module(choice.module), source.form)
        if wrong:
            return Planned(task.name, run, replication, target, state="not applicable", reason=wrong)
        predictions = self.classify(task, target, source, choice, run.name, replication)
        return Planned(task.name, run, replication, target, predictions, self.score(task, target, predictions))

    def _predictor(self, task: TaskPlan, run: Run, target: str, choice: ModuleChoice) -> tuple[Source, ModuleChoice]:
        """The outputs of a trained model for all items, and which of them predicts a target (H-42).

        It predicts from the items: it stands where nothing of anybody else's lies between them and the classifier.
        """
        condition = run.condition
        own = condition.strong or self.system(task, run.team).preprocessor is None
        if condition.learning != "none" or condition.strong != (condition.source == "features") or not own:
            reason = f"{choice.module} predicts from items, and this condition gives it the features of another module"
            raise _GapError("not applicable", reason)
        try:
            told = head_parameters(choice, surroundings(), target, ratings=task.metric == "mrmse")
        except FeaturesError as error:
            raise _GapError("not applicable", f"{choice.module}: {error}") from error
        source = self.features(task, split_name(task, target), ModuleChoice(*output_choice(choice)))
        return source, replace(choice, parameters={name: told[name] for name in told if name not in OUTPUTS})

    def _floor(self, task: TaskPlan, target: str, replication: int) -> Step:
        """The step that predicts without having learned anything (H-38)."""
        layout, draw = self.layout(task, split_name(task, target)), self.evaluation.seeds.small
        folds, random = range(1, len(layout.folds) + 1), task.metric == "map11"
        parameters = {
            "layout": layout.plain(),
            "metric": task.metric,
            "seeds": [draw("floor", task.name, target, replication, fold) if random else 0 for fold in folds],
            **({"full": True} if task.full else {}),
        }
        name = f"classify {task.name}/{target} {FLOOR.number}"
        return Step(name, floor_scores, {"labels": self._labels(task, target)}, parameters)

    def source(self, task: TaskPlan, run: Run, target: str, replication: int = 1) -> Source:
        """The rows that a run's classifier gets: features, or codes of a learner."""
        condition, split = run.condition, split_name(task, target)
        if condition.source == "features":
            return self.features(
                task, split, _require(task.features, "the plan names no feature extractor"), replication
            )
        system = self.system(task, run.team)
        chosen = _require(system.preprocessor, f"team {run.team} has no preprocessor for this task")
        features = self.features(task, split, chosen, replication)
        if condition.learning == "none":
            return features
        learner = self._learner(task, split, system, run.team)
        learning = Learning(learner, run.team, mode=condition.learning, replication=replication)
        return self.codes(task, split, features, learning)

    def _learner(self, task: TaskPlan, split: str, system: System, team: str) -> ModuleChoice:
        """A team's learner, with what the team trained itself beside it (H-28)."""
        learner = _require(system.learner, f"team {team} has no learner for this task")
        if not system.trained:
            return learner
        wrong = trained_faults(self.evaluation, task.name, split, system)
        if wrong:
            raise _GapError("not applicable", f"the trained system of team {team} does not fit: {'; '.join(wrong)}")
        return replace(learner, module=trained_name(system, task.name, split, learner.module))

    def system(self, task: TaskPlan, letter: str) -> System:
        """What a team brings for a task."""
        team = next(team for team in self.evaluation.plan.teams if team.letter == letter)
        return team.systems.get(task.name, System())

    def _classifier(self, task: TaskPlan, run: Run) -> ModuleChoice:
        if run.condition.strong:
            return _require(task.strong, "the plan names no strong classifier")
        return _require(self.system(task, run.team).linear, f"team {run.team} has no linear classifier for this task")

    def features(self, task: TaskPlan, split: str, choice: ModuleChoice, replication: int = 1) -> Source:
        """The features of a split by a module, fitted on its training and validation rows."""
        module = find_module(choice.module)
        wrong = mismatch(module, "items")
        if wrong:
            raise _GapError("not applicable", wrong)
        if module.fixed:
            return self._fixed_features(task, split, choice)
        parameters = {**choice.canonical(), "seed": self._seed_of(choice, "features", task.name, split, replication)}
        seen = self.layout(task, split).visible
        inputs = {"items": self._items(task, choice), "rows": self._rows(task, split)}
        name = f"preprocess {task.name}/{split} {choice.module}"
        step = Step(name, preprocess, inputs, {**parameters, "seen": seen}, _code(choice), mapped=True)
        return Source(step, "features", module.gives)

    def _fixed_features(self, task: TaskPlan, split: str, choice: ModuleChoice) -> Source:
        """The features of a module that learns nothing: made once for all splits, of which each takes its rows."""
        items = {"items": self._items(task, choice)}
        name = f"extract {task.name} {choice.module}"
        made = Step(name, transform_all, items, choice.canonical(), _code(choice), mapped=True)
        inputs = {"features": made, "rows": self._rows(task, split)}
        name = f"preprocess {task.name}/{split} {choice.module}"
        step = Step(name, rows_of_split, inputs, {"module": choice.module}, mapped=True)
        return Source(step, "features", find_module(choice.module).gives)

    def codes(self, task: TaskPlan, split: str, features: Source, learning: Learning) -> Source:
        """The codes of one layer of a team's learner, trained once for all who ask."""
        choice, team, mode, layer = learning.choice, learning.team, learning.mode, learning.layer
        share, module = learning.share, find_module(choice.module)
        wrong = mismatch(module, features.form)
        if wrong:
            raise _GapError("not applicable", wrong)
        if mode == "shallow" and module.greedy:
            mode, layer = "deep", 1
        parameters = {
            **choice.canonical(),
            "seed": self._seed_of(choice, "learner", task.name, split, team, learning.replication),
            "seen": self.layout(task, split).visible,
            "mode": mode,
            "layers": self._layers(mode, greedy=module.greedy),
            "share": share,
            "share_seed": self.evaluation.seeds.derive("share", task.name, split),
        }
        name = f"learn {task.name}/{split} {team} {mode}{'' if share == 1 else f' {share:g}'}"
        step = Step(name, learn_codes, {"features": features.step}, parameters, _code(choice), mapped=True)
        by_window = features.form in ("sequence", "histograms")
        return Source(step, f"codes_{layer}", "sequence" if by_window else module.gives)

    def _layers(self, mode: str, *, greedy: bool) -> list[int]:
        """Which codes are kept: what classifiers get, and every single layer if the plan asks about layers."""
        if mode == "deep" and self.evaluation.plan.analysis.get("layers"):
            return [0, EVERY_LAYER]
        return [0, 1] if mode == "deep" and greedy else [0]

    def classify(
        self, task: TaskPlan, target: str, source: Source, choice: ModuleChoice, run: str, replication: int = 1
    ) -> Step:
        """The step that trains a classifier on each fold and scores the test rows; it never gets their truth."""
        layout = self.layout(task, split_name(task, target))
        folds = range(1, len(layout.folds) + 1)
        seeds = [self._seed_of(choice, "classifier", task.name, target, run, replication, fold) for fold in folds]
        limits = list(task.range) if task.range else None
        parameters = {
            **choice.canonical(),
            "part": source.part,
            "seeds": seeds,
            "layout": layout.plain(),
            "metric": task.metric,
            "range": limits,
            **({"full": True} if task.full else {}),
        }
        inputs = {"source": source.step, "labels": self._labels(task, target)}
        return Step(
            f"classify {task.name}/{target} {run}", classify_folds, inputs, parameters, _code(choice), mapped=True
        )

    def score(self, task: TaskPlan, target: str, predictions: Step) -> Step:
        """The step that compares predictions with the truth: the only one that gets it."""
        inputs = {"predictions": predictions, "truth": self._truth(task, target)}
        limits = list(task.range) if task.range else None
        parameters = {"metric": task.metric, "range": limits, "strict": task.strict}
        return Step(predictions.name.replace("classify", "score", 1), score_predictions, inputs, parameters)

    def layout(self, task: TaskPlan, split: str) -> Layout:
        """The order of rows in the matrices of a split."""
        return Layout.of(self.evaluation.partitions[task.name][split])

    def _seed_of(self, choice: ModuleChoice, *names: str | int) -> int:
        """The seed of a module's use by name (A37); none where it throws no dice, so that the work can be shared."""
        return self.evaluation.seeds.small(*names) if find_module(choice.module).random else 0

    def _items(self, task: TaskPlan, choice: ModuleChoice) -> Step:
        """The items, or what the module can make of each alone."""
        data = self.evaluation.data[task.name]
        items = self._lay(part(f"items {task.name}", "items", data.items_digest, stored_items(data.items)))
        function = find_module(choice.module).prepare
        if function is None:
            return items
        parameters = {"function": f"{function.__module__}:{function.__qualname__}"}
        return Step(f"prepare {task.name}", prepare, {"items": items}, parameters, _code(choice), mapped=True)

    def _rows(self, task: TaskPlan, split: str) -> Step:
        made = self.evaluation.partitions[task.name][split]
        value = {"rows": rows_in_order(made)}
        return self._lay(part(f"rows {task.name}/{split}", "rows", partition_digest(made), value))

    def _labels(self, task: TaskPlan, target: str) -> Step:
        """The values of one target for the rows that may be learned from: no other target, no test row (H-2, A9)."""
        made = self.evaluation.partitions[task.name][split_name(task, target)]
        rows = np.concatenate([*made.folds, made.validation])
        return self._values("labels", task, target, self.evaluation.data[task.name].targets[target][rows])

    def _truth(self, task: TaskPlan, target: str) -> Step:
        made = self.evaluation.partitions[task.name][split_name(task, target)]
        return self._values("truth", task, target, self.evaluation.data[task.name].targets[target][made.test])

    def _values(self, kind: str, task: TaskPlan, target: str, values: Any) -> Step:
        digest = hashlib.sha256(np.ascontiguousarray(values, "<f8").tobytes()).hexdigest()
        return self._lay(part(f"{kind} {task.name}/{target}", kind, digest, {"values": values}))

    def _lay(self, given: Given) -> Step:
        return self.given.setdefault(given.step.key, given).step


def _require(choice: ModuleChoice | None, reason: str) -> ModuleChoice:
    if choice is None:
        raise _GapError("not provided", reason)
    return choice


def _code(choice: ModuleChoice) -> str:
    """What a module's work depends on beside its inputs: its source, and the packages that compute."""
    return f"1 {code_digest(choice.module)} {_software()}"


@cache
def _software() -> str:
    return " ".join(f"{name}={version(name)}" for name in SOFTWARE)
