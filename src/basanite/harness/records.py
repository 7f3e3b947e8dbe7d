"""Iterations of an evaluation: the whole of it first, then selected runs again, each time with a reason (H-33)."""

from __future__ import annotations

import json
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite import __version__
from basanite.errors import SettingError
from basanite.harness.conditions import CONDITIONS
from basanite.harness.data.splits import split_name
from basanite.harness.evaluation import Evaluation
from basanite.harness.frozen.facts import frozen_facts
from basanite.harness.modules.catalogue import code_digest, find_module
from basanite.harness.pipeline import SOFTWARE, Planned
from basanite.harness.plan import TARGET_METRIC, Plan, chosen_modules
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
from basanite.harness.steps.graph import Outcome, Step, steps_in_order
from basanite.harness.steps.store import WARNINGS, Store
from basanite.harness.steps.training import NOT_PROVIDED
from basanite.reports.wording import plural


@dataclass(frozen=True)
class Iteration:
    """One time that runs were done: its number, which runs (none = all), under which plan, and why."""

    number: int
    runs: tuple[str, ...]
    plan_digest: str
    reason: str = ""
    earlier: tuple[Mapping[str, Any], ...] = ()

    def history(self) -> list[dict[str, Any]]:
        """All iterations up to this one, as they are written down."""
        mine = {"number": self.number, "runs": list(self.runs), "plan_digest": self.plan_digest, "reason": self.reason}
        return [*map(dict, self.earlier), mine]


def next_iteration(evaluation: Evaluation, out: Path, only: Sequence[str], reason: str) -> Iteration:
    """Which iteration a run is; a folder with another plan or other splits is never mixed with this one."""
    digest = evaluation.plan.digest()
    if not (out / "manifest.json").is_file():
        return Iteration(1, tuple(only), digest, reason)
    before = ResultFolder(out)
    *earlier, last = before.manifest["iterations"]
    same = last["plan_digest"] == digest
    if not only:
        return _whole(last, earlier, out, same=same)
    if before.manifest["partitions"] != evaluation.shown_digests():
        raise SettingError(f"{out} was made with other splits, so runs cannot be redone in it. Choose another --out.")
    # Runs that are new to the folder, or the last iteration called once more: then nothing is redone.
    new = not {status.run for status in before.status()} & set(only)
    if same and reason in ("", last["reason"]) and last["runs"] and (new or set(only) <= set(last["runs"])):
        return _same_iteration(last, earlier, sorted({*last["runs"], *only}))
    if not reason.strip():
        raise SettingError("Runs that are redone need a reason, which is kept: give --reason TEXT.")
    return Iteration(last["number"] + 1, tuple(only), digest, reason, (*earlier, last))


def _whole(last: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], out: Path, *, same: bool) -> Iteration:
    """The plan again: what is there is reused, and what is missing of the first or last iteration is done."""
    if not same:
        raise SettingError(
            f"{out} holds the results of another plan. Choose another --out, or redo runs: --only RUN --reason TEXT."
        )
    return _same_iteration(last, earlier, last["runs"] if earlier else ())


def _same_iteration(last: Mapping[str, Any], earlier: Sequence[Mapping[str, Any]], runs: Sequence[str]) -> Iteration:
    return Iteration(last["number"], tuple(runs), last["plan_digest"], last["reason"], tuple(earlier))


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
    kept_statuses, kept_scores = _earlier_results(made)
    order = _order(made.evaluation.plan)
    write_scores(made.out, sorted([*kept_scores, *scores], key=lambda score: _place(order, score)))
    write_status(made.out, sorted([*kept_statuses, *statuses], key=lambda status: _place(order, status)))
    write_times(made.out, _times(made))
    write_manifest(made.out, _manifest(made))


def write_planned_steps(out: Path, steps: Sequence[Step]) -> None:
    """Write which steps a run consists of, so that its progress can be seen at any time, and after it was killed."""
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
        ended = [_end_of(made, entry) for entry in targets]
        state, reason = next((end for end in ended if end[0] != "done"), DONE)
        marks = tuple(dict.fromkeys(mark for entry in targets for mark in _marks(made, entry)))
        marks += tuple(warning_lines(made.store, steps_in_order([entry.scores for entry in targets if entry.scores])))
        yield RunStatus(task, run.name, run.condition.number, run.team, replication, state, reason, marks)


def _marks(made: Record, entry: Planned) -> list[str]:
    """What must stand beside a run because of how its representation came about: `trained by team` (H-28), and what is
    doubtful about the layers that it uses (H-37)."""
    source = entry.predictions.inputs.get("source") if entry.predictions else None  # the floor has no source
    if entry.predictions is None or source is None or not made.store.has(source.key):
        return []
    told, layer = made.store.load(source.key, mapped=True), entry.predictions.parameters["part"].partition("_")[2]
    flags: Mapping[str, list[str]] = told.get("flags", {})
    doubts = [flag for number, found in flags.items() if layer in ("0", number) for flag in found]
    return [*told.get("marks", ()), *doubts]


def warning_lines(store: Store, steps: Iterable[Step]) -> Iterator[str]:
    """What libraries warned of in some steps, each with how often (H-37)."""
    found: Counter[str] = Counter()
    for step in steps:
        if store.has(step.key):
            kind, told = step.name.partition(" ")[0], store.load(step.key, mapped=True).get(WARNINGS, {})
            found.update({f"{kind}: {line}": count for line, count in told.items()})
    for line, count in found.items():
        yield f"{line} ({plural('warning', count)})"


def _end_of(made: Record, entry: Planned) -> tuple[State, str]:
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


def _earlier_results(made: Record) -> tuple[list[RunStatus], list[Score]]:
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
    shown = evaluation.seal.keyed_digest if evaluation.seal else str
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
            name: {"digest": shown(data.digest), "rows": len(data), "counts": dict(data.counts)}
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


def _modules(plan: Plan) -> dict[str, Any]:
    """Every module of the plan with what it declares and the hash of its source."""
    found = {}
    for choice in chosen_modules(plan):
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


def summary(folder: ResultFolder) -> dict[str, Any]:
    """What `harness run --json` prints: each task with its metric and each run with state and value."""
    values = _fold_values(folder.scores())
    tasks = {}
    for task in folder.tasks:
        statuses = [status for status in folder.status() if status.task == task]
        told = folder.task(task)
        runs = {status.run: _run(status, values) for status in statuses if status.replication == 1}
        tasks[task] = {"metric": told["metric"], "best": told["best"], "targets": list(told["targets"]), "runs": runs}
    manifest = folder.manifest
    facts = {key: manifest[key] for key in ("plan_digest", "iteration", "partitions", "deviations")}
    return {"name": manifest["plan"]["name"], "sealed": manifest["seeds"]["sealed"], **facts, "tasks": tasks}


def progress(path: Path) -> dict[str, int]:
    """How many steps of a run are done, from the list that it wrote when it began."""
    steps = planned_steps(path)
    store = Store(path / "steps") if steps else None
    return {"steps": len(steps), "done": sum(store.has(key) for key, _ in steps) if store else 0}


def _run(status: RunStatus, values: Mapping[tuple[str, str], Mapping[int, list[list[float]]]]) -> dict[str, Any]:
    """One run: its value is the mean over replications of the mean over folds of the mean over targets."""
    title = next(condition.title for condition in CONDITIONS if condition.number == status.condition)
    told: dict[str, Any] = {"condition": title, "team": status.team, "state": status.state, "reason": status.reason}
    told["flags"] = list(status.flags)
    folds = values.get((status.task, status.run), {})
    if status.state != "done" or not folds:
        return {**told, "value": None, "standard_error": None}
    table = np.array([[np.mean(fold) if fold else np.nan for fold in folds[number]] for number in sorted(folds)])
    return {**told, **_figures(table)}


def _figures(table: Any) -> dict[str, Any]:
    """Mean, standard error over folds, and over several replications their deviation (A37)."""
    by_fold, by_seed = table.mean(axis=0), table.mean(axis=1)
    error = by_fold.std(ddof=1) / np.sqrt(len(by_fold))
    spread = {"replications": len(by_seed), "between_seed_sd": by_seed.std(ddof=1)} if len(by_seed) > 1 else {}
    return {"value": by_fold.mean(), "standard_error": error, **spread}


def _fold_values(scores: Iterable[Score]) -> Mapping[tuple[str, str], Mapping[int, list[list[float]]]]:
    """The defined values of each run, replication and fold, over targets (A21: undefined ones are left out)."""
    found: dict[tuple[str, str], dict[int, dict[int, list[float]]]] = defaultdict(lambda: defaultdict(dict))
    for score in scores:
        cell = found[score.task, score.run][score.replication].setdefault(score.fold, [])
        if score.value is not None:
            cell.append(score.value)
    return {
        run: {number: [folds[fold] for fold in sorted(folds)] for number, folds in replications.items()}
        for run, replications in found.items()
    }
