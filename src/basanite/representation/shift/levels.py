"""The levels of the shift experiment: target rows are added first, then source rows are taken away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Level:
    """How many rows each source class and each target class has."""

    source: int
    target: int

    def rows(self, source_classes: int, target_classes: int) -> int:
        """How many rows there are in all."""
        return source_classes * self.source + target_classes * self.target

    def classes(self, source_classes: int, target_classes: int) -> int:
        """K at this level: both end points change it."""
        return (source_classes if self.source else 0) + (target_classes if self.target else 0)

    def share(self, source_classes: int, target_classes: int) -> float:
        """x: the share of target rows.

        >>> Level(50, 50).share(200, 100)
        0.3333333333333333
        """
        return target_classes * self.target / self.rows(source_classes, target_classes)


def levels_of(source: int, target: int, steps: int) -> tuple[Level, ...]:
    """The levels from nothing but source rows to nothing but target rows, about so many steps each way.

    >>> [(level.source, level.target) for level in levels_of(3, 2, 9)]
    [(3, 0), (3, 1), (3, 2), (2, 2), (1, 2), (0, 2)]
    """
    added = [Level(source, count) for count in _counts(target, steps)]
    taken = [Level(count, target) for count in reversed(_counts(source, steps)[:-1])]
    return (*added, *taken)


def _counts(most: int, steps: int) -> list[int]:
    """0, 1 and further numbers of rows up to the most, evenly spread."""
    if most <= steps:
        return list(range(most + 1))
    return [0, *sorted({round(float(count)) for count in np.linspace(1, most, max(steps, 2))})]
