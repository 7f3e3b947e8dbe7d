"""How many units are enough, what difference the present ones can show, and what more judges would change (S-30).

Everything rests on the variance of one drawn unit, which the bootstrap gives for any metric: its variance times the
number of units drawn, whole clusters where there are any. Numbers of units are those of the paired test with Guenther's
correction for a variance that is estimated (The American Statistician 35, 1981); it agrees with the noncentral t
distribution to a unit or two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import NormalDist

import numpy as np

from basanite.analysis.intervals import FEWEST_UNITS, MOST_UNDEFINED, jackknife
from basanite.analysis.paired import Entry, check_same_units, enter
from basanite.analysis.resampling import estimate, portion_of
from basanite.analysis.results import Analysis, Design
from basanite.errors import SettingError
from basanite.kernel import Rows

PANEL_SIZES = (1, 2, 3, 5, 7, 10)
"""The numbers of judges for which the units needed are listed."""
LEAST_LEFT = 3
"""With fewer units left after the correction it is more than a few percent off."""
NEGLIGIBLE = 1e-12
"""A spread below this share of the value is rounding, not variance."""


@dataclass(frozen=True)
class Goal:
    """What is wanted, fixed before looking: the level of the test and of the interval, and how surely it is shown."""

    alpha: float = 0.05
    """Two-sided, and already divided by the number of comparisons."""
    power: float = 0.8
    level: float = 0.95
    difference: float | None = None
    half_width: float | None = None

    def __post_init__(self) -> None:
        for name in ("alpha", "power", "level"):
            if not 0 < getattr(self, name) < 1:
                raise SettingError(f"{name}={getattr(self, name)} cannot be used: it must lie between 0 and 1.")
        for name in ("difference", "half_width"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise SettingError(f"{name}={value} cannot be used: it must be a number above 0.")
        if self.steps[1] <= 0:
            raise SettingError(
                f"power={self.power} cannot be used with alpha={self.alpha:g}: it must be above {self.alpha / 2:g}, "
                "half of alpha, which the test reaches where there is no difference."
            )

    @property
    def steps(self) -> tuple[float, float]:
        """The two normal quantiles of the test: that of alpha, and its sum with that of the power."""
        critical = -NormalDist().inv_cdf(self.alpha / 2)
        return critical, critical + NormalDist().inv_cdf(self.power)

    @property
    def width(self) -> float:
        """The normal quantile of the interval."""
        return -NormalDist().inv_cdf((1 - self.level) / 2)


@dataclass(frozen=True)
class Spread:
    """The variance of one unit as it is judged now, and how much of it one judge alone would add."""

    variance: float
    judge_variance: float | None = None
    judges: float = 1.0
    """How many judges a unit has now."""

    def __post_init__(self) -> None:
        for name in ("variance", "judge_variance", "judges"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise SettingError(f"{name}={value} cannot be used: it must be a number of 0 or more.")
        if self.judges < 1:
            raise SettingError(f"judges={self.judges} cannot be used: a unit has at least one judge.")

    @property
    def unit_variance(self) -> float:
        """What is left with any number of judges; never below 0, which an estimate can fall to."""
        return max(self.variance - (self.judge_variance or 0.0) / self.judges, 0.0)


@dataclass(frozen=True)
class Enough:
    """One value, or one difference of two systems, with what its units can show and how many would be enough."""

    spread: Spread
    goal: Goal = field(default_factory=Goal)
    units: int | None = None
    """How many were drawn, if any were observed."""
    unit: str = "unit"
    metric: str = ""
    systems: tuple[str, ...] = ()
    value: float | None = None
    fewest: int = FEWEST_UNITS
    """The units from which the metric has an interval (S-13, S-25)."""

    @property
    def is_known(self) -> bool:
        """Whether the units vary at all; otherwise nothing follows from them."""
        return self.spread.variance > _square(NEGLIGIBLE * (self.value or 0.0))

    @property
    def target(self) -> float | None:
        """The difference to be shown: the one asked for, or the one observed between two systems."""
        if self.goal.difference is not None:
            return self.goal.difference
        return abs(self.value) if len(self.systems) == 2 and self.value else None

    @property
    def sides(self) -> int:
        """How many systems add their variance: a lone one is compared with another that varies as much, unpaired."""
        return 2 if len(self.systems) == 1 else 1

    @property
    def detectable(self) -> float | None:
        """The smallest difference that these units show with the power asked for; None where they are too few."""
        critical, step = self.goal.steps
        left = (self.units or 0) - critical**2 / 2
        return (
            step * math.sqrt(self.sides * self.spread.variance / left) if left > LEAST_LEFT and self.is_known else None
        )

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval that these units give; None where there are too few."""
        left = self._left_for_width
        return self.goal.width * math.sqrt(self.spread.variance / left) if left > LEAST_LEFT and self.is_known else None

    def units_for_difference(self, judges: float | None = None) -> int | None:
        """How many units show the wanted difference, each judged as now or by this number of judges."""
        if self.target is None or not self.is_known:
            return None
        critical, step = self.goal.steps
        return self._whole(self.sides * self._variance(judges) * _square(step / self.target) + critical**2 / 2)

    def units_for_half_width(self, judges: float | None = None) -> int | None:
        """How many units give an interval of the half-width asked for."""
        if self.goal.half_width is None or not self.is_known:
            return None
        width = self.goal.width
        return self._whole(self._variance(judges) * _square(width / self.goal.half_width) + (width**2 + 1) / 2)

    @property
    def judges_for_difference(self) -> int | None:
        """How many judges a unit show the wanted difference on the units there are; None if no number of them does."""
        critical, step = self.goal.steps
        left = (self.units or 0) - critical**2 / 2
        return None if self.target is None else self._judges(left * _square(self.target / step) / self.sides)

    @property
    def judges_for_half_width(self) -> int | None:
        """How many judges a unit give the half-width on the units there are; None if no number of them does."""
        if self.goal.half_width is None:
            return None
        return self._judges(self._left_for_width * _square(self.goal.half_width / self.goal.width))

    @property
    def _left_for_width(self) -> float:
        """The units there are after the correction of the interval; none where they are too few for any."""
        units = self.units or 0
        return units - (self.goal.width**2 + 1) / 2 if units >= self.fewest else 0.0

    def _variance(self, judges: float | None) -> float:
        """The variance of a unit that has this number of judges."""
        spread = self.spread
        if judges is None or spread.judge_variance is None:
            return spread.variance
        return spread.unit_variance + spread.judge_variance / judges

    def _judges(self, allowed: float) -> int | None:
        """How many judges bring the variance of a unit down to what is allowed."""
        left = allowed - self.spread.unit_variance
        if self.spread.judge_variance is None or left <= 0:
            return None
        judges = self.spread.judge_variance / left
        return max(math.ceil(judges), 1) if math.isfinite(judges) else None

    def _whole(self, units: float) -> int | None:
        """A number of units, never fewer than an interval needs."""
        return max(math.ceil(units), self.fewest) if math.isfinite(units) else None


def enough(entries: Sequence[Entry], goal: Goal) -> Enough | None:
    """What the rows of one system, or of two on the same units, can show; None where no variance is defined."""
    first, things = entries[0], entries[0].portion.size
    with np.errstate(invalid="ignore"):
        draws = first.draws if len(entries) == 1 else first.draws - entries[1].draws
        value = first.value if len(entries) == 1 else first.value - entries[1].value
    defined = draws[np.isfinite(draws)]
    undefined = draws.size - defined.size
    if min(things, defined.size) < 2 or not math.isfinite(value) or undefined > MOST_UNDEFINED * draws.size:
        return None
    # A draw of n units varies by (n-1)/n of what another n units would.
    variance = float(defined.var(ddof=1)) * things * things / (things - 1)
    spread = _with_judges(entries, variance)
    systems = tuple(entry.system for entry in entries)
    fewest = max(FEWEST_UNITS, first.metric.fewest)
    return Enough(spread, goal, things, first.table.drawn_unit, first.metric.name, systems, value, fewest)


def enough_of(analyses: Sequence[Analysis], metrics: Sequence[str], goal: Goal, design: Design) -> list[Enough]:
    """What the rows of one system, or of every pair of several, can show on each metric."""
    systems = [
        (analysis.scores.system, analysis.scores.tables[name], (analysis.scores.metric(name),))
        for name in metrics
        for analysis in analyses
    ]
    entries = enter(systems, design)
    by_metric = [[entry for entry in entries if entry.metric.name == name] for name in metrics]
    order = [analysis.scores.system for analysis in analyses]
    found = []
    for family in by_metric:
        family.sort(key=lambda entry: order.index(entry.system))
        groups = [(entry,) for entry in family] if len(family) == 1 else list(combinations(family, 2))
        for group in groups:
            if len(group) == 2:
                check_same_units(*group)
            found.append(enough(group, goal))
    return [one for one in found if one is not None]


def _with_judges(entries: Sequence[Entry], variance: float) -> Spread:
    """The variance with the part of it that one judge alone adds, where units have several judges."""
    panels = [entry.table.judged for entry in entries]
    if any(panel is None or panel.judges < 2 for panel in panels) or entries[0].metric.compute is not None:
        return Spread(variance)
    single = np.stack([_single_judges(entry) for entry in entries])
    shares = single[0] if len(single) == 1 else single[0] - single[1]
    judges = float(np.mean([panel.judges for panel in panels if panel is not None]))
    alone = float(shares.var(axis=0, ddof=1).mean())
    return Spread(variance, alone, judges) if alone > 0 else Spread(variance)


def _single_judges(entry: Entry) -> Rows:
    """`[judges, drawn units]`: each unit's share of the value (its pseudo-value) as two single judges would have it."""
    assert entry.table.judged is not None, "requested by the caller"
    portions = [portion_of(entry.frame, rows) for rows in entry.table.judged.rows()]
    found = []
    for portion in portions:
        things = portion.size
        found.append(things * estimate(entry.metric, portion) - (things - 1) * jackknife(entry.metric, portion))
    return np.nan_to_num(np.stack(found))


def _square(number: float) -> float:
    """The square; infinite where it is too large, which ** refuses."""
    return number * number
