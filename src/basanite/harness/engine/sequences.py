"""Items that have several rows: one row of numbers for each window of a clip (A28, A29).

Whoever takes rows of numbers gets the windows; whoever takes items gets each item's windows summed, which for counts is
the histogram of the whole clip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

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

    def summed(self) -> Any:
        """One row for each item: the sum of its windows.

        >>> Sequences(np.array([[1.0], [2.0], [4.0]]), np.array([0, 2, 3])).summed().tolist()
        [[3.0], [4.0]]
        """
        ones = np.ones(len(self.rows) if isinstance(self.rows, np.ndarray) else self.rows.shape[0])
        adder = scipy.sparse.csr_array((ones, np.arange(len(ones)), self.offsets), shape=(len(self), len(ones)))
        return adder @ self.rows


def whole(matrix: Any) -> Any:
    """A matrix with one row for each item, whatever it was."""
    return matrix.summed() if isinstance(matrix, Sequences) else matrix
