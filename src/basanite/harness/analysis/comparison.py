"""Two result folders side by side: a team's duplicate evaluation against ours, and one evaluation against the next.

Of duplicates (H-27, A44) what counts as different is a declared tolerance, or, where both sites have several seeds,
twice the deviation between seeds; never the standard error over folds, which says nothing about two machines (S-16).

From one evaluation to the next of the same teams (H-34) each run's gain has an interval. Where both have the same folds
and test rows the gain is paired, row by row; otherwise the two values are independent and so are their errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from basanite.harness.analysis.gains import Comparer, Estimate, Predictions
from basanite.harness.analysis.run_analysis import Options, comparer_of
from basanite.harness.analysis.verdicts import RunValues, all_values
from basanite.harness.results import ResultFolder, target_file

COMPARISON_FORMAT: Final = "basanite-harness-comparison/1"
TOLERANCE: Final = 1e-6
SEEDS: Final = 2
"""Deviations between seeds that two sites may be apart."""
MOST_FACTS: Final = 200
LONGEST: Final = 200


@dataclass(frozen=True)
class RunDifference:
    """One run at both sites: its means, the allowed difference with its reason, and where it is largest."""

    task: str
    run: str
    first: float | None
    second: float | None
    allowed: float
    rule: str
    note: str = ""
    worst: float = math.nan
    """The largest difference of one fold and target."""
    place: str = ""
    scores: float = math.nan
    """The largest difference of one prediction, where both sites have them."""

    @property
    def difference(self) -> float:
        """The second mean less the first."""
        return math.nan if self.first is None or self.second is None else self.second - self.first

    @property
    def beyond(self) -> bool:
        """Whether it differs by more than is allowed, or is at one site only."""
        return bool(self.note) or not abs(self.difference) <= self.allowed

    def as_dict(self) -> dict[str, Any]:
        """The run as JSON says it."""
        told = {name: getattr(self, name) for name in ("task", "run", "first", "second", "allowed", "rule", "note")}
        more = {
            "largest_value_difference": self.worst,
            "largest_at": self.place,
            "largest_score_difference": self.scores,
        }
        return {**told, "difference": self.difference, "beyond": self.beyond, **more}


@dataclass(frozen=True)
class FolderComparison:
    """Everything in which two folders differ."""

    tolerance: float
    runs: tuple[RunDifference, ...]
    facts: tuple[tuple[str, str, str], ...]
    """What their manifests say differently: where, here, there."""
    notes: tuple[str, ...] = field(default=())

    @property
    def beyond(self) -> tuple[RunDifference, ...]:
        """The runs that differ by more than is allowed."""
        return tuple(run for run in self.runs if run.beyond)

    def as_dict(self) -> dict[str, Any]:
        """The object that `harness compare --json` prints."""
        return {
            "format": COMPARISON_FORMAT,
            "tolerance": self.tolerance,
            "agree": not self.beyond,
            "runs": [run.as_dict() for run in self.runs],
            "beyond": [f"{run.task}/{run.run}" for run in self.beyond],
            "manifest_differences": [dict(zip(("where", "first", "second"), fact, strict=True)) for fact in self.facts],
            "notes": list(self.notes),
        }


def compare_folders(first: ResultFolder, second: ResultFolder, *, tolerance: float = TOLERANCE) -> FolderComparison:
    """Every run of both folders, and what their manifests say differently."""
    tasks = dict.fromkeys((*first.tasks, *second.tasks))
    runs = tuple(one for task in tasks for one in _task_differences(first, second, task, tolerance))
    facts = tuple(_manifest_differences(first.manifest, second.manifest))
    more = len(facts) - MOST_FACTS
    notes = (f"{more} more differences between the manifests are not listed.",) if more > 0 else ()
    return FolderComparison(tolerance, runs, facts[:MOST_FACTS], notes)


def _task_differences(
    first: ResultFolder, second: ResultFolder, task: str, tolerance: float
) -> Iterator[RunDifference]:
    one, two = (all_values(side, task) if task in side.tasks else {} for side in (first, second))
    names = dict.fromkeys(run for run, _ in (*one, *two))
    for run in names:
        sides = [[values for (name, _), values in found.items() if name == run] for found in (one, two)]
        if not all(sides):
            here = "the first" if sides[0] else "the second"
            yield RunDifference(task, run, *_means(sides), tolerance, "tolerance", f"only {here} has this run")
        elif sides[0][0].values.shape != sides[1][0].values.shape:
            yield RunDifference(task, run, *_means(sides), tolerance, "tolerance", "other folds or targets")
        else:
            yield _run_difference(first, second, task, sides, tolerance)


def _run_difference(
    first: ResultFolder, second: ResultFolder, task: str, sides: list[list[RunValues]], tolerance: float
) -> RunDifference:
    run = sides[0][0].run
    allowed, rule = _allowed_difference(sides, tolerance)
    gaps = np.abs(sides[0][0].values - sides[1][0].values)
    undefined = np.isnan(sides[0][0].values) != np.isnan(sides[1][0].values)
    note = "a value is undefined at one site only" if undefined.any() else ""
    worst, place = math.nan, ""
    if not np.isnan(gaps).all():
        fold, target = np.unravel_index(np.nanargmax(gaps), gaps.shape)
        worst, place = float(gaps[fold, target]), f"fold {fold + 1}, {sides[0][0].targets[target]}"
    scores = _score_difference(first, second, task, sides[0][0])
    return RunDifference(task, run, *_means(sides), allowed, rule, note, worst, place, scores)


def _means(sides: list[list[RunValues]]) -> tuple[float | None, float | None]:
    return _mean(sides[0]), _mean(sides[1])


def _mean(side: list[RunValues]) -> float | None:
    means = [values.overall[0] for values in side]
    return float(np.mean(means)) if means else None


def _allowed_difference(sides: list[list[RunValues]], tolerance: float) -> tuple[float, str]:
    """The tolerance, or what seeds alone do where there are several (S-16); folds say nothing about sites."""
    spreads = [np.std([values.overall[0] for values in side], ddof=1) for side in sides if len(side) > 1]
    if len(spreads) < len(sides):
        return tolerance, "tolerance"
    between = SEEDS * float(max(spreads))
    return (between, "between-seed deviation") if between > tolerance else (tolerance, "tolerance")


def _score_difference(first: ResultFolder, second: ResultFolder, task: str, values: RunValues) -> float:
    """The largest difference of one prediction; nan where a site has kept none or has other rows."""
    worst = 0.0
    for target in values.targets:
        paths = [side.path / "predictions" / task / values.run / target_file(target, "npy") for side in (first, second)]
        if not all(path.is_file() for path in paths):
            return math.nan
        one, two = (side.predictions(task, values.run, target) for side in (first, second))
        if one.shape != two.shape:
            return math.nan
        worst = max(worst, float(np.abs(one - two).max(initial=0.0)))
    return worst


def _manifest_differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    one, two = dict(_flat(first)), dict(_flat(second))
    for name in dict.fromkeys((*one, *two)):
        here, there = one.get(name, "–"), two.get(name, "–")
        if here != there:
            yield name, here, there


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf of a manifest with its path, as text."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value, start=1):
            yield from _flat(inner, f"{name}.{place}")
    else:
        yield name, str(value)[:LONGEST]


PROGRESS_FORMAT: Final = "basanite-harness-progress/1"


@dataclass(frozen=True)
class RunGain:
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
    def verdict(self) -> str:
        """The gain in a word."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "no change shown"

    def as_dict(self) -> dict[str, Any]:
        """The gain as JSON says it."""
        told = {name: getattr(self, name) for name in ("task", "run", "team", "metric", "before", "after", "paired")}
        found = {"gain": self.gain.value, "low": self.gain.low, "high": self.gain.high, "p": self.gain.p}
        return {**told, **found, "verdict": self.verdict}


@dataclass(frozen=True)
class Progress:
    """Everything that two evaluations share, and what only one of them has."""

    runs: tuple[RunGain, ...]
    only: tuple[str, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The object that `harness progress --json` prints."""
        runs = [run.as_dict() for run in self.runs]
        return {"format": PROGRESS_FORMAT, "runs": runs, "only_in_one": list(self.only), "notes": list(self.notes)}


def progress(before: ResultFolder, after: ResultFolder, options: Options) -> Progress:
    """Every run that both evaluations have, task by task."""
    found = [
        gained for task in before.tasks if task in after.tasks for gained in _task_gains(before, after, task, options)
    ]
    seen = {(gained.task, gained.run) for gained in found}
    every = dict.fromkeys((task, run) for side in (before, after) for task in side.tasks for run in side.done(task))
    only = tuple(f"{task}/{run}" for task, run in every if (task, run) not in seen)
    return Progress(tuple(found), only, tuple(_progress_notes(before, after, found)))


def _task_gains(before: ResultFolder, after: ResultFolder, task: str, options: Options) -> Iterator[RunGain]:
    if before.task(task)["metric"] != after.task(task)["metric"] or before.targets(task) != after.targets(task):
        return
    old, new = comparer_of(before, task, options), comparer_of(after, task, options)
    teams = {status.run: status.team for status in after.status() if status.task == task}
    paired = same_rows(before, after, task)
    for run in before.done(task):
        if run in after.done(task):
            if paired:
                name = f"{run} before"
                new.add_predictions(name, *(_predictions(old, run, n) for n in range(1, old.replications + 1)))
                gain = new.gain(run, name)
            else:
                gain = _independent_gain(old, new, run)
            yield RunGain(task, run, teams[run], new.metric, old.value(run).value, new.value(run).value, gain, paired)


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


def _predictions(old: Comparer, run: str, number: int) -> Predictions:
    return {target: old.result.predictions(old.task, run, target, replication=number) for target in old.targets}


def _independent_gain(old: Comparer, new: Comparer, run: str) -> Estimate:
    """The gain of two independent values, with Satterthwaite's degrees of freedom."""
    one, two = old.value(run), new.value(run)
    squares = one.error**2, two.error**2
    total, spread = sum(squares), squares[0] ** 2 / one.degrees + squares[1] ** 2 / two.degrees
    degrees = total**2 / spread if spread else min(one.degrees, two.degrees)
    sign = -1.0 if new.low else 1.0
    return Estimate(sign * (two.value - one.value), float(np.sqrt(total)), degrees, bounds=new.gain_ends)


def _progress_notes(before: ResultFolder, after: ResultFolder, found: list[RunGain]) -> Iterator[str]:
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
