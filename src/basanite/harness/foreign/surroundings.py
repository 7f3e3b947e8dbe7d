"""What programs of teams run in: where the plan lies, how they are boxed, what they may use, where output is kept.

A step knows its module by name alone, so that its key is the same wherever the plan lies. What the name is looked up
in belongs to the process, as `sys.path` does, and is handed on to worker processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from basanite.harness.sandbox.box import MIB, Limits

Boxing = Literal["programs", "all", "off"]
BOXING: Final[tuple[Boxing, ...]] = ("programs", "all", "off")
"""Which modules run in a box: programs; also Python modules that are not ours; or none, which is never sealed (X-5)."""


@dataclass(frozen=True)
class Surroundings:
    """The surroundings of one plan."""

    folder: Path = field(default_factory=Path)
    boxing: Boxing = "programs"
    sealed: bool = False
    limits: Limits = field(default_factory=Limits)
    training_seconds: float | None = None
    logs: Path | None = None
    """Where the output of programs is kept; on sealed data it stays there until release (X-5)."""
    digests: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Hashes of programs' folders, each made once while a plan is read or run."""

    @property
    def hosts(self) -> bool:
        """Whether strangers' Python modules run in a box too, as they always do in a sealed evaluation."""
        return self.sealed or self.boxing == "all"

    @property
    def boxed(self) -> bool:
        """Whether programs run in a box; a sealed evaluation never goes without."""
        return self.sealed or self.boxing != "off"


_current: list[Surroundings] = [Surroundings()]


def surroundings() -> Surroundings:
    """Those of this process."""
    return _current[0]


def enter(found: Surroundings) -> None:
    """Set those of this process: called when a plan is read, and once in every worker."""
    _current[0] = found


def planned(folder: Path, limits: Mapping[str, Any], *, sealed: bool, logs: Path | None = None) -> Surroundings:
    """The surroundings that a plan's table of limits asks for.

    >>> planned(Path(), {"memory_gib": 0.5}, sealed=True).limits.memory
    536870912
    """
    plain = Limits()
    used = Limits(
        seconds=float(limits.get("step_seconds", plain.seconds)),
        memory=int(float(limits.get("memory_gib", plain.memory / 2**30)) * 2**30),
        output=int(float(limits.get("output_mib", plain.output / MIB)) * MIB),
        processes=int(limits.get("processes", plain.processes)),
    )
    boxing: Boxing = limits.get("sandbox", "programs")
    return Surroundings(folder, boxing, sealed, used, limits.get("training_seconds"), logs)
