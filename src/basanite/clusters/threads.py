"""One thread for linear algebra in a process: other numbers of threads give other last digits."""

from __future__ import annotations

import ctypes
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from threadpoolctl import threadpool_limits

LIBRARIES: Final = {"numpy": "numpy.libs", "scipy.linalg": "scipy.libs", "sklearn.utils.extmath": "scikit_learn.libs"}
"""What brings a BLAS or OpenMP of its own, which must be loaded before it can be limited, and the folder that wheels
keep it in: loading it from there takes milliseconds, importing what uses it seconds."""
THREADED: Final = ("*openblas*.so*", "libgomp*.so*")
_limits: list[Any] = []
"""Held for the life of a process."""


def single_threaded() -> Any:
    """One thread for linear algebra while the value is held."""
    for name, place in LIBRARIES.items():
        if (spec := find_spec(name.partition(".")[0])) is not None:
            _load(name, Path(spec.origin or "").parent.parent / place)
    return threadpool_limits(1)


def _load(name: str, folder: Path) -> None:
    """Load the threaded libraries of a wheel, or import the module that uses them where they lie elsewhere."""
    found = [path for pattern in THREADED for path in folder.glob(pattern)]
    try:
        for path in found:
            ctypes.CDLL(str(path))
    except OSError:  # built in another way than the wheels that we know
        found = []
    if not found:
        import_module(name)


def one_thread() -> None:
    """One thread for linear algebra in this process from now on."""
    if not _limits:
        _limits.append(single_threaded())
