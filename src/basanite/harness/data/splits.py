"""The splits of a task: made from named seeds, one for each target or one for all, with digests and what they hold.

A split is a value of the data and the seed alone; every condition and team gets the same rows (H-4, H-13).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from basanite.errors import SettingError
from basanite.harness.data.dataset import Dataset, iterative_folds
from basanite.harness.plan import TaskPlan
from basanite.harness.protocol import (
    Partition,
    Rows,
    Seeds,
    Sizes,
    cap_validation,
    partition,
    sample_stratified,
    stratified_folds,
)
from basanite.harness.results import SHARED, split_arrays

MOST_VALUES: Final = 20
TENTHS: Final = 10


def splits(task: TaskPlan, data: Dataset, seeds: Seeds) -> dict[str, Partition]:
    """The partition of each target by its name, or one called "shared" (A10)."""
    names = (SHARED,) if task.shared_split else task.targets or tuple(data.targets)
    return {name: _split(task, data, name, seeds) for name in names}


def split_name(task: TaskPlan, target: str) -> str:
    """The name of the split that a target uses."""
    return SHARED if task.shared_split else target


def _split(task: TaskPlan, data: Dataset, name: str, seeds: Seeds) -> Partition:
    strata, generator = strata_for(task, data, name), seeds.generator("split", task.name, name)
    if data.fixed is not None:
        made = _partition_of_given_split(task, data.fixed, strata, generator)
    else:
        made = _partition_of_known_rows(task, data, _rows_with_target(task, data, name), strata, generator)
    if task.iterative:
        # The same training rows, dealt by all their labels and not by the first alone (A6).
        rows, names = made.training, task.targets or tuple(data.targets)
        dealt = iterative_folds(np.column_stack([data.targets[one][rows] > 0 for one in names]), task.folds)
        made = replace(made, folds=tuple(rows[fold] for fold in dealt))
    if not len(made.test):
        raise SettingError(f"Task {task.name}: no test row is left of {len(data)}. Lower train_share.")
    return cap_validation(made, strata, task.validation_cap, seeds.generator("validation", task.name, name))


def _rows_with_target(task: TaskPlan, data: Dataset, name: str) -> Rows:
    """The rows that have a value of the target, of a shared split of all of them: reviews may lack a rating (T-26)."""
    names = [*(task.targets or tuple(data.targets)), *filter(None, [task.stratify_by])] if name == SHARED else [name]
    return np.flatnonzero(~np.isnan(np.column_stack([data.targets[one] for one in names])).any(axis=1))


def _partition_of_known_rows(
    task: TaskPlan, data: Dataset, rows: Rows, strata: NDArray[Any], generator: np.random.Generator
) -> Partition:
    """A partition of these rows alone."""
    sizes = Sizes(task.train_share, task.n, task.folds, task.shuffle_seed)
    groups = data.groups[rows] if task.group_by and data.groups is not None else None
    made = partition(strata[rows], sizes, generator, groups=groups)
    return Partition(tuple(rows[fold] for fold in made.folds), rows[made.validation], rows[made.test])


def _partition_of_given_split(
    task: TaskPlan, fixed: tuple[Rows, Rows], strata: NDArray[Any], generator: np.random.Generator
) -> Partition:
    """Data that come with a split of their own: folds of the training rows, the rest of them validates."""
    training, test = fixed
    chosen = training[sample_stratified(strata[training], min(task.n, len(training)), generator)]
    dealt = stratified_folds(strata[chosen], task.folds, shuffle_seed=task.shuffle_seed)
    made = Partition(tuple(chosen[fold] for fold in dealt), np.setdiff1d(training, chosen), test)
    made.check()
    return made


def strata_for(task: TaskPlan, data: Dataset, name: str) -> NDArray[Any]:
    """What samples and folds are stratified by: the target, or for a shared split the first label or a named target."""
    if name != SHARED:
        return strata_of(data.targets[name])
    if task.stratify_by:
        return strata_of(data.targets[task.stratify_by])
    if data.first_labels is not None:
        return data.first_labels
    return strata_of(data.targets[(task.targets or tuple(data.targets))[0]])


def strata_of(values: NDArray[np.float64]) -> NDArray[Any]:
    """The values themselves, or tenths by rank where there are too many different ones to be classes.

    >>> strata_of(np.arange(40.0)).tolist()[::8]
    [0, 2, 4, 6, 8]
    """
    known = ~np.isnan(values)
    if not known.all():  # rows without a value are in no split of this target
        found = np.zeros(len(values))
        found[known] = strata_of(values[known])
        return found
    if len(np.unique(values)) <= MOST_VALUES:
        return values
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return np.asarray(ranks * TENTHS // len(values), np.int64)


def partition_digest(made: Partition) -> str:
    """The hash of the rows of every set."""
    digest = hashlib.sha256()
    for name, rows in split_arrays(made).items():
        digest.update(f"{name}:{len(rows)}:".encode() + np.ascontiguousarray(rows, "<i8").tobytes())
    return f"sha256:{digest.hexdigest()}"


@dataclass(frozen=True)
class SplitFacts:
    """What is reported of a split: sizes, the values in each fold (A6), and how far groups are on both sides (A11)."""

    folds: tuple[int, ...]
    validation: int
    test: int
    values: tuple[Mapping[str, int], ...]
    positives: tuple[Mapping[str, int], ...]
    """Of labels: how many rows of each fold have each."""
    overlap: float | None

    def canonical(self) -> dict[str, Any]:
        """The facts as plain data."""
        sizes = {"folds": list(self.folds), "validation": self.validation, "test": self.test}
        values, positives = ([dict(counts) for counts in part] for part in (self.values, self.positives))
        told = {"values_in_folds": values, **({"positives_in_folds": positives} if positives else {})}
        return {**sizes, **told, "group_overlap": self.overlap}


def facts(task: TaskPlan, data: Dataset, name: str, made: Partition) -> SplitFacts:
    """What a split holds."""
    strata = strata_for(task, data, name)
    labels = task.targets or tuple(data.targets)
    positives = ({one: int((data.targets[one][fold] > 0).sum()) for one in labels} for fold in made.folds)
    values = (np.unique(strata[fold], return_counts=True) for fold in made.folds)
    return SplitFacts(
        tuple(len(fold) for fold in made.folds),
        len(made.validation),
        len(made.test),
        tuple({f"{value:g}": int(count) for value, count in zip(*found, strict=True)} for found in values),
        tuple(positives) if task.metric == "map11" else (),
        None if data.groups is None else overlap(data.groups, made),
    )


def overlap(groups: NDArray[np.int64], made: Partition) -> float:
    """The share of test rows whose group is also among training or validation rows (A11)."""
    seen = np.unique(groups[np.concatenate([made.training, made.validation])])
    return float(np.isin(groups[made.test], seen).mean())
