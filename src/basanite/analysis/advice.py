"""Would other decisions have been better? Each policy against what was submitted, unit by unit (S-15).

A policy's rows must come from units that had no part in fitting it. Its gain has a paired interval; where that holds 0,
or the paired test leaves doubt, the advice is to keep what was submitted. With several policies the intervals hold
together (Bonferroni), because the best of several is easily the luckiest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from basanite.analysis.intervals import check_design
from basanite.analysis.paired import differences, enter, give_verdict
from basanite.analysis.results import Design, Difference
from basanite.kernel import Metric, UnitRows

KEEP = "keep"


@dataclass(frozen=True)
class Policy:
    """One way to decide: what it would have given on units that did not choose it, and what it would do from now on."""

    name: str
    summary: str
    table: UnitRows
    by_unit: NDArray[np.float64] = field(repr=False)
    """The threshold that decided each unit (infinite: nothing was returned)."""
    from_now_on: Mapping[str, float] = field(default_factory=dict)
    """What to use next time, fitted on all units."""
    curve: Sequence[tuple[float, float]] = ()
    """Points of confidence and probability, where the policy turns the one into the other."""


@dataclass(frozen=True)
class Gain:
    """What a policy would have given, and how much more than what was submitted."""

    policy: Policy
    value: float
    difference: Difference

    @property
    def clear(self) -> bool:
        """Whether the policy is shown better: its interval excludes 0 and nothing else leaves doubt."""
        low = self.difference.low
        return low is not None and low > 0 and self.difference.verdict == "first"


@dataclass(frozen=True)
class Advice:
    """Which policy to follow, and everything that says so."""

    task: str
    system: str
    metric: Metric
    submitted: float
    threshold: float | None
    """The one threshold that made the submitted decisions, if one did."""
    gains: tuple[Gain, ...]
    optimistic: Mapping[str, float]
    """Maxima over thresholds, which use the reference and which no policy can promise (S-14)."""
    design: Design
    settings: Mapping[str, Any]
    digests: Mapping[str, str]
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Gain | None:
        """The policy with the largest clear gain; none means: keep."""
        return max(
            (gain for gain in self.gains if gain.clear), key=lambda gain: gain.difference.difference, default=None
        )

    @property
    def advice(self) -> str:
        """The name of the policy to follow."""
        return KEEP if self.best is None else self.best.policy.name


def gains(metric: Metric, submitted: UnitRows, policies: Sequence[Policy], design: Design) -> tuple[Gain, ...]:
    """The gain of every policy over the submitted decisions; the intervals hold together at the design's level."""
    check_design(design)
    family = max(len(policies), 1)
    joint = replace(design, level=1 - (1 - design.level) / family, alpha=design.alpha / family)
    systems = [(KEEP, submitted), *((policy.name, policy.table) for policy in policies)]
    kept, *others = enter([(name, table, (metric,)) for name, table in systems], joint)
    found = differences([(other, kept) for other in others], draws=family * joint.test_draws, design=joint)
    verdicts = [give_verdict(one, metric, alpha=joint.alpha) for one in found]
    return tuple(
        Gain(policy, entry.value, verdict) for policy, entry, verdict in zip(policies, others, verdicts, strict=True)
    )
