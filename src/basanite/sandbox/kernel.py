"""Calls to the Linux kernel that Python has no function for, and the filter of system calls (seccomp) of the box.

The filter allows no socket but local ones, no new namespaces, no looking into other processes, and no memory outside
processes and files. A network namespace stops Internet addresses but not every kind of socket that a virtual machine
offers, so `socket` is allowed for AF_UNIX alone; io_uring, which could open sockets past the filter, is refused as a
whole. Stdlib only, for it runs before the box closes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

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
"""Flags of a mounted place (statvfs) that must be told again when it is mounted again, and how mount(2) calls them."""

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


def call_library(name: str, *arguments: Any) -> int:
    """Call a function of the C library; what it refuses is an OSError."""
    found = int(getattr(library(), name)(*arguments))
    if found == -1:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return found


def unshare(flags: int) -> None:
    """Leave the namespaces that are named."""
    call_library("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    """Mount a file system or a folder somewhere."""
    parts = (source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode() or None)
    call_library("mount", *parts)


def mount_read_only(target: str) -> None:
    """Make a mounted place read-only and keep the flags that it has."""
    held = os.statvfs(target).f_flag
    kept = sum(flag for bit, flag in KEPT_FLAGS.items() if held & bit)
    mount("none", target, "", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | kept)


def pivot_root(folder: str) -> None:
    """Make a mounted folder the root, and let the old one go."""
    os.chdir(folder)
    call_library("syscall", ctypes.c_long(PIVOT_ROOT[os.uname().machine]), b".", b".")
    call_library("umount2", b".", ctypes.c_int(MNT_DETACH))
    os.chdir("/")


def prctl(option: int, *values: Any) -> None:
    """Set something about this process."""
    padded = [*values, *[0] * (4 - len(values))]
    call_library("prctl", ctypes.c_int(option), *[v if not isinstance(v, int) else ctypes.c_ulong(v) for v in padded])


def drop_capabilities() -> None:
    """Give up every power of root for good: this process and whatever it starts."""
    for number in range(LAST_CAPABILITY + 1):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:  # the kernel knows fewer capabilities, or we hold none that could be dropped
            break
    prctl(PR_SET_NO_NEW_PRIVS, 1)


class Machine(NamedTuple):
    """The numbers of system calls on one kind of processor."""

    audit: int
    socket: int
    clone: int
    refused: tuple[int, ...]
    """socketpair needs no filter; these are ptrace, process_vm_readv/writev, mount, umount2, pivot_root, chroot,
    unshare, setns, bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, kexec_load, init_module,
    finit_module, delete_module, open_by_handle_at."""
    uncounted: tuple[int, ...]
    """memfd_create, shmget and msgget: memory that belongs to no process, so that no count of processes shows it."""
    mmap: int
    """Shared memory without a file keeps what was written when its owner looks at less of it, so it is refused."""
    affinity: int
    """sched_setaffinity, by which a program would leave the processors that it was given."""


MACHINES: Final = {
    "x86_64": Machine(
        0xC000003E,
        41,
        56,
        (101, 310, 311, 165, 166, 155, 161, 272, 308, 321, 298, 323, 248, 249, 250, 246, 175, 313, 176, 304),
        (319, 29, 68),
        9,
        203,
    ),
    "aarch64": Machine(
        0xC00000B7,
        198,
        220,
        (117, 270, 271, 40, 39, 41, 51, 97, 268, 280, 241, 282, 217, 218, 219, 104, 105, 273, 106, 265),
        (279, 194, 186),
        222,
        122,
    ),
}
UNKNOWN_CALL: Final = (425, 426, 427, 435, 447)
"""io_uring_setup, _enter, _register, clone3, whose flags cannot be looked at, and memfd_secret, which has the same
number everywhere: programs then use older calls."""
OTHER_ABI: Final = 0x4000_0000
AF_UNIX: Final = 1
FILTER: Final = 2

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF_0000, 0x8000_0000, 0x0005_0000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, FOURTH_ARGUMENT = 0, 4, 16, 40
MAP_SHARED, MAP_ANONYMOUS = 0x01, 0x20


def close_filter(*, pinned: bool = False) -> bool:
    """Put the filter on this process for good; False where the processor is not known here.

    A process that is `pinned` cannot choose its processors.
    """
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    code = program(machine, pinned=pinned)
    held = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(held)))
    prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(head))
    return True


def program(machine: Machine, *, pinned: bool = False) -> bytes:
    """The filter as the kernel reads it."""
    return b"".join(struct.pack("HBBI", *line) for line in _lines(machine, pinned=pinned))


def _lines(machine: Machine, *, pinned: bool) -> Iterator[tuple[int, int, int, int]]:
    """Instructions: code, how many to skip if true, if false, and a number."""
    yield from ((LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, machine.audit), (RETURN, 0, 0, KILL))
    yield from ((LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OTHER_ABI), (RETURN, 0, 0, KILL))
    for number in (*machine.refused, *((machine.affinity,) if pinned else ())):
        yield from ((EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.EPERM))
    for number in (*UNKNOWN_CALL, *machine.uncounted):
        yield from ((EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.ENOSYS))
    yield from ((EQUAL, 0, 4, machine.socket), (LOAD, 0, 0, FIRST_ARGUMENT), (EQUAL, 1, 0, AF_UNIX))
    yield from ((RETURN, 0, 0, REFUSE | errno.EACCES), (RETURN, 0, 0, ALLOW))
    yield from ((EQUAL, 0, 5, machine.mmap), (LOAD, 0, 0, FOURTH_ARGUMENT), (ANY_BIT, 0, 2, MAP_ANONYMOUS))
    yield from ((ANY_BIT, 0, 1, MAP_SHARED), (RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW))
    yield from ((EQUAL, 0, 3, machine.clone), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, CLONE_NEWUSER))
    yield from ((RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW))
