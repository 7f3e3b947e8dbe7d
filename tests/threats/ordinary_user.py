"""Becoming an ordinary user for a command: `python -m tests.threats.ordinary_user COMMAND…`, started by root.

Where the interpreter lies in a folder that is closed to others (such as root's home), the command sees that folder with
the interpreter alone in it; nothing changes for the rest of the machine.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from basanite.sandbox import kernel

USER = 54_321


def closed_folder(place: Path) -> Path | None:
    """The first folder above a place that others may not enter."""
    above = reversed(place.parents)
    return next((folder for folder in above if not folder.stat().st_mode & 0o001), None)


def open_interpreter() -> None:
    """Let everybody who is started from here enter the folder of the interpreter."""
    place = Path(sys.base_prefix).resolve()
    closed = closed_folder(place)
    if closed is None:
        return
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    held = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    kernel.mount("tmpfs", str(closed), "tmpfs", kernel.MS_NOSUID, "mode=755")
    place.mkdir(parents=True)
    kernel.mount(f"/proc/self/fd/{held}", str(place), "", kernel.MS_BIND | kernel.MS_REC)


def main(command: list[str]) -> None:
    """Become the command as an ordinary user."""
    if os.geteuid() == 0:
        open_interpreter()
        os.setgroups([])
        os.setresgid(USER, USER, USER)
        os.setresuid(USER, USER, USER)
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
