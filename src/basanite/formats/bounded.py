"""Reading a whole file that somebody named: never more than a bound, and nothing that is no file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from basanite.errors import UnreadableError

OPENING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a regular file of at most this many; pipes and devices are refused and never waited for."""
    try:
        with open(os.open(path, OPENING), "rb") as file:
            _refuse_others(path, os.fstat(file.fileno()).st_mode)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if len(data) > limit:
        raise UnreadableError(
            f"{path} is larger than {_size(limit)}, the most that is read here. Is it the right file?"
        )
    return data


def check_regular(path: Path) -> None:
    """Refuse what is not there or is no regular file, before somebody else reads it."""
    try:
        _refuse_others(path, path.stat().st_mode)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _refuse_others(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise UnreadableError(f"{path} cannot be read: Is a directory. Give a file.")
    if not stat.S_ISREG(mode):
        raise UnreadableError(f"{path} cannot be read: it is a pipe or a device. Save it as a file and give that.")


def _unreadable(path: Path, error: OSError | ValueError) -> UnreadableError:
    if isinstance(error, IsADirectoryError):
        return UnreadableError(f"{path} cannot be read: Is a directory. Give a file.")
    words = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return UnreadableError(f"{path} cannot be read: {words}. Check the path and your permissions.")


def _size(limit: int) -> str:
    return f"{limit >> 20} MiB" if limit >= 2**20 else f"{limit} bytes"
