"""What another program reported of a system: named numbers, with an interval and a signature where it gave them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figure:
    """One number as it was reported, on our scale; nan where the program had none."""

    value: float
    low: float | None = None
    high: float | None = None
    signature: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.value)


@dataclass(frozen=True)
class Reported:
    """All numbers of one system, for the whole and for single units where they were printed."""

    program: str
    task: str
    primary: str
    figures: Mapping[str, Figure]
    units: int = 0
    """How many units stand behind the numbers; 0 where the program does not say."""
    system: str = ""
    unit: str = "unit"
    by_unit: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
