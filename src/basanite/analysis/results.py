"""What an analysis ends in: values with intervals, differences with verdicts, systems in groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field

from basanite.analysis.reasons import Reason
from basanite.kernel import NOISE, Scores


def without_noise(number: float | None, scale: float) -> float | None:
    """The number, or exactly 0 if it is only rounding noise on this scale.

    >>> without_noise(2e-16, 1.0), without_noise(2e-16, 1e-10), without_noise(None, 1.0)
    (0.0, 2e-16, None)
    """
    return 0.0 if number is not None and abs(number) <= NOISE * scale else number


def _clear_noise(result: object, *names: str) -> None:
    """Set what is noise beside the largest of these fields to 0; infinite ones give no scale."""
    numbers = {name: getattr(result, name) for name in names}
    scale = max((abs(number) for number in numbers.values() if number is not None and math.isfinite(number)), default=0)
    for name, number in numbers.items():
        object.__setattr__(result, name, without_noise(number, scale))


@dataclass(frozen=True)
class Value:
    """A number that is never naked: its interval, how many units stand behind it, and what must be said of it.

    `value` is nan where it is undefined; `low` and `high` are None where no interval can be stood behind, and a flag
    says why.
    """

    value: float
    low: float | None
    high: float | None
    units: int
    undefined: int = 0
    flags: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    signature: str = ""
    """How exactly it was computed: variant, tokeniser, smoothing, case, references (T-10)."""
    method: str = ""
    """How its interval was made, where it has one (S-25)."""

    def __post_init__(self) -> None:
        """Write rounding noise as 0, in the value and in both ends of its interval."""
        _clear_noise(self, "value", "low", "high")


Breakdowns = Mapping[str, Mapping[str, Mapping[str, Value]]]


@dataclass(frozen=True)
class Design:
    """How to analyse, fixed before looking: draws, seed, level and interval method."""

    draws: int = 1000
    seed: int = 0
    level: float = 0.95
    interval: str = "metric"
    """`metric` leaves the method to the definition of each metric (S-25)."""
    test_draws: int = 10_000
    alpha: float = 0.05
    adjustment: str = "holm"
    cluster: str = ""
    """The column whose levels are resampled whole; "" leaves it to the task, "none" takes units as independent."""
    executor: Executor | None = field(default=None, compare=False, repr=False)
    """Who computes draws of metrics that are no function of sums; it changes no number (P-16)."""


@dataclass(frozen=True)
class Analysis:
    """Everything known about one system on one task."""

    scores: Scores
    values: Mapping[str, Value]
    breakdowns: Breakdowns
    design: Design
    signature: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """Two systems on one metric: `difference` is first minus second."""

    metric: str
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    verdict: str
    """`first`, `second` (the better one), `no difference shown`, `undecided`, `identical`, `undefined`; `different`
    where neither direction is better."""
    note: str = ""
    moved: tuple[tuple[str, float], ...] = ()
    """The units that moved most, with their share of the difference, largest first."""
    flags: tuple[str, ...] = ()
    """What must be said of the interval, or why there is none."""
    reasons: tuple[Reason, ...] = ()
    """Why the verdict is what it is, where p and interval alone do not say it; `note` has them in words (S-29)."""
    dominant: str = ""
    """The one unit that more than 20 % of the squared differences come from, if there is one (S-12)."""
    dominant_share: float = 0.0
    """The share of the squared differences that comes from it."""
    swapped: tuple[int, int, str] = (0, 0, "units")
    """How many units (or clusters) differ, of how many, and what they are."""
    smallest_p: float = 0.0
    """The smallest p that this test could have given, before adjustment (S-1)."""
    detectable: float | None = None
    """The smallest difference that these units show in 80 % of cases, after adjustment (S-30)."""
    units_needed: int | None = None
    """How many units would show a difference as large as the observed one in 80 % of cases (S-30)."""
    method: str = ""
    """How its interval was made, where it has one (S-25)."""

    def __post_init__(self) -> None:
        """Write rounding noise as 0, in the difference and in both ends of its interval."""
        _clear_noise(self, "difference", "low", "high")


@dataclass(frozen=True)
class Ranking:
    """Systems on one metric: clusters with clean cuts between them, rank ranges, and who may be as good as the best."""

    metric: str
    order: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    rank_ranges: Mapping[str, tuple[int, int]]
    not_worse_than_best: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two or more systems on one task, with the family of tests stated."""

    task: str
    systems: tuple[str, ...]
    analyses: Mapping[str, Analysis]
    differences: tuple[Difference, ...]
    rankings: Mapping[str, Ranking]
    family_size: int
    draws: int
    notes: tuple[str, ...] = ()
