"""Features as commands take them: read, checked, with the groups of a metadata table and a digest of the bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.errors import InvalidInputError, UnreadableError
from basanite.formats.archives.members import Digest
from basanite.formats.factors import FactorTable, read_factor_tables
from basanite.formats.features import RULE, SUFFIXES, FeatureSet, check, read_features
from basanite.metrics.representation.classes import Classes
from basanite.metrics.representation.everything import Source
from basanite.problems import Problem

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

    def taken(self, rows: NDArray[np.int64]) -> Data:
        """Some rows only."""
        theta = None if self.source.probabilities is None else self.source.probabilities[rows]
        return replace(
            self,
            features=self.features[rows],
            classes=self.classes.taken(rows),
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
                f"{part} cannot be read: {error.strerror}. Check the path and your rights."
            ) from error
    return digest.value()


def _data(path: Path, found: FeatureSet, tables: Sequence[FactorTable], predicted: bool) -> Data:
    names = [str(row) for row in range(len(found.labels))]
    groups = {factor: table.column(factor, names) for table in tables for factor in table.levels}
    if found.groups is not None:
        groups = {GROUP: found.groups.astype(np.str_), **groups}
    return Data(
        name=data_name(path),
        features=_held(found.features),
        classes=Classes.of(found.labels),
        source=Source(found.source_probabilities, found.source_features, found.source_labels),
        correct=_correct(found, predicted),
        groups=groups,
        digest=digest_of_path(path),
        predicted=predicted,
        notes=tuple(f"{path.name} also holds {name!r}, which is not used." for name in found.others[:5]),
    )


def _held(features: Any) -> Any:
    """Features that are small enough, in memory: every draw reads them."""
    return np.asarray(features[...]) if int(np.prod(features.shape)) <= IN_MEMORY else features


def _correct(found: FeatureSet, predicted: bool) -> NDArray[np.float64] | None:
    """Which rows were predicted rightly; labels of another type are compared as words."""
    if found.predictions is None or predicted:
        return None
    said, labels = found.predictions, found.labels
    if said.dtype.kind != labels.dtype.kind and "U" in (said.dtype.kind, labels.dtype.kind):
        said, labels = said.astype(np.str_), labels.astype(np.str_)
    return np.asarray(said == labels, dtype=np.float64)


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
