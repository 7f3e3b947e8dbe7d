"""In which order rows stand in the matrices of a split: the folds one after the other, then validation, then test.

So a fold is a slice, the rows that may be learned from come first, and a learner on these has seen no test row (A25).
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, cast

import numpy as np
import scipy.sparse

from basanite.errors import BasaniteError
from basanite.harness.protocol import Partition, Rows
from basanite.harness.steps.graph import Step
from basanite.harness.steps.store import Sequences, Store, Streamed

BLOCK: Final = 4096
"""Rows that are worked on at a time, so that codes of the whole data never have to be in memory."""


class ModuleError(BasaniteError):
    """A module gave something that cannot be used, or did what the protocol forbids; the message says what."""


@dataclass(frozen=True)
class Layout:
    """The sizes of the sets of a split."""

    folds: tuple[int, ...]
    validation: int
    test: int

    @classmethod
    def of(cls, partition: Partition) -> Layout:
        """The layout of a partition."""
        return cls(tuple(map(len, partition.folds)), len(partition.validation), len(partition.test))

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Layout:
        """From the parameters of a step."""
        return cls(tuple(plain["folds"]), plain["validation"], plain["test"])

    def plain(self) -> dict[str, Any]:
        """As parameters of a step."""
        return {"folds": list(self.folds), "validation": self.validation, "test": self.test}

    @property
    def dealt(self) -> int:
        """How many rows are in folds."""
        return sum(self.folds)

    @property
    def visible(self) -> int:
        """How many rows are not test rows."""
        return self.dealt + self.validation

    def fold(self, number: int) -> Rows:
        """The places of one fold, numbered from 0."""
        start = sum(self.folds[:number])
        return np.arange(start, start + self.folds[number])

    def others(self, number: int) -> Rows:
        """The places of the other folds and of validation, on which parameters are chosen (H-16)."""
        return np.setdiff1d(np.arange(self.visible), self.fold(number))


def rows_in_order(partition: Partition) -> Rows:
    """The rows of the data in the order of the matrices."""
    return np.concatenate([*partition.folds, partition.validation, partition.test]).astype(np.int64)


def blocks(start: int, end: int) -> Iterator[slice]:
    """Slices of at most a block from one place to another.

    >>> list(blocks(0, 5000))
    [slice(0, 4096, None), slice(4096, 5000, None)]
    """
    for at in range(start, end, BLOCK):
        yield slice(at, min(at + BLOCK, end))


def gather_blocks(parts: Iterator[Any], total: int, maker: str) -> Any:
    """A matrix from its blocks: sparse ones are joined, dense ones go to disk as they come."""
    first = check_block(next(parts), maker)
    if isinstance(first, Sequences):
        return _gather_windows(first, parts, total, maker)
    if scipy.sparse.issparse(first):
        joined = scipy.sparse.vstack([first, *(check_block(part, maker) for part in parts)], format="csr")
        if joined.shape[0] != total:
            raise ModuleError(f"{maker} gave {joined.shape[0]} rows for {total} items.")
        return scipy.sparse.csr_array(joined)
    return Streamed((total, first.shape[1]), first.dtype.str, _with_equal_widths(first, parts, maker))


def _gather_windows(first: Sequences, parts: Iterator[Any], total: int, maker: str) -> Sequences:
    """Windows of blocks of items joined; dense ones wait on disk, for only the last block tells how many there are."""
    lengths: list[Any] = []

    def rows() -> Iterator[Any]:
        for part in chain([first], (check_block(part, maker) for part in parts)):
            lengths.append(part.lengths)
            yield part.rows

    matrix = (
        scipy.sparse.vstack(list(rows()), format="csr") if scipy.sparse.issparse(first.rows) else spool_blocks(rows())
    )
    each = np.concatenate(lengths)
    if len(each) != total:
        if isinstance(matrix, Streamed):
            cast(Spool, matrix.blocks).close()
        raise ModuleError(f"{maker} gave windows of {len(each)} items for {total}.")
    return Sequences(matrix, np.concatenate([[0], np.cumsum(each)]))


def spool_blocks(parts: Iterator[Any]) -> Streamed:
    """Blocks of rows whose number is not known before the last of them, streamed from a nameless file."""
    first = np.ascontiguousarray(next(parts))
    spool = Spool(first.dtype, first.shape[1])
    height = sum(spool.add(block) for block in chain([first], parts))
    return Streamed((height, first.shape[1]), first.dtype.str, spool)


class Spool:
    """Rows in a nameless file that is gone once it has been read."""

    def __init__(self, dtype: np.dtype[Any], width: int) -> None:
        self.dtype, self.width, self.file = dtype, width, tempfile.TemporaryFile()  # noqa: SIM115  see `close`

    def add(self, block: Any) -> int:
        """Take some rows in; gives how many."""
        self.file.write(np.ascontiguousarray(block, self.dtype).tobytes())
        return len(block)

    def __iter__(self) -> Iterator[Any]:
        with self.file:
            self.file.seek(0)
            while piece := self.file.read(BLOCK * self.width * self.dtype.itemsize):
                yield np.frombuffer(piece, self.dtype).reshape(-1, self.width)

    def close(self) -> None:
        """Let the file go without reading it."""
        self.file.close()


def check_block(part: Any, maker: str) -> Any:
    """A block of features or codes: two-dimensional, numbers, and all of them finite."""
    if isinstance(part, Sequences):
        check_block(part.rows, maker)
        return part
    found = part if scipy.sparse.issparse(part) else np.asarray(part)
    if found.ndim != 2 or found.dtype.kind not in "fiub":
        raise ModuleError(f"{maker} gave {found.dtype} of {found.ndim} dimensions; a matrix of numbers is needed.")
    if not np.isfinite(found.data if scipy.sparse.issparse(found) else found).all():
        raise ModuleError(f"{maker} gave numbers that are not finite.")
    return found


def _with_equal_widths(first: Any, parts: Iterator[Any], maker: str) -> Iterator[Any]:
    yield first
    for part in parts:
        found = check_block(part, maker)
        if found.shape[1] != first.shape[1]:
            raise ModuleError(f"{maker} gave {first.shape[1]} columns for some rows and {found.shape[1]} for others.")
        yield found


def refuse_missing_data(kind: str, digest: str) -> dict[str, Any]:
    """Never called for data that were laid down: anyone who runs a plan does that first."""
    raise ModuleError(f"the {kind} {digest} are not in the store: run the plan with its data at hand")


@dataclass(frozen=True)
class Given:
    """A part of the data: the step that stands for it, and its value."""

    step: Step
    value: Mapping[str, Any]

    def lay(self, store: Store) -> None:
        """Put the value into the store unless it is there; files that have been moved are noted where they lie now."""
        if "folder" in self.value and store.has(self.step.key):
            before = store.load(self.step.key)["folder"]
            if before != self.value["folder"]:
                shutil.rmtree(store.path(self.step.key))
        if not store.has(self.step.key):
            store.save(self.step.key, self.value)


def part(name: str, kind: str, digest: str, value: Mapping[str, Any]) -> Given:
    """A part of the data under the digest of its content."""
    return Given(Step(name, refuse_missing_data, parameters={"kind": kind, "digest": digest}), value)
