"""What a program is promised, what it may use, and what a runner must be able to do (G-1, G-3).

A program is a folder with an executable file `run`. It is called without arguments in a folder of its own with `in/`
(read-only) and `out/` (to be written); how it ended says whether it did its work. Nothing else is promised: no network,
no other files than the system's own, no memory of earlier calls.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from basanite.errors import BasaniteError
from basanite.sandbox.box import MIB, Ended, Limits
from basanite.sandbox.conversation import Talk

__all__ = ["DEEPEST", "ENTRY", "FORMAT", "LOG", "MIB", "Call", "Resources", "Runner", "UnusableRunnerError"]

ENTRY: Final = "run"
FORMAT: Final = "basanite-program/1"
LOG: Final = 64 * 2**10
"""Bytes of each stream that a program prints which are kept."""
DEEPEST: Final = 24
"""Levels of folders in a program's archive."""


@dataclass(frozen=True)
class Resources:
    """What one call of a program may use at most; the runner holds it to that."""

    seconds: float
    cores: int = 1
    memory: int = 2 * 2**30
    gpus: int = 0
    output: int = 16 * MIB

    @property
    def limits(self) -> Limits:
        """The same for a sandbox."""
        return Limits(self.seconds, self.memory, self.output, LOG, processes=64 * self.cores, files=1024)


@dataclass(frozen=True)
class Call:
    """One call: the folder of the program, the folder of its inputs, and an empty one for what it writes."""

    program: Path
    given: Path
    out: Path
    resources: Resources
    reads: tuple[Path, ...] = ()
    """Folders of the machine that programs may read besides the system's own: interpreters, libraries."""


class UnusableRunnerError(BasaniteError):
    """The runner that a window names cannot run programs here: our fault, never a team's."""


class Runner(Protocol):
    """What runs programs; registered in the group `basanite.runners`."""

    name: str
    summary: str
    takes: str
    """What a team submits: `archive` (a folder with `run`) or `image` (an OCI image archive)."""

    def fault(self, resources: Resources) -> str:
        """Why programs with these resources cannot be run here; nothing if they can."""

    def run(self, call: Call) -> Ended:
        """Run a program once; what it left in `out/` is taken over if it ended well."""

    def talk(self, call: Call) -> AbstractContextManager[Talk]:
        """Start a program and ask it line by line (G-5)."""
