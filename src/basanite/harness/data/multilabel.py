"""Items with several labels: which label counts as the first, and folds in which every label has its share (A6)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from basanite.harness.protocol import Rows


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
