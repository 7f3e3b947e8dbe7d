"""Whether a new version is not worse than a baseline by a margin or more: the rule of non-inferiority (S-2).

A loss is what the baseline is better by, in the sense of the metric. It is shown to be below the margin if its
one-sided 95% upper bound is. That no difference is significant shows nothing: small test sets never show one. Several
margins, one for each metric, need no adjustment, because all of them must hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

from basanite.analysis.comparison import check_comparable
from basanite.analysis.interval_methods import student_quantile
from basanite.analysis.paired import differences, enter
from basanite.analysis.power import Goal, enough
from basanite.analysis.results import Analysis, Design, Difference
from basanite.errors import SettingError
from basanite.kernel import Metric

Verdict = Literal["passed", "worse", "undecided"]
POWER = 0.8
"""In this share of cases the number of units that is advised would decide."""


@dataclass(frozen=True)
class Margin:
    """How one metric of a new version stands to its baseline and to the margin."""

    metric: Metric
    margin: float
    baseline: float
    now: float
    loss: float
    """How much better the baseline is; below 0 where the new version is better."""
    low: float | None
    high: float | None
    """The one-sided bounds of the loss, each at the level of the gate; None where there are none."""
    units: int
    unit: str
    reason: str = ""
    """Why there are no bounds."""
    units_needed: int | None = None
    """How many units would decide in 80% of cases, if the true loss is the observed one."""

    @property
    def verdict(self) -> Verdict:
        """Passed if the loss is shown to be below the margin; worse if one is shown and the margin is not met."""
        if self.high is not None and self.high < self.margin:
            return "passed"
        return "worse" if self.low is not None and self.low > 0 else "undecided"


@dataclass(frozen=True)
class Gate:
    """What became of a gate: each metric with its margin."""

    task: str
    baseline: str
    now: str
    margins: tuple[Margin, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """Passed only if every metric is."""
        verdicts = {one.verdict for one in self.margins}
        return "worse" if "worse" in verdicts else "undecided" if "undecided" in verdicts else "passed"


def one_sided(design: Design) -> Design:
    """The design whose two-sided intervals have the one-sided bounds of a level as their ends."""
    return replace(design, level=2 * design.level - 1)


def gate(baseline: Analysis, now: Analysis, margins: Mapping[str, float], design: Design) -> Gate:
    """Decide by the one-sided bounds of the loss, at the level of the design (0.95)."""
    if design.level <= 0.5:
        raise SettingError(f"level={design.level:g} cannot be used for a gate: it must be above 0.5.")
    check_comparable([baseline, now])
    found = tuple(_margin(baseline, now, name, margin, design) for name, margin in margins.items())
    notes = tuple(note for note in baseline.notes if note in now.notes)
    systems = baseline.scores.system, now.scores.system
    return Gate(baseline.scores.task, *systems, found, design.level, notes)


def _margin(baseline: Analysis, now: Analysis, name: str, margin: float, design: Design) -> Margin:
    if any(name not in one.values for one in (baseline, now)):
        raise SettingError(f"{name} has no overall value in both, so it cannot be used for a gate.")
    metric = baseline.scores.metric(name)
    if metric.best == "none":
        raise SettingError(f"Neither high nor low values of {name} are better, so it cannot be used for a gate.")
    systems = [(one.scores.system, one.scores.tables[name], (metric,)) for one in (baseline, now)]
    pair = enter(systems, one_sided(design))
    first, second = sorted(pair, key=lambda entry: entry.system != baseline.scores.system)
    (found,) = differences([(first, second)], draws=1, design=one_sided(design))
    sign = 1 if metric.best == "high" else -1
    low, high = _bounds(found, sign)
    loss = sign * found.difference
    answer = enough([first, second], Goal(level=design.level))
    needed = None if answer is None else _units_needed(answer.spread.variance, loss, margin, design.level)
    return Margin(
        metric,
        margin,
        baseline.values[name].value,
        now.values[name].value,
        loss + 0.0,
        low,
        high,
        first.portion.size,
        first.table.drawn_unit,
        found.note if low is None else "",
        needed,
    )


def _bounds(found: Difference, sign: int) -> tuple[float | None, float | None]:
    """The bounds of the loss; two systems that are the same on every unit have none to lose."""
    if found.verdict == "identical":
        return 0.0, 0.0
    if found.low is None or found.high is None:
        return None, None
    return (found.low, found.high) if sign > 0 else (-found.high, -found.low)


def _units_needed(variance: float, loss: float, margin: float, level: float) -> int | None:
    """The units of a one-sided test that a loss is below the margin (Julious 2004), if it is."""
    room = margin - loss
    if not math.isfinite(room) or room <= 0 or variance <= 0:
        return None
    steps = NormalDist().inv_cdf(level) + NormalDist().inv_cdf(POWER)
    units = variance * (steps / room) ** 2
    if not math.isfinite(units):
        return None
    freedom = max(int(units), 10)  # the tails of t are longer than those of the normal distribution
    return math.ceil(units * (student_quantile(level, freedom) / NormalDist().inv_cdf(level)) ** 2)
