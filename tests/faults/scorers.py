"""A worker whose scorer hangs, crashes or eats the machine for some files, and scores all others as always."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.offices.machines import work

from basanite.campaign.jobs import scoring_process
from basanite.campaign.settings import Settings
from basanite.sandbox.child import PYTHON

SLOW_SECONDS: Final = 3
SLOW_MARK: Final = 424_242
"""The time stamp in the header of a compressed file that is scored slowly."""
PROGRAM: Final = """
import json, os, signal, sys, time
from pathlib import Path
from basanite.campaign.jobs.child import main
from basanite.sandbox.child import CHECKED
signal.signal(signal.SIGTERM, signal.SIG_IGN)
order = json.loads(Path("in/order.json").read_bytes())
content = Path("in", order["submission"]).read_bytes()
kind = content[:20].split(b"\\n")[0]
if kind == b"crash":
    os.abort()
if kind == b"hang":
    time.sleep(3600)
if kind == b"stuck":
    os.write(1, CHECKED)
    time.sleep(3600)
if kind == b"memory":
    held = []
    while True:
        held.append(b"x" * 2**22)
while kind == b"forks":
    os.fork()
if int.from_bytes(content[4:8], "little") == {slow}:
    time.sleep({seconds})
sys.exit(main())
"""
POISONS: Final[Mapping[str, bytes]] = {
    kind: kind.encode() + b"\nand no archive\n" for kind in ("crash", "hang", "stuck", "memory", "forks")
}
"""Files by what they make the scorer do; `stuck` hangs after the file was read."""


def slow_copy(archive: Path, out: Path) -> Path:
    """The same archive, compressed again so that it is scored slowly."""
    out.write_bytes(gzip.compress(gzip.decompress(archive.read_bytes()), mtime=SLOW_MARK))
    return out


def work_poisoned(settings: Settings) -> None:
    """Be a worker with such a scorer; it never heeds a polite request to end."""
    program = PROGRAM.replace("{slow}", str(SLOW_MARK)).replace("{seconds}", str(SLOW_SECONDS))
    scoring_process.COMMAND = (PYTHON, "-I", "-c", program)  # type: ignore[misc]
    work(settings)
