"""From one evaluation to the next of the same teams: by how much each run has gained, with an interval (H-34).

Where both evaluations have the same folds and test rows the gain is paired, row by row; otherwise the two values are
independent and so are their errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from basanite.harness.analysis.analysing import Options, comparer_of
from basanite.harness.analysis.gains import Comparer, Estimate, Predictions
from basanite.harness.results import ResultFolder

FORMAT: Final = "basanite-harness-progress/1"


@dataclass(frozen=True)
class Gained:
    """One run in both evaluations."""

    task: str
    run: str
    team: str
    metric: str
    before: float
    after: float
    gain: Estimate
    paired: bool

    @property
    def said(self) -> str:
        """The gain in a word."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "no change shown"

    def as_dict(self) -> dict[str, Any]:
        """The gain as JSON says it."""
        told = {name: getattr(self, name) for name in ("task", "run", "team", "metric", "before", "after", "paired")}
        found = {"gain": self.gain.value, "low": self.gain.low, "high": self.gain.high, "p": self.gain.p}
        return {**told, **found, "verdict": self.said}


@dataclass(frozen=True)
class Progress:
    """Everything that two evaluations share, and what only one of them has."""

    runs: tuple[Gained, ...]
    only: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The object that `harness progress --json` prints."""
        runs = [run.as_dict() for run in self.runs]
        return {"format": FORMAT, "runs": runs, "only_in_one": list(self.only), "notes": list(self.notes)}


def progress(before: ResultFolder, after: ResultFolder, options: Options) -> Progress:
    """Every run that both evaluations have, task by task."""
    found = [gained for task in before.tasks if task in after.tasks for gained in _task(before, after, task, options)]
    seen = {(gained.task, gained.run) for gained in found}
    every = dict.fromkeys((task, run) for side in (before, after) for task in side.tasks for run in side.done(task))
    only = tuple(f"{task}/{run}" for task, run in every if (task, run) not in seen)
    return Progress(tuple(found), only, tuple(_notes(before, after, found)))


def _task(before: ResultFolder, after: ResultFolder, task: str, options: Options) -> Iterator[Gained]:
    if before.task(task)["metric"] != after.task(task)["metric"] or before.targets(task) != after.targets(task):
        return
    old, new = comparer_of(before, task, options), comparer_of(after, task, options)
    teams = {status.run: status.team for status in after.status() if status.task == task}
    paired = same_rows(before, after, task)
    for run in before.done(task):
        if run in after.done(task):
            gain = _paired(old, new, run) if paired else _apart(old, new, run)
            yield Gained(task, run, teams[run], new.metric, old.value(run).value, new.value(run).value, gain, paired)


def same_rows(first: ResultFolder, second: ResultFolder, task: str) -> bool:
    """Whether folds, test rows and truth of a task are the same in both."""
    for target in first.targets(task):
        one, two = first.split(task, target), second.split(task, target)
        if len(one.folds) != len(two.folds) or not np.array_equal(one.test, two.test):
            return False
        if not all(map(np.array_equal, one.folds, two.folds)):
            return False
        if not np.array_equal(first.truth(task, target), second.truth(task, target)):
            return False
    return True


def _paired(old: Comparer, new: Comparer, run: str) -> Estimate:
    name = f"{run} before"
    new.put(name, *(_predictions(old, run, number) for number in range(1, old.replications + 1)))
    return new.gain(run, name)


def _predictions(old: Comparer, run: str, number: int) -> Predictions:
    return {target: old.result.predictions(old.task, run, target, replication=number) for target in old.targets}


def _apart(old: Comparer, new: Comparer, run: str) -> Estimate:
    """The gain of two independent values, with Satterthwaite's degrees of freedom."""
    one, two = old.value(run), new.value(run)
    squares = one.error**2, two.error**2
    total, spread = sum(squares), squares[0] ** 2 / one.degrees + squares[1] ** 2 / two.degrees
    degrees = total**2 / spread if spread else min(one.degrees, two.degrees)
    sign = -1.0 if new.low else 1.0
    return Estimate(sign * (two.value - one.value), float(np.sqrt(total)), degrees, bounds=new.gain_ends)


def _notes(before: ResultFolder, after: ResultFolder, found: list[Gained]) -> Iterator[str]:
    names = [{team["letter"]: team["name"] for team in side.manifest["teams"]} for side in (before, after)]
    for letter in names[0].keys() & names[1].keys():
        if names[0][letter] != names[1][letter]:
            yield f"Letter {letter} is {names[0][letter]} before and {names[1][letter]} after: not the same team."
    apart = list(dict.fromkeys(gained.task for gained in found if not gained.paired))
    if apart:
        yield f"{', '.join(apart)}: other folds or test rows, so the two values are taken as independent."
    left = [task for task in before.tasks if task in after.tasks and not any(one.task == task for one in found)]
    if left:
        yield f"{', '.join(left)}: other targets or another metric, so nothing is compared."
