"""Python children of our own: one request in, files out, limits on time and memory, and a clear reason for a failure.

The request lies in `in/order.json` beside the files that it names; what the child writes to `out/` is taken over if it
ends well. The sandbox around it has no network, no other process, no environment, and nothing of the machine but the
interpreter and this package, both read-only. A child without a sandbox limits itself before it reads anything (X-8).
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import basanite
from basanite.errors import BasaniteError
from basanite.sandbox import kernel
from basanite.sandbox.box import Box, Ended, Limits

GIVEN, OUT, ORDER = Path("in"), Path("out"), "order.json"
STARTED: Final = b"started\n"
"""What is printed once everything is imported and nothing has been read: an error before it quotes no file."""
CHECKED: Final = b"checked\n"
"""What is printed once the submission has been read: whatever happens later is not the submission's fault."""
REFUSED: Final = 3
"""The exit code of a request that cannot be carried out: a setting or a reference that does not fit."""
OUT_OF_MEMORY: Final = 4
OWN_LIMITS: Final = {OUT_OF_MEMORY: "memory", -signal.SIGXCPU: "time", 128 + signal.SIGXCPU: "time"}
"""How a child ends that reaches a limit which the kernel holds for it."""
PYTHON: Final = os.path.abspath(sys.executable)  # noqa: PTH100 (links stay: they lead into the virtual environment)
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Children work side by side; libraries that take all cores for one would slow down the others."""
START_ERROR: Final = re.compile(
    r"^.*(?:No module named|ImportError|ModuleNotFoundError|SyntaxError|which is not installed|cannot be loaded).*$",
    re.MULTILINE,
)
"""How Python, and our registry of plug-ins, say that something could not be imported."""
Run = Callable[..., Ended]
"""What runs the command of a box: `run_boxed`, `run_open`, or a process that has everything loaded."""


@dataclass(frozen=True)
class Outcome:
    """How a child ended, and the folder that holds what it wrote as long as it is looked at."""

    ended: Ended
    out: Path

    @property
    def good(self) -> bool:
        """Whether it did what was asked, and all that it wrote was taken over."""
        return self.ended.good and not self.ended.refused

    @property
    def passed_checks(self) -> bool:
        """Whether the submission had been read and checked before it ended."""
        return CHECKED in self.ended.stdout

    @property
    def overran(self) -> str:
        """The limit that it hit, `time`, `memory` …, if it did."""
        if self.ended.cause not in ("", "start"):
            return self.ended.cause
        return OWN_LIMITS.get(self.ended.code, "")

    @property
    def start_error(self) -> str:
        """Why it could not start, in Python's own words: it had read no file that these could quote."""
        if self.ended.good or self.ended.cause or STARTED in self.ended.stdout:
            return ""
        found = START_ERROR.search(self.ended.stderr.decode(errors="replace"))
        return found[0].strip()[:300] if found else ""

    @property
    def fault(self) -> str:
        """What went wrong, in words that may be shown to anybody: nothing of any content is in them."""
        if self.overran:
            return f"the limit on {self.overran} was reached"
        if self.ended.cause == "start" or self.start_error:
            return "the limited process could not be started"
        if self.ended.refused:
            return "the limit on output was reached"
        if self.ended.code == REFUSED:
            return "the reference or the settings of this window cannot be used"
        return "the scoring process stopped unexpectedly"

    @property
    def reason(self) -> str:
        """For the log of the machine: a kind of error, never a text that could quote a file's content."""
        ended = self.ended
        if self.start_error:
            return f"{self.start_error}; interpreter {PYTHON}, package {Path(basanite.__file__).resolve().parent}"
        if ended.fault:
            return ended.fault
        last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"exit code {ended.code}, {last[0].split(':')[0][:100]}" if last else f"exit code {ended.code}"

    def path(self, name: str) -> Path | None:
        """The path of a file that the process wrote, or None."""
        path = self.out / name
        return path if path.is_file() else None


def make_call_folders(folder: Path) -> Path:
    """Make the folders of a call; gives the one for the request and its files."""
    for name in ("system", "in", "out", "state"):
        (folder / name).mkdir()
    return folder / "in"


def run_child(
    command: tuple[str, ...], folder: Path, request: Mapping[str, Any], limits: Limits, run: Run, *, boxed: bool
) -> Outcome:
    """Run a command on a request, in a folder whose `in/` holds the files that the request names."""
    own = {} if boxed else {"seconds": limits.seconds, "memory": limits.memory, "output": limits.output}
    (folder / "in" / ORDER).write_text(json.dumps({**request, "limits": own}), encoding="utf-8")
    system, given, out, state = (folder / name for name in ("system", "in", "out", "state"))
    box = Box(command, system, given, out, state, reads=interpreter(), limits=limits)
    return Outcome(run(box, environment=ONE_THREAD), out)


def interpreter() -> tuple[Path, ...]:
    """Where Python, its packages and this package lie."""
    places = (Path(sys.prefix), Path(sys.base_prefix), Path(basanite.__file__).resolve().parent.parent)
    return tuple(dict.fromkeys(places))


def serve_request(work: Callable[[Any], None], refuse: Callable[[BasaniteError], int]) -> int:
    """The child's side: read the request, set own limits where no sandbox does, do the work; gives the exit code."""
    request = json.loads((GIVEN / ORDER).read_bytes())
    if request["limits"]:
        confine(request["limits"])
    try:
        work(request)
    except BasaniteError as error:
        return refuse(error)
    except MemoryError:
        return OUT_OF_MEMORY
    return 0


def confine(limits: Mapping[str, Any]) -> None:
    """Limits that a process can put on itself for good: it dies with its parent and opens no socket."""
    parent = os.getppid()
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.close_filter()
    if os.getppid() != parent:
        os._exit(1)
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits["seconds"]) + 1),
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_FSIZE, limits["output"]),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
