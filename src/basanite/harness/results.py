"""The result folder: what a run of a plan leaves behind, for the analysis, the report and anyone who repeats it (H-26).

    manifest.json     plan, digests, software, seeds or commitments, modules, deviations, iteration, report state
    splits/TASK/TARGET.npz        rows of fold_01 … fold_KK, validation and test (TARGET is "shared" for a shared split)
    predictions/TASK/RUN/TARGET.npy   float64[folds, test rows]; a further replication is the run RUN.r2
    truth/TASK/TARGET.npy         the reference of the test rows; clusters.npy: the group of every row of the data
    scores.jsonl      one line for each task, run, replication, fold and target
    status.json       how each run ended (A35)
    times.jsonl       seconds of each step; never part of a digest

Files are replaced as a whole, hold neither time nor host (but for times.jsonl) and are the same bytes for the same
plan. Nothing in here is ever unpickled (X-5).
"""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote
from uuid import uuid4
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from basanite.errors import BasaniteError
from basanite.formats.stored_arrays import HEADER_FAULTS
from basanite.harness.protocol import Partition, Rows

FORMAT: Final = "basanite-harness-result/1"
SHARED: Final = "shared"
PLAIN: Final = " !#&'()+,;=@[]{}"
"""What stands in names of files as it is, beside letters, digits and `_.-~`."""
State = Literal["done", "failed", "not provided", "not applicable"]
STATES: Final[tuple[State, ...]] = ("done", "failed", "not provided", "not applicable")


class ResultFolderError(BasaniteError):
    """A result folder lacks something or holds something else; the message names the file."""


@dataclass(frozen=True)
class Score:
    """One value: of one run, replication, fold and target. `value` is None where it is undefined, with a flag."""

    task: str
    run: str
    condition: int
    team: str
    replication: int
    fold: int
    target: str
    metric: str
    value: float | None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    status: State = "done"


@dataclass(frozen=True)
class RunStatus:
    """How one run of one task ended, and why if it did not end well (A35)."""

    task: str
    run: str
    condition: int
    team: str
    replication: int
    state: State
    reason: str = ""
    flags: tuple[str, ...] = ()


def run_name(run: str, replication: int) -> str:
    """The name of a run's folder: replications after the first say their number (A37).

    >>> run_name("6a", 1), run_name("6a", 2)
    ('6a', '6a.r2')
    """
    return run if replication == 1 else f"{run}.r{replication}"


def target_file(target: str, ending: str) -> str:
    """The file of a target, whatever its column is called (H-41).

    >>> target_file("Food&Beverages", "npy"), target_file("a/b", "npy")
    ('Food&Beverages.npy', 'a%2Fb.npy')
    """
    return f"{quote(target, safe=PLAIN)}.{ending}"


class ResultFolder:
    """Reads a result folder; everything is read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """What was run: plan, digests, software, modules; refused if it is of another format."""
        found: dict[str, Any] = json.loads(self._text("manifest.json"))
        if found.get("format") != FORMAT:
            raise ResultFolderError(f"{self.path} says format {found.get('format')!r}, and {FORMAT!r} is read here.")
        return found

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks, in the order of the plan."""
        return tuple(self.manifest["plan"]["tasks"])

    def task(self, name: str) -> Mapping[str, Any]:
        """What the plan says about a task: data, targets, metric, range, folds, margin …"""
        found: Mapping[str, Any] = self.manifest["plan"]["tasks"][name]
        return found

    def targets(self, task: str) -> tuple[str, ...]:
        """The names of a task's targets, in order."""
        return tuple(self.task(task)["targets"])

    def runs(self, task: str) -> tuple[str, ...]:
        """The runs of a task that were planned, in order, without replications: "1", "2a", "2b" …"""
        return tuple(dict.fromkeys(status.run for status in self.status() if status.task == task))

    def done(self, task: str, *, replication: int = 1) -> tuple[str, ...]:
        """The runs of a task that ended well."""
        wanted = (status for status in self.status() if status.task == task and status.replication == replication)
        return tuple(status.run for status in wanted if status.state == "done")

    def predictions(self, task: str, run: str, target: str, *, replication: int = 1) -> NDArray[np.float64]:
        """The scores of every test row by the classifier of every fold: float64[folds, rows]."""
        return np.asarray(
            self._array("predictions", task, run_name(run, replication), target_file(target, "npy")), np.float64
        )

    def truth(self, task: str, target: str) -> NDArray[np.float64]:
        """The true values of the test rows, in the order of the predictions."""
        return np.asarray(self._array("truth", task, target_file(target, "npy")), np.float64)

    def clusters(self, task: str, target: str) -> NDArray[np.int64] | None:
        """The group (restaurant, film) of every test row; None where the data have none."""
        if not (self.path / "truth" / task / "clusters.npy").is_file():
            return None
        everything = np.asarray(self._array("truth", task, "clusters.npy"), np.int64)
        return everything[self.split(task, target).test]

    def split(self, task: str, target: str) -> Partition:
        """The rows of each fold, of validation and of test, as numbers of rows of the data."""
        folder = self.path / "splits" / task
        path = next(
            (path for path in (folder / target_file(target, "npz"), folder / f"{SHARED}.npz") if path.is_file()), None
        )
        if path is None:
            raise ResultFolderError(f"{self.path} has no split of task {task!r} for target {target!r}.")
        return read_split(path)

    def scores(self) -> Iterator[Score]:
        """Every value, in the order of the file."""
        for line in self._text("scores.jsonl").splitlines():
            entry = json.loads(line)
            yield Score(**{**entry, "flags": tuple(entry["flags"])})

    def status(self) -> tuple[RunStatus, ...]:
        """How each run of each task and replication ended."""
        entries = json.loads(self._text("status.json"))["runs"]
        return tuple(RunStatus(**{**entry, "flags": tuple(entry["flags"])}) for entry in entries)

    def times(self) -> tuple[dict[str, Any], ...]:
        """What each step took; shown only where somebody asks (H-25)."""
        path = self.path / "times.jsonl"
        return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines()) if path.is_file() else ()

    def _text(self, name: str) -> str:
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise ResultFolderError(
                f"{self.path} has no {name} that can be read. Is it a result folder, and did its run end?"
            ) from error

    def _array(self, *parts: str) -> Any:
        path = self.path.joinpath(*parts)
        try:
            return np.load(path, allow_pickle=False)
        except HEADER_FAULTS as error:
            raise ResultFolderError(f"{path} cannot be read ({error}). Did this run end well?") from error


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write down what was run."""
    write_json(folder / "manifest.json", {"format": FORMAT, **manifest})


def write_status(folder: Path, statuses: Iterable[RunStatus]) -> None:
    """Write down how each run ended."""
    write_json(folder / "status.json", {"runs": [asdict(status) for status in statuses]})


def write_scores(folder: Path, scores: Iterable[Score]) -> None:
    """Write every value, one per line."""
    lines = (json.dumps(asdict(score), sort_keys=True, ensure_ascii=False, allow_nan=False) for score in scores)
    write_bytes(folder / "scores.jsonl", "".join(f"{line}\n" for line in lines).encode())


def write_times(folder: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    """Write what each step took, one per line."""
    lines = (json.dumps(dict(entry), sort_keys=True, ensure_ascii=False) for entry in entries)
    write_bytes(folder / "times.jsonl", "".join(f"{line}\n" for line in lines).encode())


def write_predictions(
    folder: Path, task: str, run: str, target: str, scores: NDArray[np.float64], *, replication: int = 1
) -> None:
    """Write the scores of one run for one target."""
    write_array(folder / "predictions" / task / run_name(run, replication) / target_file(target, "npy"), scores)


def write_truth(folder: Path, task: str, target: str, truth: NDArray[np.float64]) -> None:
    """Write the truth of the test rows of one target: for the evaluation team's folder only."""
    write_array(folder / "truth" / task / target_file(target, "npy"), truth)


def write_clusters(folder: Path, task: str, clusters: NDArray[np.int64]) -> None:
    """Write the group of every row of a task's data."""
    write_array(folder / "truth" / task / "clusters.npy", clusters)


def write_split(folder: Path, task: str, target: str, partition: Partition) -> None:
    """Write the rows of one target's sets, or of all targets' (`target` = "shared")."""
    held = io.BytesIO()
    arrays: dict[str, Any] = split_arrays(partition)
    np.savez(held, **arrays)
    write_bytes(folder / "splits" / task / target_file(target, "npz"), held.getvalue())


def split_arrays(partition: Partition) -> dict[str, Rows]:
    """The sets of a partition by name: fold_01 …, validation, test."""
    folds = {f"fold_{number:02}": rows for number, rows in enumerate(partition.folds, start=1)}
    return {**folds, "validation": partition.validation, "test": partition.test}


def read_split(path: Path) -> Partition:
    """The partition in a file of splits."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            arrays = {name: held[name].astype(np.int64) for name in held.files}
        folds = tuple(arrays[name] for name in sorted(arrays) if name.startswith("fold_"))
        return Partition(folds, arrays["validation"], arrays["test"])
    except (*HEADER_FAULTS, BadZipFile, NotImplementedError, zlib.error) as error:
        raise ResultFolderError(f"{path} is not a file of splits ({error}).") from error


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array as .npy, as a whole or not at all."""
    held = io.BytesIO()
    np.save(held, np.ascontiguousarray(array), allow_pickle=False)
    write_bytes(path, held.getvalue())


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write JSON, in the order given (that of the plan), as a whole or not at all."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    write_bytes(path, f"{text}\n".encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Replace a file as a whole, so that nobody ever reads half of it; one that is the same is left alone."""
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    working = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with working.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        working.replace(path)
    finally:
        working.unlink(missing_ok=True)
