"""Work on the pieces of a file while the next ones are read: results in order, few pieces waiting, any executor."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")

AHEAD = 8
"""How many pieces may wait for the executor: enough to keep it busy, few enough to stay small."""


def side_by_side(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], executor: Executor | None
) -> Iterator[Result]:
    """The result for each piece, in the order of the pieces; without an executor one after the other.

    >>> list(side_by_side(len, ["a", "bb"], None))
    [1, 2]
    """
    if executor is None:
        yield from map(work, pieces)
        return
    waiting: deque[Future[Result]] = deque()
    for piece in pieces:
        waiting.append(executor.submit(work, piece))
        if len(waiting) > AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
