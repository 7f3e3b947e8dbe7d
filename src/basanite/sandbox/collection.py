"""Taking over what a program wrote: by descriptors, regular files only, and never more than its room.

A folder is named by a descriptor that was opened before the program started, and everything below it is opened from
there without following a link: whatever the program renames or puts in a folder's place, no other place is read.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEEPEST: Final = 8
PIECE: Final = 2**20


@dataclass
class Room:
    """Bytes and files that may still be taken over."""

    bytes: int
    files: int
    depth: int = DEEPEST
    """Levels of folders that are entered."""


def open_folder(place: Path) -> int:
    """A descriptor of a folder, to be asked for before the program starts; a link in its place is refused."""
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def collect(source: int, target: Path, room: Room) -> list[str]:
    """Copy the regular files of an open folder; gives a line for everything that was not taken.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "a").mkdir()
    ...     (Path(name) / "a" / "link").symlink_to("/etc/passwd")
    ...     collect(open_folder(Path(name) / "a"), Path(name) / "b", Room(10, 10))
    ['link: no regular file']
    """
    refused: list[str] = []
    _folder(source, target, "", room, refused)
    return refused


def _folder(source: int, target: Path, name: str, room: Room, refused: list[str]) -> None:
    target.mkdir(exist_ok=True)
    with os.scandir(source) as found:
        names = sorted(entry.name for entry in found)
    for entry in names:
        inside = f"{name}{entry}"
        opened = _open(entry, source)
        try:
            if opened is not None and _is_folder(opened) and inside.count("/") < room.depth:
                _folder(opened, target / entry, f"{inside}/", room, refused)
            elif opened is None or not stat.S_ISREG(os.fstat(opened).st_mode):
                refused.append(f"{inside}: no regular file")
            elif not _copy_file(opened, target / entry, room):
                refused.append(f"{inside}: too much was written")
        finally:
            if opened is not None:
                os.close(opened)


def _open(name: str, folder: int) -> int | None:
    """A descriptor of what stands in a folder under a name; None for a link, a socket, or what is gone by now."""
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None


def _is_folder(opened: int) -> bool:
    return stat.S_ISDIR(os.fstat(opened).st_mode)


def _copy_file(opened: int, target: Path, room: Room) -> bool:
    """Copy one file as far as there is room; one that does not fit is not left behind in part."""
    left = os.fstat(opened).st_size
    room.files -= 1
    if room.files < 0 or left > room.bytes:
        return False
    room.bytes -= left
    with target.open("xb") as writing:
        while piece := os.read(opened, min(PIECE, left)):
            left -= len(piece)
            writing.write(piece)
    return True
