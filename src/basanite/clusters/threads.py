"""One thread for linear algebra in a process: other numbers of threads give other last digits."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from threadpoolctl import threadpool_limits

LIBRARIES: Final = ("scipy.linalg", "sklearn.utils.extmath")
"""What brings a BLAS of its own, which must be loaded before it can be limited."""
_limits: list[Any] = []
"""Held for the life of a process."""


def single_threaded() -> Any:
    """One thread for linear algebra while the value is held."""
    for name in LIBRARIES:
        if find_spec(name.partition(".")[0]) is not None:
            import_module(name)
    return threadpool_limits(1)


def one_thread() -> None:
    """One thread for linear algebra in this process from now on."""
    if not _limits:
        _limits.append(single_threaded())
