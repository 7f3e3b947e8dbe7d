"""A result folder in short: how each run ended and its value with the standard error over folds (H-22, A35)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from basanite.harness.conditions import CONDITIONS
from basanite.harness.engine.store import Store
from basanite.harness.recording import planned_steps
from basanite.harness.results import ResultFolder, RunStatus, Score


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
