"""One-to-one matching in NumPy, because the base has no SciPy: coreference and annotation are scored with it (Y-4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Places = NDArray[np.intp]


def best_matching(worth: ArrayLike) -> tuple[Places, Places]:
    """Rows and columns of the one-to-one matching with the largest sum, by shortest augmenting paths.

    Of equally good matchings it is the one that SciPy's `linear_sum_assignment` gives.
    D. F. Crouse, On implementing 2D rectangular assignment algorithms, IEEE Trans. AES 52 (2016).

    >>> [places.tolist() for places in best_matching([[0.9, 0.8], [0.7, 0.0]])]
    [[0, 1], [1, 0]]
    """
    cost = -np.asarray(worth, np.float64)
    turned = cost.shape[0] > cost.shape[1]
    if turned:
        cost = cost.T
    chosen = _assigned_columns(np.ascontiguousarray(cost))
    rows = np.arange(len(chosen))
    if not turned:
        return rows, chosen
    order = np.argsort(chosen)
    return chosen[order], rows[order]


def _assigned_columns(cost: NDArray[np.float64]) -> Places:
    """The column of each row in a matching of least cost; there are at least as many columns as rows."""
    count, width = cost.shape
    row_price, column_price = np.zeros(count), np.zeros(width)
    column_of, row_of = np.full(count, -1), np.full(width, -1)
    for row in range(count):
        least, shortest, path, seen = _shortest_path(cost, (row_price, column_price), row_of, row)
        sink = seen[-1]
        done = np.array(seen[:-1], np.intp)
        row_price[row] += least
        row_price[row_of[done]] += least - shortest[done]
        column_price[seen] -= least - shortest[seen]
        while True:  # the path back from the free column: each row on it takes the column after it
            last = path[sink]
            row_of[sink], column_of[last], sink = last, sink, column_of[last]
            if last == row:
                break
    return column_of


def _shortest_path(
    cost: NDArray[np.float64], prices: tuple[NDArray[np.float64], NDArray[np.float64]], row_of: Places, row: int
) -> tuple[float, NDArray[np.float64], Places, list[int]]:
    """The cheapest way from a row to a free column: its length, lengths and last rows by column, and columns seen."""
    width, (row_price, column_price) = cost.shape[1], prices
    shortest, path, seen = np.full(width, np.inf), np.full(width, -1), list[int]()
    left = np.arange(width)[::-1].copy()
    least = 0.0
    while True:
        lengths = least + cost[row, left] - row_price[row] - column_price[left]
        shorter = lengths < shortest[left]
        shortest[left[shorter]], path[left[shorter]] = lengths[shorter], row
        at = _nearest(shortest[left], row_of[left] < 0)
        column = int(left[at])
        least = float(shortest[column])
        seen.append(column)
        if row_of[column] < 0:
            return least, shortest, path, seen
        row = int(row_of[column])
        left[at] = left[-1]
        left = left[:-1]


def _nearest(lengths: NDArray[np.float64], free: NDArray[np.bool_]) -> int:
    """The place of the shortest length; among equal ones a free column ends the search."""
    ties = np.flatnonzero(lengths == lengths.min())
    ending = ties[free[ties]]
    return int(ending[-1] if len(ending) else ties[0])
