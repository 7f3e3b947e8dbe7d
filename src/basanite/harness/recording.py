"""Writing down what was run: splits, predictions, truth, scores, status, times and the manifest."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from basanite import __version__
from basanite.harness.building import SOFTWARE, Planned
from basanite.harness.data.splits import split_name
from basanite.harness.engine.graph import Outcome, Step, needed
from basanite.harness.engine.store import WARNINGS, Store
from basanite.harness.evaluation import Evaluation
from basanite.harness.frozen.facts import frozen_facts
from basanite.harness.iterations import Iteration
from basanite.harness.plan.model import TARGET_METRIC, ModuleChoice, Plan
from basanite.harness.plan.modules import code_digest, find_module
from basanite.harness.results import (
    ResultFolder,
    RunStatus,
    Score,
    State,
    write_clusters,
    write_json,
    write_manifest,
    write_predictions,
    write_scores,
    write_split,
    write_status,
    write_times,
    write_truth,
)
from basanite.harness.steps.learning import NOT_PROVIDED
from basanite.reports.wording import plural

DONE: Final[tuple[State, str]] = ("done", "")


@dataclass(frozen=True)
class Record:
    """What a run of a plan gave, before it is written down."""

    evaluation: Evaluation
    out: Path
    store: Store
    planned: Sequence[Planned]
    outcomes: Mapping[str, Outcome]
    iteration: Iteration


def record(made: Record) -> None:
    """Write the result folder; the manifest comes last, so that a folder with one is whole."""
    _write_data(made)
    statuses, scores = list(_statuses(made)), list(_scores(made))
    kept_statuses, kept_scores = _kept(made)
    order = _order(made.evaluation.plan)
    write_scores(made.out, sorted([*kept_scores, *scores], key=lambda score: _place(order, score)))
    write_status(made.out, sorted([*kept_statuses, *statuses], key=lambda status: _place(order, status)))
    write_times(made.out, _times(made))
    write_manifest(made.out, _manifest(made))


def write_planned_steps(out: Path, steps: Sequence[Step]) -> None:
    """Write which steps a run consists of, so that its progress can be told at any time, and after it was killed."""
    write_json(out / "steps.json", {"steps": [{"name": step.name, "key": step.key} for step in steps]})


def planned_steps(out: Path) -> list[tuple[str, str]]:
    """Key and name of every step that the last run in a folder consisted of."""
    listed = out / "steps.json"
    steps = json.loads(listed.read_text(encoding="utf-8"))["steps"] if listed.is_file() else []
    return [(step["key"], step["name"]) for step in steps]


def _write_data(made: Record) -> None:
    for task in made.evaluation.plan.tasks.values():
        parts, data = made.evaluation.partitions[task.name], made.evaluation.data[task.name]
        for name, partition in parts.items():
            write_split(made.out, task.name, name, partition)
        if data.groups is not None:
            write_clusters(made.out, task.name, data.groups)
        for target in task.targets:
            test = parts[split_name(task, target)].test
            write_truth(made.out, task.name, target, data.targets[target][test])


def _statuses(made: Record) -> Iterator[RunStatus]:
    """One status for each run and replication: done if every target is."""
    for (task, run, replication), entries in groupby(
        made.planned, lambda entry: (entry.task, entry.run, entry.replication)
    ):
        targets = list(entries)
        ended = [_ended(made, entry) for entry in targets]
        state, reason = next((end for end in ended if end[0] != "done"), DONE)
        marks = tuple(dict.fromkeys(mark for entry in targets for mark in _marks(made, entry)))
        marks += tuple(warned(made.store, needed([entry.scores for entry in targets if entry.scores])))
        yield RunStatus(task, run.name, run.condition.number, run.team, replication, state, reason, marks)


def _marks(made: Record, entry: Planned) -> list[str]:
    """What must stand beside a run because of how its representation came about: `trained by team` (H-28), and what is
    doubtful about the layers that it uses (H-37)."""
    source = entry.predictions.inputs["source"] if entry.predictions else None
    if entry.predictions is None or source is None or not made.store.has(source.key):
        return []
    told, layer = made.store.load(source.key, mapped=True), entry.predictions.parameters["part"].partition("_")[2]
    flags: Mapping[str, list[str]] = told.get("flags", {})
    doubts = [flag for number, found in flags.items() if layer in ("0", number) for flag in found]
    return [*told.get("marks", ()), *doubts]


def warned(store: Store, steps: Iterable[Step]) -> Iterator[str]:
    """What libraries warned of in some steps, each with how often (H-37)."""
    found: Counter[str] = Counter()
    for step in steps:
        if store.has(step.key):
            kind, told = step.name.partition(" ")[0], store.load(step.key, mapped=True).get(WARNINGS, {})
            found.update({f"{kind}: {line}": count for line, count in told.items()})
    for line, count in found.items():
        yield f"{line} ({plural('warning', count)})"


def _ended(made: Record, entry: Planned) -> tuple[State, str]:
    """How one target of a run ended, and the reason of the step that failed first."""
    if entry.scores is None:
        return entry.state, entry.reason
    outcome = made.outcomes[entry.scores.key]
    if outcome.good:
        return DONE
    reason = _cause(made, entry.scores)
    if NOT_PROVIDED in reason:
        return "not provided", reason.partition(NOT_PROVIDED)[2]
    return "failed", reason


def _cause(made: Record, step: Step) -> str:
    """The reason of the step at the root of a failure."""
    outcome = made.outcomes[step.key]
    if outcome.state != "blocked":
        return f"{step.name}: {outcome.reason}"
    return next(_cause(made, other) for other in step.inputs.values() if not made.outcomes[other.key].good)


def _scores(made: Record) -> Iterator[Score]:
    """One line for each fold of each target; runs without predictions have none, and say so in the status."""
    for entry in made.planned:
        if entry.scores is None or entry.predictions is None or not made.outcomes[entry.scores.key].good:
            continue
        predictions, values = made.store.load(entry.predictions.key), made.store.load(entry.scores.key)
        write_predictions(
            made.out, entry.task, entry.run.name, entry.target, predictions["scores"], replication=entry.replication
        )
        yield from _lines(made, entry, predictions, values)


def _lines(made: Record, entry: Planned, predictions: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Score]:
    metric = TARGET_METRIC[made.evaluation.plan.tasks[entry.task].metric]
    for fold, value in enumerate(values["values"]):
        yield Score(
            entry.task,
            entry.run.name,
            entry.run.condition.number,
            entry.run.team,
            entry.replication,
            fold + 1,
            entry.target,
            metric,
            value,
            predictions["chosen"][fold],
            (*predictions["flags"][fold], *values["flags"][fold]),
        )


def _kept(made: Record) -> tuple[list[RunStatus], list[Score]]:
    """What an earlier iteration left and this one does not redo."""
    if not (made.out / "manifest.json").is_file():
        return [], []
    before, redone = ResultFolder(made.out), {(entry.task, entry.run.name) for entry in made.planned}
    statuses = [status for status in before.status() if (status.task, status.run) not in redone]
    return statuses, [score for score in before.scores() if (score.task, score.run) not in redone]


def _order(plan: Plan) -> dict[str, int]:
    """Tasks and targets by their place in the plan."""
    targets = [target for task in plan.tasks.values() for target in task.targets]
    return {name: place for place, name in enumerate(dict.fromkeys([*plan.tasks, *targets]))}


def _place(order: Mapping[str, int], entry: Score | RunStatus) -> tuple[Any, ...]:
    start = (order.get(entry.task, 0), entry.condition, entry.run, entry.replication)
    return (*start, order.get(entry.target, 0), entry.fold) if isinstance(entry, Score) else start


def _times(made: Record) -> list[dict[str, Any]]:
    """What each step took, of this run and of those before it."""
    known = {entry["key"]: entry for entry in ResultFolder(made.out).times()}
    for outcome in made.outcomes.values():
        if outcome.state in ("done", "failed"):
            entry = {"step": outcome.step.name, "key": outcome.step.key, "state": outcome.state}
            known[outcome.step.key] = {**entry, "seconds": round(outcome.seconds, 3), "peak_bytes": outcome.peak}
    return list(known.values())


def _manifest(made: Record) -> dict[str, Any]:
    evaluation = made.evaluation
    return {
        "plan": evaluation.plan.canonical(),
        "plan_digest": evaluation.plan.digest(),
        "software": {
            "basanite": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in SOFTWARE},
        },
        "seeds": evaluation.seed_facts(),
        "data": {
            name: {"digest": _shown(evaluation, data.digest), "rows": len(data), "counts": dict(data.counts)}
            for name, data in evaluation.data.items()
        },
        "partitions": evaluation.shown_digests(),
        "splits": evaluation.split_facts(),
        "teams": [{"letter": team.letter, "name": team.name} for team in evaluation.plan.teams],
        "modules": _modules(evaluation.plan),
        **frozen_facts(evaluation),
        "deviations": _deviations(evaluation),
        "iteration": made.iteration.number,
        "iterations": made.iteration.history(),
    }


def _shown(evaluation: Evaluation, digest: str) -> str:
    return evaluation.seal.keyed(digest) if evaluation.seal else digest


def _modules(plan: Plan) -> dict[str, Any]:
    """Every module of the plan with what it declares and the hash of its source."""
    found = {}
    for choice in _choices(plan):
        module = find_module(choice.module)
        found[choice.module] = {
            "role": module.role,
            "summary": module.summary,
            "version": module.version,
            "needs": module.needs,
            "gives": module.gives,
            "scale": module.scale,
            "declares": dict(module.declares),
            "code": code_digest(choice.module),
        }
    return dict(sorted(found.items()))


def _choices(plan: Plan) -> Iterator[ModuleChoice]:
    for task in plan.tasks.values():
        yield from filter(None, (task.features, task.strong))
    for team in plan.teams:
        for system in team.systems.values():
            yield from filter(None, (system.preprocessor, system.linear, system.learner))


def _deviations(evaluation: Evaluation) -> list[str]:
    """Where the plan departs from the published protocol, each an option that is written down."""
    found = []
    for task in evaluation.plan.tasks.values():
        if task.metric == "mrmse" and task.shared_split:
            found.append(f"{task.name}: one split for all targets (A10)")
        if task.group_by:
            found.append(f"{task.name}: whole groups by {task.group_by} are kept together (A11)")
        if task.validation_cap is not None:
            found.append(f"{task.name}: at most {task.validation_cap} extra validation rows (A24)")
        if task.shuffle_seed is not None:
            found.append(f"{task.name}: rows are shuffled before folds are dealt (A5)")
        if task.iterative:
            found.append(f"{task.name}: folds by iterative stratification (A6)")
        if task.full:
            found.append(f"{task.name}: classifiers train on the rows of all folds, not on one (A22)")
    return found
