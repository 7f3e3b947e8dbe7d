"""Two result folders side by side: the duplicate evaluation of a team against that of the evaluation team (H-27, A44).

What counts as different is a declared tolerance, or, where both sites have several seeds, twice the deviation between
seeds; never the standard error over folds, which says nothing about two machines (S-16).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from basanite.harness.analysis.standing import RunValues, all_values
from basanite.harness.results import ResultFolder

FORMAT: Final = "basanite-harness-comparison/1"
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
            "format": FORMAT,
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
    runs = tuple(one for task in tasks for one in _task(first, second, task, tolerance))
    facts = tuple(_facts(first.manifest, second.manifest))
    more = len(facts) - MOST_FACTS
    notes = (f"{more} more differences of the manifests are not listed.",) if more > 0 else ()
    return FolderComparison(tolerance, runs, facts[:MOST_FACTS], notes)


def _task(first: ResultFolder, second: ResultFolder, task: str, tolerance: float) -> Iterator[RunDifference]:
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
            yield _both(first, second, task, sides, tolerance)


def _both(
    first: ResultFolder, second: ResultFolder, task: str, sides: list[list[RunValues]], tolerance: float
) -> RunDifference:
    run = sides[0][0].run
    allowed, rule = _allowed(sides, tolerance)
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


def _allowed(sides: list[list[RunValues]], tolerance: float) -> tuple[float, str]:
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
        paths = [side.path / "predictions" / task / values.run / f"{target}.npy" for side in (first, second)]
        if not all(path.is_file() for path in paths):
            return math.nan
        one, two = (side.predictions(task, values.run, target) for side in (first, second))
        if one.shape != two.shape:
            return math.nan
        worst = max(worst, float(np.abs(one - two).max(initial=0.0)))
    return worst


def _facts(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
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
