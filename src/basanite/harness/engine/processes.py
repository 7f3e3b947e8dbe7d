"""Processes that share work: one thread for linear algebra in each, and none outlives whoever started it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from basanite.harness.sandbox import syscalls

_limits: list[Any] = []
"""Held for the life of a process."""


def single_threaded() -> Any:
    """One thread for linear algebra while the value is held: other numbers of threads give other last digits."""
    import scipy.linalg  # noqa: F401  its BLAS must be loaded before it can be limited
    import sklearn.utils.extmath  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


def pool(workers: int, begin: Callable[..., None] | None = None, *told: Any) -> ProcessPoolExecutor:
    """So many processes, started afresh: a fork would inherit threads half-way; `begin(*told)` runs first in each."""
    return ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(os.getpid(), begin, told)
    )


def one_thread() -> None:
    """One thread for linear algebra in this process from now on."""
    if not _limits:
        _limits.append(single_threaded())


def _begin(parent: int, begin: Callable[..., None] | None, told: tuple[Any, ...]) -> None:
    _end_with(parent)
    one_thread()
    if begin is not None:
        begin(*told)


def _end_with(parent: int) -> None:
    """Be killed when the parent is gone, however it ended: nobody would fetch what is computed here."""
    if sys.platform != "linux":
        return
    syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # it went before the line above could take hold
