"""Many small pieces of work in a few batches: a cluster takes milliseconds for each task, whatever is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, Final, TypeVar

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
