"""How many threads matrix work takes: one for small data, where many threads only wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final

SMALL: Final = 1 << 22
"""Numbers up to which one thread is quickest; results then do not depend on how many there are either (S-6)."""


def threads_for(numbers: int) -> AbstractContextManager[Any]:
    """One thread for all libraries while small data are worked on; for large data as many as there are."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1) if numbers <= SMALL else nullcontext()
