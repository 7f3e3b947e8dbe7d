"""Becoming a command under the workers' profile: `python -m tests.deploy.under_profile LEFT_OUT COMMAND…`.

The filter is made by libseccomp, as container engines make it. `LEFT_OUT` names system calls, separated by commas, that
the profile is to lose first.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import json
import os
import sys
from pathlib import Path

PROFILE = Path(__file__).parents[2] / "deploy" / "compose" / "worker-seccomp.json"
ALLOW, REFUSE = 0x7FFF_0000, 0x0005_0000
COMPARED = {"SCMP_CMP_EQ": 4}


class Argument(ctypes.Structure):
    """How libseccomp takes a condition on an argument."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def library():
    """libseccomp, or None where there is none."""
    name = ctypes.util.find_library("seccomp")
    if name is None:
        return None
    found = ctypes.CDLL(name, use_errno=True)
    found.seccomp_init.restype = ctypes.c_void_p
    return found


def close(left_out):
    """Put the profile's filter on this process and all that it becomes or starts."""
    seccomp, profile = library(), json.loads(PROFILE.read_text("utf-8"))
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(REFUSE | profile["defaultErrnoRet"])))
    for rule in profile["syscalls"]:
        assert rule["action"] == "SCMP_ACT_ALLOW"
        conditions = [Argument(one["index"], COMPARED[one["op"]], one["value"], 0) for one in rule.get("args", ())]
        for name in set(rule["names"]) - left_out:
            number = seccomp.seccomp_syscall_resolve_name(name.encode())
            assert number != -1, f"no system call is called {name}"
            added = seccomp.seccomp_rule_add_array(
                context, ctypes.c_uint32(ALLOW), number, len(conditions), (Argument * len(conditions))(*conditions)
            )
            assert added in (0, -errno.EDOM), (name, added)  # some calls do not exist on this processor
    assert seccomp.seccomp_load(context) == 0


def main(left_out, command):
    """Become the command under the profile."""
    close(set(left_out.split(",")))
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
