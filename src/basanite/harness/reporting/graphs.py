"""The plan's three graphs for each task (H-22), each captioned with what its bars are and are not (A3, S-16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from basanite.figures import Axis, Chart, Table
from basanite.harness.analysis.model import TITLES, TaskAnalysis
from basanite.reports.wording import plural

NAMES: Final = {"map11": "MAP (11 points)", "mrmse": "mRMSE", "map": "MAP (not interpolated)"}
TARGET_NAMES: Final = {"map11": "average precision", "mrmse": "RMSE"}
SPREAD: Final = "spread over classes, not uncertainty"
NO_SAMPLING: Final = "test sampling not included"
SHARED_RUN: Final = "evaluation team"


def direction(task: TaskAnalysis) -> str:
    """Which way is better, in words."""
    return "lower is better" if task.best == "low" else "higher is better"


def graphs(task: TaskAnalysis, teams: Mapping[str, str]) -> Iterator[Chart]:
    """Values of each class, means of each fold, and the mean over folds."""
    if task.runs:
        yield first_graph(task)
        yield second_graph(task, teams)
        yield third_graph(task, teams)


def first_graph(task: TaskAnalysis) -> Chart:
    """All K x C values: a point for each run and fold, a picture for each target."""
    rows = tuple(
        (target, run, fold, _number(value))
        for at, target in enumerate(task.targets)
        for run, standing in task.runs.items()
        for fold, value in enumerate(standing.values.values[:, at], start=1)
    )
    name = TARGET_NAMES[task.metric]
    return Chart(
        f"{task.task}, graph 1: values of each target",
        f"One point for each of {plural('fold', task.folds)}: the {name} of every run on every target; "
        f"{direction(task)}.",
        "points",
        Table(f"{task.task}: all values", ("Target", "Run", "Fold", "Value"), rows),
        Axis("Run", "run", "category"),
        _axis(name, [row[3] for row in rows]),
        facet="Target",
    )


def second_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart:
    """The mean over targets of every fold, with the standard error across targets."""
    rows = tuple(
        (_condition(standing.values.condition), _team(teams, standing.values.team), str(fold), *_ends(mean, error))
        for standing in task.runs.values()
        for fold, (mean, error) in enumerate(standing.values.by_fold, start=1)
    )
    return Chart(
        f"{task.task}, graph 2: {NAMES[task.metric]} of each fold",
        f"The mean over {plural('target', len(task.targets))}, {direction(task)}. Bars: one standard error across "
        f"classes ({SPREAD}).",
        "points",
        Table(f"{task.task}: folds", ("Condition", "Team", "Fold", "Value", "Low", "High"), rows),
        Axis("Fold", "fold", "category"),
        _axis(NAMES[task.metric], [cell for row in rows for cell in row[3:]]),
        series="Team",
        low="Low",
        high="High",
        facet="Condition",
    )


def third_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart:
    """The mean over folds of every run, with the standard error across folds."""
    rows = tuple((run_label(run, task, teams), *_ends(*standing.values.overall)) for run, standing in task.runs.items())
    return Chart(
        f"{task.task}, graph 3: {NAMES[task.metric]} of each run",
        f"The mean over {plural('fold', task.folds)}, {direction(task)}. Bars: one standard error across folds "
        f"({NO_SAMPLING}).",
        "bars",
        Table(f"{task.task}: runs", ("Run", "Value", "Low", "High"), rows),
        Axis("Value", NAMES[task.metric]),
        Axis("Run", "run", "category"),
        low="Low",
        high="High",
    )


def gains_graph(task: TaskAnalysis, teams: Mapping[str, str]) -> Chart | None:
    """What each claim gains, with its two-sided interval."""
    if not task.judgements:
        return None
    rows = tuple(
        (
            f"{one.contrast.first} against {one.contrast.second}: {teams[one.contrast.team]}",
            one.contrast.gain,
            one.contrast.low,
            one.contrast.high,
        )
        for one in task.judgements
    )
    return Chart(
        f"{task.task}: gains with 95 % intervals",
        f"By how much {NAMES[task.metric]} is better, with two-sided intervals over folds and test rows. Above 0 the "
        "first run does better; verdicts rest on one-sided bounds, which the table gives.",
        "bars",
        Table(f"{task.task}: gains", ("Contrast", "Gain", "Low", "High"), rows),
        Axis("Gain", f"gain in {NAMES[task.metric]}"),
        Axis("Contrast", "contrast", "category"),
        low="Low",
        high="High",
    )


def run_label(run: str, task: TaskAnalysis, teams: Mapping[str, str]) -> str:
    """A run with its condition and team."""
    values = task.runs[run].values
    team = f" {teams[values.team]}" if values.team else ""
    return f"{run} {TITLES[values.condition]}{team}"


def _condition(number: int) -> str:
    return f"{number} {TITLES[number]}"


def _team(teams: Mapping[str, str], letter: str) -> str:
    return teams[letter] if letter else SHARED_RUN


def _ends(mean: float, error: float) -> tuple[float | None, float | None, float | None]:
    value = _number(mean)
    if value is None or _number(error) is None:
        return value, None, None
    return value, mean - error, mean + error


def _number(value: float) -> float | None:
    return None if value != value else float(value)


def _axis(label: str, values: Sequence[float | None]) -> Axis:
    """An axis of points: not from zero, for points are places and no lengths."""
    found = [value for value in values if value is not None] or [0.0, 1.0]
    low, high = min(found), max(found)
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.1
    return Axis("Value", label, low=low - room, high=high + room)
