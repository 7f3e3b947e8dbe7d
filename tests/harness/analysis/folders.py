"""Small result folders whose truth is planted: labels or ratings, any teams, any quality of every run."""

from __future__ import annotations

import numpy as np

from basanite.harness.conditions import CLAIMS, FLOOR, runs
from basanite.harness.protocol import Partition
from basanite.harness.results import (
    ResultFolder,
    RunStatus,
    Score,
    write_clusters,
    write_manifest,
    write_predictions,
    write_scores,
    write_split,
    write_status,
    write_truth,
)
from basanite.harness.steps.classification import Measure

SIGNAL = {0: 0.0, 1: 2.0, 2: 1.0, 3: 1.2, 4: 1.0, 5: 1.4, 6: 2.0}
"""How well each condition sees the truth: the deep system is as good as the strong one, and the floor sees nothing."""


def folder(
    path,
    *,
    metric="map11",
    teams=("a", "b"),
    signal=None,
    rows=200,
    folds=5,
    targets=("run", "sit"),
    margin=0.05,
    replications=1,
    seed=0,
    noise_of_seeds=0.0,
    gone=(),
    clusters=None,
    task="video",
    names=None,
    edit=lambda manifest: manifest,
):
    """A result folder; `signal[(condition, team)]` says how much of the truth a run sees."""
    rng = np.random.default_rng(seed)
    made = _Made(path, task, metric, targets, folds, rows)
    told = {(run.condition.number, run.team): SIGNAL[run.condition.number] for run in runs(teams)} | dict(signal or {})
    truths = {target: _truth(rng, metric, rows) for target in targets}
    noise = {target: rng.normal(size=(folds, rows)) for target in targets}  # folds and rows that all runs share
    own = rng.normal(size=(len(targets), folds, rows))
    for replication in range(1, replications + 1):
        for at, run in enumerate(sorted(runs(teams), key=lambda run: run.condition == FLOOR)):
            if run.name in gone:
                made.statuses.append(_status(task, run, replication, "not provided", "no learner"))
                continue
            made.statuses.append(_status(task, run, replication, "done", ""))
            shift = noise_of_seeds * np.random.default_rng([seed, replication, at]).normal()
            for place, target in enumerate(targets):
                level = told[run.condition.number, run.team] + shift
                mixed = 0.8 * noise[target] + 0.2 * np.roll(own[place], at, axis=1)
                made.put(run, replication, target, _scores(metric, truths[target], level, mixed), truths[target])
    return made.written(truths, margin, replications, clusters, names or {}, teams, edit)


def _truth(rng, metric, rows):
    return (rng.random(rows) < 0.3).astype(float) if metric == "map11" else rng.integers(1, 6, rows).astype(float)


def _scores(metric, truth, level, noise):
    if metric == "map11":
        return level * truth + noise
    return np.clip(truth + noise / level, 1, 5) if level else np.full(noise.shape, 3.0)


def _status(task, run, replication, state, reason):
    return RunStatus(task, run.name, run.condition.number, run.team, replication, state, reason)


class _Made:
    def __init__(self, path, task, metric, targets, folds, rows):
        self.path, self.task, self.metric, self.targets, self.folds, self.rows = (
            path,
            task,
            metric,
            targets,
            folds,
            rows,
        )
        self.scores, self.statuses = [], []
        self.measure = Measure(metric, (1.0, 5.0) if metric == "mrmse" else None)

    def put(self, run, replication, target, scores, truth):
        write_predictions(self.path, self.task, run.name, target, scores, replication=replication)
        kind = "ap11" if self.metric == "map11" else "rmse"
        for fold in range(self.folds):
            value = self.measure.value(truth, scores[fold])
            told = (self.task, run.name, run.condition.number, run.team, replication, fold + 1, target, kind, value)
            self.scores.append(Score(*told))

    def written(self, truths, margin, replications, clusters, names, teams, edit):
        first = self.rows
        parts = tuple(np.arange(first + 10 * k, first + 10 * (k + 1)) for k in range(self.folds))
        partition = Partition(parts, np.zeros(0, np.int64), np.arange(self.rows))
        write_split(self.path, self.task, "shared", partition)
        for target, truth in truths.items():
            write_truth(self.path, self.task, target, truth)
        if clusters is not None:
            write_clusters(self.path, self.task, np.asarray(clusters, np.int64))
        write_scores(self.path, self.scores)
        write_status(self.path, self.statuses)
        write_manifest(self.path, edit(self._manifest(margin, replications, names, teams)))
        return ResultFolder(self.path)

    def _manifest(self, margin, replications, names, teams):
        task = {
            "targets": list(self.targets),
            "metric": self.metric,
            "best": "high" if self.metric == "map11" else "low",
            "range": None if self.metric == "map11" else [1.0, 5.0],
            "folds": self.folds,
            "train_share": 0.7,
            "n": 50,
            "margin": margin,
        }
        system = {
            "preprocessor": {"module": "pixels", "parameters": {}},
            "learner": {"module": "msda", "parameters": {}},
        }
        split = {
            "folds": [10] * self.folds,
            "validation": 0,
            "test": self.rows,
            "values_in_folds": [],
            "group_overlap": None,
        }
        module = {"role": "learner", "summary": "a learner", "needs": "dense", "gives": "dense", "code": "sha256:00ff"}
        letters = [{"letter": letter, "name": names.get(letter, letter.upper() * 3)} for letter in teams]
        return {
            "plan": {
                "name": "planted",
                "title": "Planted differences",
                "replications": replications,
                "claims": [claim.canonical() for claim in CLAIMS],
                "tasks": {self.task: task},
                "teams": [{**team, "systems": {self.task: system}} for team in letters],
                "analysis": {},
            },
            "plan_digest": "sha256:11",
            "software": {"basanite": "0", "numpy": "2"},
            "seeds": {"sealed": False, "seed": 1},
            "data": {self.task: {"digest": "sha256:22", "rows": 2 * self.rows, "counts": {}}},
            "partitions": {f"{self.task}/shared": "sha256:33"},
            "splits": {self.task: {"shared": split}},
            "teams": letters,
            "modules": {"msda": module, "pixels": {**module, "role": "preprocessor"}},
            "deviations": [],
            "iteration": 1,
            "iterations": [{"number": 1, "runs": [], "plan_digest": "sha256:11", "reason": ""}],
            "report_state": "draft",
        }
