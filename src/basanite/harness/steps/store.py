"""Where steps are kept: a folder each, named by its key, which appears as a whole or not at all.

A step is written into a folder beside its place, brought to disk, and renamed. So a process killed at any point leaves
either the whole step or nothing, and the bytes of a step depend on its key alone: no time, host or user is in them.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from uuid import uuid4

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from basanite.errors import BasaniteError

Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class Sequences:
    """The windows of all items one after the other, and where each item's begin; the last offset is their number."""

    rows: Any
    """A matrix `[windows, columns]`: a NumPy array, a CSR matrix, or while it is written a stream of blocks."""
    offsets: Offsets

    @property
    def shape(self) -> tuple[int, int]:
        """Items and columns."""
        return len(self.offsets) - 1, int(self.rows.shape[1])

    @property
    def lengths(self) -> Offsets:
        """How many windows each item has."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, items: Any) -> Sequences:
        chosen = np.arange(len(self))[items]
        lengths = self.lengths[chosen]
        return Sequences(self.rows[self.windows(chosen)], np.concatenate([[0], np.cumsum(lengths)]))

    def windows(self, items: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places of the windows of some items.

        >>> Sequences(np.zeros((5, 1)), np.array([0, 2, 2, 5])).windows(np.array([2, 0])).tolist()
        [2, 3, 4, 0, 1]
        """
        lengths = self.lengths[items]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return np.asarray(np.repeat(self.offsets[items], lengths) + within)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value of each item for each of its windows."""
        return np.repeat(values, self.lengths)

    def sums(self) -> Any:
        """One row for each item: the sum of its windows.

        >>> Sequences(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 3])).sums().tolist()
        [[3.0], [4.0]]
        """
        ones = np.ones(len(self.rows) if isinstance(self.rows, np.ndarray) else self.rows.shape[0])
        adder = scipy.sparse.csr_array((ones, np.arange(len(ones)), self.offsets), shape=(len(self), len(ones)))
        return adder @ self.rows


def whole(matrix: Any) -> Any:
    """A matrix with one row for each item, whatever it was."""
    return matrix.sums() if isinstance(matrix, Sequences) else matrix


Value: TypeAlias = Mapping[str, Any]
"""What a step gives: by name, NumPy arrays, CSR matrices, `Streamed` arrays, `Sequences`, and plain JSON data."""


@dataclass(frozen=True)
class Streamed:
    """A dense array that is written block by block as it is made, so that it need never be in memory as a whole."""

    shape: tuple[int, ...]
    dtype: str
    blocks: Iterable[np.ndarray[Any, Any]]


PLAIN: Final = "plain.json"
WARNINGS: Final = "warnings"
"""The part of a value that says which warnings libraries gave, and how often each."""
SPARSE: Final = ("data", "indices", "indptr", "shape")
ROWS, OFFSETS = "rows", "offsets"
"""Of sequences: the windows (or the parts of their CSR matrix), and where each item's begin."""


class BrokenStepError(BasaniteError):
    """A stored step cannot be read: somebody changed it, or the disk is ill. Delete its folder and run again."""


class Store:
    """Finished steps under one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def path(self, key: str) -> Path:
        """The folder of a step."""
        return self.root / key[:2] / key

    def has(self, key: str) -> bool:
        """Whether the step is done."""
        return self.path(key).is_dir()

    def load(self, key: str, *, mapped: bool = False) -> dict[str, Any]:
        """What the step gave; with `mapped`, dense arrays are read from disk only as they are used.

        They can be written to, because compiled libraries refuse what cannot, but nothing of that reaches the disk.
        """
        folder = self.path(key)
        try:
            found: dict[str, Any] = json.loads((folder / PLAIN).read_text(encoding="utf-8"))
            for path in sorted(folder.glob("*.npy")):
                name, _, part = path.stem.partition(".")
                array = np.load(path, mmap_mode="c" if mapped and part in ("", ROWS) else None, allow_pickle=False)
                (found.setdefault(name, {}) if part else found).__setitem__(part or name, array)
        except (OSError, ValueError) as error:
            raise BrokenStepError(
                f"The stored step {folder} cannot be read ({error}). Delete it and run again."
            ) from error
        return {name: _join_parts(part) for name, part in found.items()}

    def save(self, key: str, value: Value, warnings: Mapping[str, int] | None = None) -> None:
        """Keep what a step gave; if somebody else has kept it meanwhile, theirs stays, for the bytes are the same.

        `warnings` are read when all arrays are written, since work that streams may add to them until then.
        """
        place = self.path(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        working = place.parent / f".{key}.{uuid4().hex}"
        working.mkdir()
        try:
            _write(working, value, {} if warnings is None else warnings)
            working.rename(place)
            _to_disk(place.parent)
        except OSError:
            if not place.is_dir():
                raise
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def clear_leftovers(self, *, older: float = 0.0) -> int:
        """Delete what killed runs left half-written so many seconds ago or longer; gives how many there were.

        A run that is still at work writes all the time, so what is a day old is nobody's.
        """
        latest = time.time() - older
        left = [path for path in self.root.glob("*/.*") if path.is_dir() and path.stat().st_mtime <= latest]
        for path in left:
            shutil.rmtree(path, ignore_errors=True)
        return len(left)


def _write(folder: Path, value: Value, warnings: Mapping[str, int]) -> None:
    plain = {}
    for name, part in value.items():
        if isinstance(part, Sequences):
            _write_array(folder / f"{name}.{OFFSETS}.npy", part.offsets)
            is_sparse = scipy.sparse.issparse(part.rows)
            _write_matrix(folder, name if is_sparse else f"{name}.{ROWS}", part.rows)
        elif isinstance(part, np.ndarray | Streamed) or scipy.sparse.issparse(part):
            _write_matrix(folder, name, part)
        else:
            plain[name] = part
    if warnings:
        plain[WARNINGS] = dict(warnings)
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
    with (folder / PLAIN).open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())


def _write_matrix(folder: Path, name: str, part: Any) -> None:
    if isinstance(part, Streamed):
        _write_streamed(folder / f"{name}.npy", part)
    elif isinstance(part, np.ndarray):
        _write_array(folder / f"{name}.npy", part)
    else:
        matrix = scipy.sparse.csr_array(part)
        parts = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape))
        for kind, array in zip(SPARSE, parts, strict=True):
            _write_array(folder / f"{name}.{kind}.npy", array)


def _write_array(path: Path, array: np.ndarray[Any, Any]) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def _write_streamed(path: Path, part: Streamed) -> None:
    dtype, left = np.dtype(part.dtype), part.shape[0]
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": part.shape}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in part.blocks:
            file.write(np.ascontiguousarray(block, dtype).tobytes())
            left -= len(block)
        file.flush()
        os.fsync(file.fileno())
    if left:
        raise ValueError(f"an array of {part.shape[0]} rows was announced, and {part.shape[0] - left} came")


def _join_parts(part: Any) -> Any:
    if not isinstance(part, dict) or not part or not all(isinstance(one, np.ndarray) for one in part.values()):
        return part
    if OFFSETS in part:
        rest = {name: one for name, one in part.items() if name != OFFSETS}
        return Sequences(rest[ROWS] if set(rest) == {ROWS} else _join_parts(rest), part[OFFSETS])
    if set(part) == set(SPARSE):
        shape = tuple(int(size) for size in part["shape"])
        return scipy.sparse.csr_array((part["data"], part["indices"], part["indptr"]), shape=shape)
    return part


def _to_disk(folder: Path) -> None:
    """Make a rename in this folder survive a loss of power; where folders cannot be opened it is not needed."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
