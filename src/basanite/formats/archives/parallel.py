"""Reading files side by side: results in order, few pieces waiting, and an executor of forked processes.

Arrays of a few thousand numbers are too short for threads: they wait for one another's Python between any two
operations. Processes do not; but handing them the document set and every file through a pipe would cost more than it
gains. So they are forked when the work is known, with everything it needs, and a file is copied once into memory that
parent and children share.
"""

from __future__ import annotations

import mmap
import os
import queue
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, TypeVar

from basanite.formats.archives.members import Member

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Piece = TypeVar("Piece")
Result = TypeVar("Result")

AHEAD = 8
"""How many pieces may wait for the executor: enough to keep it busy, few enough to stay small."""
SLOTS = 16
SLOT_BYTES = 4 * 2**20
_inherited: dict[str, Any] = {}
"""What children find when they are forked: the work, and the memory that they share with their parent."""


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


class ForkedExecutor(Executor):
    """Runs one function on many files in forked processes; another function makes it fork again."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._work: Callable[[Any], Any] | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._memory = mmap.mmap(-1, SLOTS * SLOT_BYTES)
        self._free: queue.SimpleQueue[int] = queue.SimpleQueue()
        for slot in range(SLOTS):
            self._free.put(slot)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have `fn(piece)` done; a file that fits goes through shared memory, anything else through a pipe."""
        (piece,) = args
        pool = self._pool_for(fn)
        slot = self._slot(piece)
        if slot is None:
            return pool.submit(_on_piece, piece)
        start = slot * SLOT_BYTES
        self._memory[start : start + len(piece.data)] = piece.data
        future = pool.submit(_on_memory, piece.name, start, len(piece.data))
        future.add_done_callback(lambda _: self._free.put(slot))
        return future

    def _slot(self, piece: Any) -> int | None:
        if not isinstance(piece, Member) or len(piece.data) > SLOT_BYTES:
            return None
        try:
            return self._free.get_nowait()
        except queue.Empty:
            return None

    def _pool_for(self, work: Callable[[Any], Any]) -> ProcessPoolExecutor:
        """A pool whose processes were forked when this work was known."""
        if self._pool is None or self._work != work:
            self.shutdown()
            from concurrent.futures import ProcessPoolExecutor  # slow to load, and most commands use one process
            from multiprocessing import get_context

            self._work, self._pool = work, ProcessPoolExecutor(self.workers, mp_context=get_context("fork"))
            _inherited.update(work=work, memory=self._memory)
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", DeprecationWarning
                )  # array libraries keep idle threads; no lock is held
                self._pool.submit(os.getpid).result()
            _inherited.clear()
        return self._pool

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes; a later `submit` starts new ones."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)
        self._pool = self._work = None


def reading_executor(workers: int) -> Executor:
    """Processes where they can be forked, threads elsewhere."""
    if hasattr(os, "fork"):
        return ForkedExecutor(workers)
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(workers)


def _on_memory(name: str, start: int, size: int) -> Any:
    return _inherited["work"](Member(name, _inherited["memory"][start : start + size]))


def _on_piece(piece: Any) -> Any:
    return _inherited["work"](piece)
