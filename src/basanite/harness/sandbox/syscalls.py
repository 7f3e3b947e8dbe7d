"""The few calls to the Linux kernel that Python has no function for; stdlib only, for it runs before the box closes."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Final

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
KEPT_FLAGS: Final = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of a mounted place (statvfs) that must be told again when it is mounted anew, and how mount(2) calls them."""

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_SET_SECCOMP: Final = 22
PR_CAPBSET_DROP: Final = 24
PR_SET_NO_NEW_PRIVS: Final = 38
MNT_DETACH: Final = 2
LAST_CAPABILITY: Final = 63
PIVOT_ROOT: Final = {"x86_64": 155, "aarch64": 41}


def library() -> Any:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def called(name: str, *arguments: Any) -> int:
    """Call a function of the C library; what it refuses is an OSError."""
    found = int(getattr(library(), name)(*arguments))
    if found == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return found


def unshare(flags: int) -> None:
    """Leave the namespaces that are named."""
    called("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system or a folder somewhere."""
    parts = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode() or None)
    called("mount", *parts)


def mount_read_only(target: str) -> None:
    """Make a mounted place read-only and keep the flags that it has."""
    held = os.statvfs(target).f_flag
    kept = sum(flag for bit, flag in KEPT_FLAGS.items() if held & bit)
    mount("none", target, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def pivot_root(folder: str) -> None:
    """Make a mounted folder the root, and let the old one go."""
    os.chdir(folder)
    called("syscall", ctypes.c_long(PIVOT_ROOT[os.uname().machine]), b".", b".")
    called("umount2", b".", ctypes.c_int(MNT_DETACH))
    os.chdir("/")


def prctl(option: int, *values: Any) -> None:
    """Set something about this process."""
    padded = [*values, *[0] * (4 - len(values))]
    called("prctl", ctypes.c_int(option), *[v if not isinstance(v, int) else ctypes.c_ulong(v) for v in padded])


def drop_capabilities() -> None:
    """Give up every power of root for good: this process and whatever it starts."""
    for number in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:  # the kernel knows fewer capabilities, or we hold none that could be dropped
            break
    prctl(PR_SET_NO_NEW_PRIVS, 1)
