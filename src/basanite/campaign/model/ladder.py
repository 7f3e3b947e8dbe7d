"""The ladder: a new value is shown only if it is better by more than chance and many tries explain (S-17).

The step is a number of standard errors of the paired difference, fixed in the campaign's file. It grows with the
number of tries like the largest of that many draws does, so trying often does not pay. See Blum & Hardt (2015).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

USUAL_ERRORS: Final = 2.0
"""Standard errors of the difference, where a file says nothing."""
NORMAL_95: Final = 1.959963984540054


@dataclass(frozen=True)
class Rung:
    """Where a team stands on the ladder: the one number it sees, and the step that number is rounded to."""

    value: float | None
    step: float
    moved: bool = True
    """Whether the newest run changed it."""


def standard_error(low: float | None, high: float | None) -> float:
    """The standard error behind an interval; not a number where there is none.

    >>> round(standard_error(0.4, 0.6), 3), standard_error(None, None)
    (0.051, nan)
    """
    return math.nan if low is None or high is None else (high - low) / (2 * NORMAL_95)


def step(standard_error: float, tries: int, errors: float = USUAL_ERRORS) -> float:
    """How much better a run must be: some standard errors of the difference, more after many tries.

    >>> step(0.01, 1), round(step(0.01, 100), 4)
    (0.02, 0.0474)
    """
    return errors * standard_error * math.sqrt(1 + math.log(max(tries, 1)))


def climb(
    before: Rung | None, value: float, *, gain: float, standard_error: float, tries: int, errors: float = USUAL_ERRORS
) -> Rung:
    """The rung after a new run: moved if its paired gain over the run that is shown exceeds the step.

    `gain` is the new value less the shown run's true value, with the sign turned where lower is better.

    >>> first = climb(None, 0.333, gain=0.0, standard_error=0.01, tries=1)
    >>> climb(first, 0.340, gain=0.007, standard_error=0.01, tries=2).value == first.value
    True
    """
    if not math.isfinite(value) or not math.isfinite(standard_error):
        return Rung(before.value if before else None, before.step if before else 0.0, moved=False)
    size = step(standard_error, tries, errors)
    if before is None or before.value is None:
        return Rung(on_step(value, size), size)
    if not math.isfinite(gain) or gain <= size:
        return Rung(before.value, before.step, moved=False)
    return Rung(on_step(value, size), size)


def on_step(value: float, size: float) -> float:
    """A value rounded to whole steps.

    >>> on_step(0.333, 0.02)
    0.34
    """
    return round(round(value / size) * size, 10) + 0.0 if size > 0 else round(value, 3) + 0.0
