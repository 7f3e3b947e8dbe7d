"""What the comparison behind a board costs by how many systems stand on it: its pairs grow with their square.

The command is the one that the job of a board runs in its child, without the box around it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SYSTEMS, FEW = (20, 40, 80, 160), (4, 8)


def comparing(counts):
    """CPU seconds, peak memory and bytes written for each number of systems."""
    from basanite.testing import small_pack

    with tempfile.TemporaryDirectory(prefix="basanite-comparing-") as name:
        home = Path(name)
        pack = small_pack(home / "pack")
        return [_compared(home, pack, count) for count in counts]


def _compared(home, pack, count):
    """One comparison, half of the systems perfect and half of them silent."""
    written = home / "comparison.json"
    kinds = (pack.perfect, pack.silent)
    systems = [f"--submission=s{number}={kinds[number % 2]}" for number in range(count)]
    command = [sys.executable, "-m", "basanite", "compare", "clir", *systems, "--reference", str(pack.key), "--json"]
    with written.open("wb") as file:
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL)
        _, code, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    if child.returncode:
        raise SystemExit(f"comparing {count} systems ended with {child.returncode}")
    spent = used.ru_utime + used.ru_stime
    return {"systems": count, "cpu": spent, "memory": used.ru_maxrss * 1024, "bytes": written.stat().st_size}
