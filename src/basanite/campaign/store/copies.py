"""The copies that a machine keeps of what lies in the object store: as many as there is room for, the unused go first.

A copy is used by whoever asks for it, in any process that shares the folder; the time of its last use is that of the
file. Use and trimming hold one lock, so that no copy is taken from under somebody who was just told that it is here.
What is open stays readable until it is closed, and what was used of late is never trimmed.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCK: Final = ".copies"
SPARED: Final = 3600.0
"""Seconds after its last use in which a copy is kept in any case: whoever was given its path may open it later."""
EVERY: Final = 600.0
"""Seconds between two looks at how large all copies together are."""


@dataclass(frozen=True)
class Copies:
    """A folder of copies that together are not much longer than so many bytes; 0: as long as the disk."""

    folder: Path
    most: int
    is_kept: Callable[[Path], bool]
    """Whether the store has what a file is a copy of; what it does not have is no copy, and stays."""

    def use(self, *places: Path) -> bool:
        """Whether a copy lies at one of the places; if so, it counts as used now."""
        with self._locked(fcntl.LOCK_SH):
            for place in places:
                with suppress(FileNotFoundError):
                    os.utime(place)
                    return True
        return False

    def look_after(self, *, now: float | None = None) -> int:
        """Trim, unless somebody has looked not long ago; gives how many bytes are free for it."""
        now = time.time() if now is None else now
        if not self.most or now - (self.folder / LOCK).stat().st_mtime < EVERY:
            return 0
        os.utime(self.folder / LOCK, (now, now))
        return self.trim(now=now)

    def trim(self, *, now: float) -> int:
        """Throw away the copies that were used longest ago until the others fit; gives how many bytes they had."""
        held = sorted(self._held())
        over, freed = sum(size for _, size, _ in held) - self.most, 0
        for used, size, path in held:
            if freed >= over or used > now - SPARED:
                break
            if self.is_kept(path) and self._dropped(path, used):
                freed += size
        return freed

    def _held(self) -> Iterator[tuple[float, int, Path]]:
        """Each copy with its last use and its length."""
        for path in self.folder.glob("??/*"):
            with suppress(FileNotFoundError):
                seen = path.stat()
                yield seen.st_mtime, seen.st_size, path

    def _dropped(self, path: Path, used: float) -> bool:
        """Throw a copy away, unless it was used meanwhile or is lent: then its bytes would stay anyway."""
        with self._locked(fcntl.LOCK_EX), suppress(FileNotFoundError):
            seen = path.stat()
            if seen.st_mtime > used or seen.st_nlink > 1:
                return False
            path.unlink()
        return True

    @contextmanager
    def _locked(self, how: int) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)) as lock:
            fcntl.flock(lock, how)
            yield
