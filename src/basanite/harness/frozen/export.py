"""Preprocessed sets for teams: features of every split, labels of training and validation rows, never of test (H-29).

    OUT/export.json                              what is in here, and which files the preprocessors opened
    OUT/TEAM/TASK/SPLIT/features/fold_01.npy …   validation.npy, test.npy (.npz where features are sparse)
    OUT/TEAM/TASK/SPLIT/windows/fold_01.npy …    of items with several rows: how many rows each has
    OUT/TEAM/TASK/SPLIT/labels/TARGET/fold_01.npy …   validation.npy

Test rows stand in an order that tells nothing, without numbers, so that nobody finds their labels elsewhere (A26).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import scipy.sparse

from basanite.errors import SettingError
from basanite.harness.data.dataset import items_at
from basanite.harness.data.splits import split_name
from basanite.harness.evaluation import Evaluation
from basanite.harness.foreign.exchange import hidden_order
from basanite.harness.foreign.modules import declared_files, foreign_system, module_target
from basanite.harness.foreign.programs import is_program, surroundings_of_plan, tree_digest
from basanite.harness.module_entry import ModuleChoice
from basanite.harness.modules.weights import is_weights
from basanite.harness.pipeline import Builder
from basanite.harness.plan import TaskPlan
from basanite.harness.results import split_arrays, write_array, write_json
from basanite.harness.steps.graph import run
from basanite.harness.steps.layout import ModuleError
from basanite.harness.steps.store import Sequences, Store

ROWS: Final = 32


@dataclass(frozen=True)
class Access:
    """What a preprocessor read beside the rows given."""

    module: str
    declared: dict[str, str]
    """Declared files with their hashes; None of them need be opened."""
    opened: tuple[str, ...]
    outside: tuple[str, ...]
    """What it tried to open though nobody declared it: to be signed off by the evaluation team."""

    def canonical(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "module": self.module,
            "declared": self.declared,
            "opened": list(self.opened),
            "outside": list(self.outside),
        }


def observe_access(evaluation: Evaluation, task: str, choice: ModuleChoice) -> Access:
    """Run a preprocessor on a few training rows in a box and list what it opened."""
    around = replace(
        surroundings_of_plan(evaluation.folder, evaluation.plan.limits, sealed=bool(evaluation.seal)), boxing="all"
    )
    system = foreign_system(choice.module, around)
    made = system.make(choice.parameters, 0)
    split = next(iter(evaluation.partitions[task].values()))
    rows = items_at(evaluation.data[task].items, np.sort(np.concatenate(split.folds))[:ROWS])
    made.fit(rows)
    made.transform(rows)
    declared = {str(path): tree_digest(path) for path in declared_files(system.described, around) if path.exists()}
    opened = tuple(sorted(made.opened))
    return Access(choice.module, declared, opened, tuple(path for path in opened if path not in declared))


def preprocessors(evaluation: Evaluation) -> Iterator[tuple[str, str, ModuleChoice]]:
    """Every team's preprocessors, with letter and task; ours are not strangers' and need not be watched."""
    for team in evaluation.plan.teams:
        for task, system in team.systems.items():
            if system.preprocessor:
                yield team.letter, task, system.preprocessor


def watched_by(module: str) -> str:
    """How the listing came about, in words."""
    return (
        "its own folder and the sandbox's list of mounts" if is_program(module) else "an audit hook inside the sandbox"
    )


FORMAT: Final = "basanite-export/1"
OURS: Final = "basanite."


@dataclass(frozen=True)
class Set:
    """One team's features of one split."""

    team: str
    task: TaskPlan
    split: str

    @property
    def place(self) -> Path:
        """Where it goes."""
        return Path(self.team) / self.task.name / self.split


def export(evaluation: Evaluation, out: Path, *, begun: bool, letters: tuple[str, ...] = ()) -> dict[str, Any]:
    """Write the sets of all teams, or of some; gives what is written down about them."""
    if evaluation.seal and not begun:
        raise SettingError(
            "The splits of this plan are sealed until the evaluation begins, and these sets would give them away. Say "
            "--begun when it has begun."
        )
    if out.exists() and any(out.iterdir()):
        raise SettingError(f"{out} is not empty. Choose another folder, so that nothing old is among the sets.")
    sets = [found for found in _sets(evaluation) if not letters or found.team in letters]
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=out.parent) as work:  # it holds the numbers of the test rows
        for found in sets:
            _write(_features(evaluation, found, Path(work)), evaluation, found, out)
    told = {"format": FORMAT, "plan": evaluation.plan.name, "sets": [str(found.place) for found in sets]}
    listing = {**told, "access": _access(evaluation, letters)}
    write_json(out / "export.json", listing)
    return listing


def _access(evaluation: Evaluation, letters: tuple[str, ...]) -> list[dict[str, Any]]:
    """What every stranger's preprocessor opened; ours are part of this program."""
    found = []
    for letter, task, choice in preprocessors(evaluation):
        if (letters and letter not in letters) or _is_ours(choice.module):
            continue
        seen = observe_access(evaluation, task, choice).canonical()
        found.append({"team": letter, "task": task, "watched_by": watched_by(choice.module), **seen})
    return found


def _is_ours(name: str) -> bool:
    """Whether our own code alone runs: a module of ours, or weights, which bring no code."""
    return is_weights(name) or module_target(name).startswith(OURS)


def _sets(evaluation: Evaluation) -> Iterator[Set]:
    for letter, name, _ in preprocessors(evaluation):
        for split in evaluation.partitions[name]:
            yield Set(letter, evaluation.plan.tasks[name], split)


def _write(features: Any, evaluation: Evaluation, found: Set, out: Path) -> None:
    partition = evaluation.partitions[found.task.name][found.split]
    start = 0
    for name, rows in split_arrays(partition).items():
        part = features[start : start + len(rows)]
        start += len(rows)
        if name == "test":
            part = part[hidden_order(part, 0)]
        else:
            _write_labels(evaluation, found, out, name, rows)
        if isinstance(part, Sequences):
            write_array(out / found.place / "windows" / f"{name}.npy", part.lengths)
            part = part.rows
        _write_matrix(out / found.place / "features" / name, part)


def _write_labels(evaluation: Evaluation, found: Set, out: Path, name: str, rows: Any) -> None:
    """The values of rows that may be learned from, of the targets that use this split (A9)."""
    for target in found.task.targets:
        if split_name(found.task, target) == found.split:
            values = evaluation.data[found.task.name].targets[target][rows]
            write_array(out / found.place / "labels" / target / f"{name}.npy", values)


def _features(evaluation: Evaluation, found: Set, store: Path) -> Any:
    builder, kept = Builder(evaluation), Store(store)
    choice = builder.system(found.task, found.team).preprocessor
    if choice is None:
        raise ModuleError(f"team {found.team} has no preprocessor for {found.task.name}")
    source = builder.features(found.task, found.split, choice)
    for given in builder.given.values():
        given.lay(kept)
    outcome = run([source.step], kept)[source.step.key]
    if not outcome.good:
        raise ModuleError(f"The preprocessor of team {found.team} failed: {outcome.reason}")
    return kept.load(source.step.key)["features"]


def _write_matrix(path: Path, part: Any) -> None:
    if not scipy.sparse.issparse(part):
        write_array(path.with_suffix(".npy"), np.asarray(part))
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    scipy.sparse.save_npz(path.with_suffix(".npz"), scipy.sparse.csr_array(part))
