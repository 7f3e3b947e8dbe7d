"""What a run predicted as submissions of the tasks `labels` and `ratings`, scored by the stages of all others (H-44).

The harness keeps the statistics of folds crossed with test rows, which these stages do not have (ADR 32).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from basanite.errors import SettingError
from basanite.functions import score
from basanite.harness.results import ResultFolder, Score, target_file

TASKS: Final[Mapping[str, str]] = {"map11": "labels", "mrmse": "ratings"}
"""The task whose metric a learning evaluation uses."""
SAME: Final = 1e-9
DRAWS: Final = 100
"""Of intervals that nobody reads here: fewer are refused."""
FORMAT: Final = "basanite-harness-submissions/1"


@dataclass(frozen=True)
class FoldSubmission:
    """The predictions of one run by the classifier of one fold, as a file, with its value by both paths."""

    task: str
    run: str
    replication: int
    fold: int
    file: str
    reference: str
    kept: float
    """The mean over targets of the values in `scores.jsonl`."""
    scored: float
    """The value of the file by the stages of `scoring`."""

    @property
    def same(self) -> bool:
        """Whether both paths give one value; undefined by both counts as the same."""
        return abs(self.kept - self.scored) <= SAME or (math.isnan(self.kept) and math.isnan(self.scored))

    def as_dict(self) -> dict[str, Any]:
        """The submission as JSON says it."""
        return {**vars(self), "same": self.same}


def write_submissions(result: ResultFolder, out: Path, *, only: Sequence[str] = ()) -> Iterator[FoldSubmission]:
    """Write the reference of every task and the predictions of every run and fold, and score each as they come."""
    if out.exists() and any(out.iterdir()):
        raise SettingError(f"{out} is not empty. Name a new folder with --out.")
    values = {_place(one): math.nan if one.value is None else one.value for one in result.scores()}
    for task in result.tasks:
        for targets in _target_sets(result, task):
            reference = _write_reference(result, task, targets, out)
            for run, replication in _runs(result, task, only):
                yield from _write_run(result, _Part(task, run, replication, targets), reference, out, values)


@dataclass(frozen=True)
class _Part:
    task: str
    run: str
    replication: int
    targets: tuple[str, ...]


def _place(one: Score) -> tuple[str, str, int, int, str]:
    return one.task, one.run, one.replication, one.fold, one.target


def _target_sets(result: ResultFolder, task: str) -> Iterator[tuple[str, ...]]:
    """Targets that have the same test rows: all of a shared split, or each alone."""
    targets = result.targets(task)
    rows = [result.split(task, target).test for target in targets]
    if all(np.array_equal(rows[0], other) for other in rows):
        yield targets
    else:
        yield from ((target,) for target in targets)


def _runs(result: ResultFolder, task: str, only: Sequence[str]) -> Iterator[tuple[str, int]]:
    known = result.runs(task)
    unknown = [run for run in only if run not in known]
    if unknown:
        raise SettingError(f"There is no run {unknown[0]!r}. The runs of {task} are {', '.join(known)}.")
    for status in result.status():
        if status.task == task and status.state == "done" and (not only or status.run in only):
            yield status.run, status.replication


def _folder(task: str, targets: Sequence[str], result: ResultFolder) -> Path:
    whole = tuple(targets) == result.targets(task)
    return Path(task) if whole else Path(task) / target_file(targets[0], "").removesuffix(".")


def _write_reference(result: ResultFolder, task: str, targets: Sequence[str], out: Path) -> Path:
    rows, clusters = result.split(task, targets[0]).test, result.clusters(task, targets[0])
    columns: dict[str, Any] = {target: result.truth(task, target) for target in targets}
    source = {} if clusters is None else {"source": [f"g{number}" for number in clusters]}
    path = out / _folder(task, targets, result) / "reference.csv"
    _write_table(path, rows, {**columns, **source})
    return path


def _write_run(
    result: ResultFolder,
    part: _Part,
    reference: Path,
    out: Path,
    values: Mapping[tuple[str, str, int, int, str], float],
) -> Iterator[FoldSubmission]:
    task, targets, told = part.task, part.targets, result.task(part.task)
    found = {one: result.predictions(task, part.run, one, replication=part.replication) for one in targets}
    name = part.run if part.replication == 1 else f"{part.run}.r{part.replication}"
    ends = told.get("range")
    settings: dict[str, Any] = {"range": f"{ends[0]:g}..{ends[1]:g}"} if told["metric"] == "mrmse" and ends else {}
    for fold in range(1, int(told["folds"]) + 1):
        path = reference.with_name(f"{name}.fold{fold:02}.csv")
        _write_table(path, result.split(task, targets[0]).test, {one: found[one][fold - 1] for one in targets})
        scored = score(TASKS[told["metric"]], reference=reference, submission=path, draws=DRAWS, **settings)
        kept = [values[task, part.run, part.replication, fold, one] for one in targets]
        defined = [value for value in kept if not math.isnan(value)]
        mean = float(np.mean(defined)) if defined else math.nan
        value = scored[str(told["metric"])].value
        names = str(path.relative_to(out)), str(reference.relative_to(out))
        yield FoldSubmission(
            task, part.run, part.replication, fold, *names, mean, math.nan if value is None else float(value)
        )


def _write_table(path: Path, rows: Any, columns: Mapping[str, Sequence[Any]]) -> None:
    """A table with a number of the row of the data as id; numbers in full, so that nothing is lost."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *columns])
        for at, row in enumerate(rows):
            cells = (column[at] for column in columns.values())
            writer.writerow([f"row{row}", *(cell if isinstance(cell, str) else repr(float(cell)) for cell in cells)])
