"""Processors of this machine for a program to run on: each is held by one program at a time, as far as there are any.

A processor is held by a lock on a file, which the kernel gives back when its holder ends, however that comes.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def held_processors(count: int) -> Iterator[tuple[int, ...]]:
    """So many processors to run on, free ones first; none, which means all, where there are no more than that."""
    every = sorted(os.sched_getaffinity(0))
    if count >= len(every):
        yield ()
        return
    folder = Path(tempfile.gettempdir()) / f"basanite-processors-{os.geteuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as held:
        chosen: list[int] = []
        for number in every:
            if len(chosen) < count and _hold(folder / str(number), held):
                chosen.append(number)
        yield tuple((chosen + [number for number in every if number not in chosen])[:count])


def _hold(place: Path, held: ExitStack) -> bool:
    """Hold a processor until the end, unless somebody else does."""
    try:
        file = os.open(place, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        held.callback(os.close, file)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
