"""Folders in which programs are run, held for as long as their owner lives; the next one clears away those of the dead.

Who is killed cannot tidy up. So an owner holds a lock on a file in the folder, which the kernel gives back at its end
however that comes: a lock that can be had belongs to nobody. Process numbers would not do, for they are used again and
differ from container to container.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PREFIXES: Final = ("basanite-box-", "basanite-open-")
HELD: Final = ".held"
YOUNG: Final = 60.0
"""Seconds that a folder is let alone in any case: its owner may not have got to its lock yet."""
NAMELESS: Final = 24 * 3600.0
"""The same for a folder without a lock, as earlier versions made them."""


@contextmanager
def held_folder(prefix: str, place: Path | None = None) -> Iterator[Path]:
    """A folder of one's own that is gone at the end of the block, or found by the next one if the end never comes."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name, (Path(name) / HELD).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def clear_left_behind(
    folder: Path | None = None, *, prefixes: Sequence[str] = PREFIXES, now: float | None = None
) -> int:
    """Throw away the folders of owners that are gone; gives how many. Those of other users are not touched."""
    place, now = folder or Path(tempfile.gettempdir()), time.time() if now is None else now
    cleared = 0
    for prefix in prefixes:
        for found in place.glob(f"{prefix}*"):
            if _is_ours(found) and _is_left(found, now):
                shutil.rmtree(found, ignore_errors=True)
                cleared += 1
    return cleared


def _is_ours(found: Path) -> bool:
    return not found.is_symlink() and found.is_dir() and found.stat().st_uid == os.geteuid()


def _is_left(found: Path, now: float) -> bool:
    """Whether the owner is gone: old enough, and its lock can be had."""
    with suppress(OSError):  # somebody else clears at the same time
        age = now - found.stat().st_mtime
        if not (found / HELD).exists():
            return age > NAMELESS
        return age > YOUNG and _is_free(found / HELD)
    return False


def _is_free(lock: Path) -> bool:
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
