"""Features as commands take them: read, checked, with the groups of a metadata table and a digest of the bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.archives.members import Digest
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.features import RULE, SUFFIXES, FeatureSet, check, read_features
from basanite.problems import Problem
from basanite.representation.measures.all_measures import Source
from basanite.representation.measures.results import Classes

TASK = "measure"
ROW = "row"
GROUP = "group"
IN_MEMORY = 1 << 28
"""Numbers of a set up to which it is held in memory, for draws read it again and again (2 GiB)."""
Groups = Mapping[str, NDArray[np.str_]]


@dataclass(frozen=True)
class Data:
    """One set of features, ready to be measured."""

    name: str
    features: Any
    classes: Classes
    """The classes of the rows; where labels were predicted, the predicted ones."""
    source: Source = field(default_factory=Source)
    correct: NDArray[np.float64] | None = None
    """1 for each row that was predicted rightly, 0 for the others."""
    groups: Groups = field(default_factory=dict)
    """By factor the group of each row; "" where it is not known."""
    digest: str = ""
    predicted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.classes.codes)

    @property
    def dimensions(self) -> int:
        """How many features a row has."""
        return int(self.features.shape[1])

    def in_memory(self) -> Data:
        """The same data with features in memory, if they fit: every resample reads them."""
        return replace(self, features=_load_if_small(self.features))

    def with_predictions(self, predictions: NDArray[Any] | None, labels: NDArray[Any]) -> Data:
        """The same with what is known of each row's prediction, if there is one."""
        return replace(self, correct=_correct(predictions, labels))

    def subset(self, rows: NDArray[np.int64]) -> Data:
        """Some rows only."""
        theta = None if self.source.probabilities is None else self.source.probabilities[rows]
        return replace(
            self,
            features=self.features[rows],
            classes=self.classes.subset(rows),
            source=replace(self.source, probabilities=theta),
            correct=None if self.correct is None else self.correct[rows],
            groups={factor: levels[rows] for factor, levels in self.groups.items()},
        )


def read_data(
    path: Path, *, labels: Path | None = None, metadata: Sequence[Path] = (), predicted: bool = False
) -> Data:
    """Read and check a set; all its problems together are raised as `InvalidInputError`."""
    found = read_features(path, labels=labels, predicted=predicted)
    findings = check(found)
    tables = read_factor_tables(metadata, findings, (ROW,))
    findings.extend(_unknown_rows(tables, len(found.labels)))
    if not findings.valid:
        raise InvalidInputError(TASK, findings)
    return _data(path, found, tables, predicted)


def data_name(path: Path) -> str:
    """What a set is called if nobody says: its file's name without the suffix.

    >>> data_name(Path("features/seen.npz"))
    'seen'
    """
    return path.stem if path.suffix.lower() in SUFFIXES else path.name


def digest_of_path(path: Path) -> str:
    """The digest of a file, or of all files of a folder (zarr), read a little at a time."""
    digest = Digest()
    files = sorted(part for part in path.rglob("*") if part.is_file()) if path.is_dir() else [path]
    for part in files:
        name = part.relative_to(path).as_posix() if path.is_dir() else part.name
        try:
            with part.open("rb") as file:
                digest.add(name, part.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise UnreadableError(
                f"{part} cannot be read: {error.strerror}. Check the path and your permissions."
            ) from error
    return digest.value()


def _data(path: Path, found: FeatureSet, tables: Sequence[FactorTable], predicted: bool) -> Data:
    names = [str(row) for row in range(len(found.labels))]
    groups = {factor: table.column(factor, names) for table in tables for factor in table.levels}
    if found.groups is not None:
        groups = {GROUP: found.groups.astype(np.str_), **groups}
    return Data(
        name=data_name(path),
        features=_load_if_small(found.features),
        classes=Classes.of(found.labels),
        source=Source(found.source_probabilities, found.source_features, found.source_labels),
        correct=None if predicted else _correct(found.predictions, found.labels),
        groups=groups,
        digest=digest_of_path(path),
        predicted=predicted,
        notes=tuple(f"{path.name} also holds {name!r}, which is not used." for name in found.others[:5]),
    )


def _load_if_small(features: Any) -> Any:
    """Features that are small enough, in memory: every draw reads them."""
    return np.asarray(features[...]) if int(np.prod(features.shape)) <= IN_MEMORY else features


def _correct(predictions: NDArray[Any] | None, labels: NDArray[Any]) -> NDArray[np.float64] | None:
    """Which rows were predicted rightly; labels of another type are compared as words."""
    if predictions is None:
        return None
    if predictions.dtype.kind != labels.dtype.kind and "U" in (predictions.dtype.kind, labels.dtype.kind):
        predictions, labels = predictions.astype(np.str_), labels.astype(np.str_)
    return np.asarray(predictions == labels, dtype=np.float64)


def _unknown_rows(tables: Sequence[FactorTable], rows: int) -> list[Problem]:
    """Rows that a table describes and the features do not have."""
    known = {str(row) for row in range(rows)}
    return [
        Problem(
            RULE,
            table.file,
            None,
            1,
            f"there is no row {name!r}",
            f"number rows from 0 to {rows - 1}",
            found=name,
            where="metadata",
        )
        for table in tables
        for name in next(iter(table.levels.values()), {})
        if name not in known
    ]


Piece = TypeVar("Piece")
Result = TypeVar("Result")

BATCHES: Final = 32
"""Batches that a cluster's workers share."""


def in_batches(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], executor: Executor | None = None
) -> list[Result]:
    """The result for each piece in order; with an executor some pieces are one task.

    >>> in_batches(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    if executor is None:
        return list(map(work, pieces))
    waiting = list(pieces)
    size = max(1, -(-len(waiting) // BATCHES))
    batches = [waiting[start : start + size] for start in range(0, len(waiting), size)]
    return [result for batch in executor.map(partial(_all_of, work), batches) for result in batch]


def _all_of(work: Callable[[Any], Any], batch: Sequence[Any]) -> list[Any]:
    return [work(piece) for piece in batch]


SMALL: Final = 1 << 22
"""Numbers up to which one thread is quickest; results then do not depend on how many there are either (S-6)."""


def threads_for(numbers: int) -> AbstractContextManager[Any]:
    """One thread for all libraries while small data are worked on; for large data as many as there are."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1) if numbers <= SMALL else nullcontext()
