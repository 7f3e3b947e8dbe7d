"""What a box is made of and how a program in it ended, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

MIB: Final = 2**20
INODES: Final = 20_000
"""Files that a program may leave."""
Mode = Literal["root", "user"]
"""How the box is closed: by root, who drops all power and takes an unused user number, or by a user namespace."""
Cause = Literal["", "time", "memory", "processes", "log", "start"]


@dataclass(frozen=True)
class Limits:
    """What a program may use at most in one call."""

    seconds: float = 600.0
    memory: int = 4096 * MIB
    """Bytes of all its processes together; what it writes lies in memory, and counts."""
    output: int = 1024 * MIB
    """Bytes that it may write in all: results, state and temporary files."""
    log: int = MIB
    """Bytes of its standard output, and as many of its standard error, that are kept."""
    processes: int = 64
    files: int = 256
    """Files that one process may have open."""
    depth: int = 8
    """Levels of folders that are taken over from what it wrote."""


@dataclass(frozen=True)
class Box:
    """One call of a program: its command, what it may read, and where its results go.

    Inside, the program stands in `/call` with `in/` (read-only), `out/` and `state/`; its own folder is `/system`.
    """

    command: Sequence[str]
    system: Path
    given: Path
    """A folder of the host that is seen as `in/`."""
    out: Path
    """A folder of the host that gets what the program left in `out/`."""
    state: Path
    """A folder of the host with the state; it gets the state back if `learns`, and is read-only otherwise."""
    learns: bool = False
    reads: Sequence[Path] = ()
    """Further folders and files, seen read-only under their own names: an interpreter, declared data."""
    limits: Limits = field(default_factory=Limits)
    processors: Sequence[int] = ()
    """The processors that it runs on and cannot leave; none means all."""

    def plain(self) -> dict[str, Any]:
        """As the launcher reads it."""
        paths = {name: str(getattr(self, name).resolve()) for name in ("system", "given", "out", "state")}
        reads = [str(path) for path in self.reads]
        limits = asdict(self.limits)
        lists = {"command": list(self.command), "reads": reads, "processors": list(self.processors)}
        return {**paths, **lists, "learns": self.learns, "limits": limits}


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, what stopped it if something did, and what it printed."""

    code: int
    cause: Cause = ""
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0
    peak: int = 0
    """The most memory in bytes: of one process as the kernel saw it, or of all together as seen from time to time."""
    refused: tuple[str, ...] = ()
    """What it left that was not taken over: links, devices, too many files."""
    fault: str = ""
    """Why the box could not be closed, if so."""

    @property
    def good(self) -> bool:
        """Whether it ended by itself and well."""
        return self.code == 0 and not self.cause
