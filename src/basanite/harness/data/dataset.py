"""A data set as the harness holds it: items, named targets, groups, and a digest of all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from basanite.harness.protocol import Rows

Numbers = NDArray[np.float64]


class Texts(Sequence[str]):
    """Texts as one run of UTF-8 bytes with offsets: little memory, and stored as it is."""

    def __init__(self, content: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.content, self.offsets = content, offsets

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        """From a list of texts."""
        raw = [text.encode() for text in texts]
        ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(raw), np.uint8), ends)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        start, end = self.offsets[at % len(self)], self.offsets[at % len(self) + 1]
        return self.content[start:end].tobytes().decode()

    def take(self, rows: Rows) -> list[str]:
        """The texts of some rows."""
        return [self[int(row)] for row in rows]


@dataclass(frozen=True)
class Files(Sequence[Path]):
    """Items that are files too large for memory: a folder, their names in it, and the digests of their content."""

    folder: Path
    names: tuple[str, ...]
    digests: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path, names: Iterable[str]) -> Files:
        """The files of these names, each read once for its digest."""
        kept = tuple(names)
        return cls(folder.resolve(), kept, tuple(file_digest(folder / name) for name in kept))

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, at: int) -> Path: ...
    @overload
    def __getitem__(self, at: slice) -> list[Path]: ...
    def __getitem__(self, at: int | slice) -> Path | list[Path]:
        if isinstance(at, slice):
            return [self.folder / name for name in self.names[at]]
        return self.folder / self.names[at]

    def take(self, rows: Rows) -> list[Path]:
        """The files of some rows."""
        return [self[int(row)] for row in rows]


def file_digest(path: Path) -> str:
    """The hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


Items: TypeAlias = Texts | Files | NDArray[Any]


@dataclass(frozen=True)
class Dataset:
    """Items with what is to be predicted of each; rows are numbered from 0 in the order of the file."""

    name: str
    items: Items
    """Texts, files, or one row of numbers for each item."""
    targets: Mapping[str, Numbers]
    """By name, in the declared order: 0 and 1 for a label, a number for a rating."""
    groups: NDArray[np.int64] | None = None
    """The group (restaurant, film) of each item, as a number."""
    first_labels: NDArray[np.int64] | None = None
    """Of items with labels: the place of the first label in the declared order (A6); -1 without any."""
    fixed: tuple[Rows, Rows] | None = None
    """Training and test rows, where the data come with a split of their own."""
    range: tuple[float, float] | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    """What was found, and under `published` what the evaluation plan says of its own data."""

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def digest(self) -> str:
        """The hash of items, targets and groups."""
        return _digest(self._parts())

    @cached_property
    def items_digest(self) -> str:
        """The hash of the items alone, which is all that preprocessors see."""
        return _digest(_content(self.items))

    def _parts(self) -> Iterator[tuple[str, NDArray[Any]]]:
        yield from _content(self.items)
        yield from ((f"target {name}", values) for name, values in self.targets.items())
        if self.groups is not None:
            yield "groups", self.groups


def _digest(parts: Iterable[tuple[str, NDArray[Any]]]) -> str:
    digest = hashlib.sha256()
    for name, part in parts:
        digest.update(json.dumps([name, part.dtype.str, part.shape]).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return f"sha256:{digest.hexdigest()}"


def _content(items: Items) -> Iterable[tuple[str, NDArray[Any]]]:
    """What items are, wherever they lie."""
    return stored_items(Texts.of(items.digests) if isinstance(items, Files) else items).items()


def stored_items(items: Items) -> dict[str, Any]:
    """Items as arrays and plain data, for the store."""
    if isinstance(items, Files):
        return {"folder": str(items.folder), "names": list(items.names), "digests": list(items.digests)}
    return {"content": items.content, "offsets": items.offsets} if isinstance(items, Texts) else {"rows": items}


def items_of(stored: Mapping[str, Any]) -> Items:
    """Items from what the store gives back."""
    if "folder" in stored:
        return Files(Path(stored["folder"]), tuple(stored["names"]), tuple(stored["digests"]))
    if "rows" in stored:
        rows: NDArray[Any] = stored["rows"]
        return rows
    return Texts(stored["content"], stored["offsets"])


def items_at(items: Any, rows: Rows) -> Any:
    """Some items, whatever they are: texts, files, rows of numbers, or rows of a sparse matrix."""
    return items.take(rows) if isinstance(items, Texts | Files) else items[rows]


def first_labels(targets: Mapping[str, NDArray[np.float64]]) -> NDArray[np.int64]:
    """The place of each item's first label in the declared order; -1 for an item without any.

    >>> first_labels({"eat": np.array([0, 0, 1]), "run": np.array([0, 1, 1])}).tolist()
    [-1, 1, 0]
    """
    table = np.column_stack(list(targets.values())) > 0
    return np.where(table.any(axis=1), table.argmax(axis=1), -1)


def iterative_folds(labels: NDArray[np.bool_], folds: int) -> list[Rows]:
    """Folds by iterative stratification (Sechidis, Tsoumakas and Vlahavas, ECML PKDD 2011), without dice.

    The rarest label that is left goes first; each of its items goes to the fold that lacks most of that label, then of
    items, then to the earlier fold.

    >>> rows = np.array([[1, 0], [1, 1], [0, 1], [0, 1], [0, 0], [0, 0]], bool)
    >>> [fold.tolist() for fold in iterative_folds(rows, 2)]
    [[0, 2, 4], [1, 3, 5]]
    """
    dealing = _Dealing(labels, folds)
    while dealing.left.any():
        dealing.deal(dealing.rarest())
    return [np.flatnonzero(dealing.fold == number) for number in range(folds)]


class _Dealing:
    """Who is dealt where, and what each fold still lacks, in units of one over the number of folds."""

    def __init__(self, labels: NDArray[np.bool_], folds: int) -> None:
        self.labels, self.folds = labels, folds
        self.fold = np.full(len(labels), -1)
        self.left = np.ones(len(labels), bool)
        self.lacks = np.tile(labels.sum(axis=0, dtype=np.int64), (folds, 1))
        self.room = np.full(folds, len(labels))

    def rarest(self) -> int | None:
        """The label with the fewest items left, the earlier of equal ones; None if only items without labels are."""
        counts = self.labels[self.left].sum(axis=0)
        return int(np.where(counts > 0, counts, len(self.labels) + 1).argmin()) if counts.any() else None

    def deal(self, label: int | None) -> None:
        """Deal out all items of a label, or all that are left, in their order."""
        chosen = self.left if label is None else self.left & self.labels[:, label]
        for row in np.flatnonzero(chosen):
            wanted = self.lacks[:, label] if label is not None else np.zeros(self.folds, np.int64)
            place = max(range(self.folds), key=lambda fold: (wanted[fold], self.room[fold], -fold))
            self.fold[row], self.left[row] = place, False
            self.lacks[place, self.labels[row]] -= self.folds
            self.room[place] -= self.folds
