"""A filter of system calls (seccomp): no socket but local ones, no new namespaces, no looking into other processes,
no memory outside processes and files.

A network namespace stops Internet addresses but not every kind of socket that a virtual machine offers, so `socket` is
allowed for AF_UNIX alone; io_uring, which could open sockets past the filter, is refused as a whole.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from basanite.harness.sandbox.syscalls import CLONE_NEWUSER, PR_SET_SECCOMP, prctl


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


MACHINES: Final = {
    "x86_64": Machine(
        0xC000003E,
        41,
        56,
        (101, 310, 311, 165, 166, 155, 161, 272, 308, 321, 298, 323, 248, 249, 250, 246, 175, 313, 176, 304),
        (319, 29, 68),
        9,
    ),
    "aarch64": Machine(
        0xC00000B7,
        198,
        220,
        (117, 270, 271, 40, 39, 41, 51, 97, 268, 280, 241, 282, 217, 218, 219, 104, 105, 273, 106, 265),
        (279, 194, 186),
        222,
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


def close_filter() -> bool:
    """Put the filter on this process for good; False where the processor is not known here."""
    machine = MACHINES.get(os.uname().machine)
    if machine is None:
        return False
    code = program(machine)
    held = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code) // 8, ctypes.addressof(held)))
    prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(head))
    return True


def program(machine: Machine) -> bytes:
    """The filter as the kernel reads it."""
    return b"".join(struct.pack("HBBI", *line) for line in _lines(machine))


def _lines(machine: Machine) -> Iterator[tuple[int, int, int, int]]:
    """Instructions: code, how many to skip if true, if false, and a number."""
    yield from ((LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, machine.audit), (RETURN, 0, 0, KILL))
    yield from ((LOAD, 0, 0, NUMBER), (AT_LEAST, 0, 1, OTHER_ABI), (RETURN, 0, 0, KILL))
    for number in machine.refused:
        yield from ((EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.EPERM))
    for number in (*UNKNOWN_CALL, *machine.uncounted):
        yield from ((EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | errno.ENOSYS))
    yield from ((EQUAL, 0, 4, machine.socket), (LOAD, 0, 0, FIRST_ARGUMENT), (EQUAL, 1, 0, AF_UNIX))
    yield from ((RETURN, 0, 0, REFUSE | errno.EACCES), (RETURN, 0, 0, ALLOW))
    yield from ((EQUAL, 0, 5, machine.mmap), (LOAD, 0, 0, FOURTH_ARGUMENT), (ANY_BIT, 0, 2, MAP_ANONYMOUS))
    yield from ((ANY_BIT, 0, 1, MAP_SHARED), (RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW))
    yield from ((EQUAL, 0, 3, machine.clone), (LOAD, 0, 0, FIRST_ARGUMENT), (ANY_BIT, 0, 1, CLONE_NEWUSER))
    yield from ((RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW))
