"""Taking over what a program wrote: regular files only, never through a link, and never more than its room."""

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


def collect(source: Path, target: Path, room: Room) -> list[str]:
    """Copy the regular files of a folder; gives a line for everything that was not taken.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     (Path(name) / "a").mkdir()
    ...     (Path(name) / "a" / "link").symlink_to("/etc/passwd")
    ...     collect(Path(name) / "a", Path(name) / "b", Room(10, 10))
    ['link: no regular file']
    """
    refused: list[str] = []
    _folder(source, target, "", room, refused)
    return refused


def _folder(source: Path, target: Path, name: str, room: Room, refused: list[str]) -> None:
    target.mkdir(exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda entry: entry.name):
        inside = f"{name}{entry.name}"
        if entry.is_dir(follow_symlinks=False) and inside.count("/") < DEEPEST:
            _folder(Path(entry.path), target / entry.name, f"{inside}/", room, refused)
        elif not entry.is_file(follow_symlinks=False):
            refused.append(f"{inside}: no regular file")
        elif room.files <= 0 or not _copied(entry.path, target / entry.name, room):
            refused.append(f"{inside}: too much was written")


def _copied(source: str, target: Path, room: Room) -> bool:
    """Copy one file as far as there is room; one that does not fit is not left behind in part."""
    room.files -= 1
    with open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as reading:
        if not stat.S_ISREG(os.fstat(reading.fileno()).st_mode) or os.fstat(reading.fileno()).st_size > room.bytes:
            return False
        with target.open("xb") as writing:
            while piece := reading.read(PIECE):
                room.bytes -= len(piece)
                writing.write(piece)
    return True
