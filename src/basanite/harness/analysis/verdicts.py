"""Verdicts on claims: superiority, and being comparable within a margin that was declared before unsealing (S-2).

Not to reject is no proof of anything. A system is *comparable* to a strong baseline only if the one-sided upper
bound of what it loses lies below the margin; it is *outperformed* if the lower bound lies above nothing. These bounds
have the confidence that the level of the tests leaves: 95 % unless the plan declares another `alpha`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from basanite.analysis.ranking import holm
from basanite.kernel import ANY, Ends, within
from basanite.reports.wording import number

State = Literal["supported", "not supported", "undecided"]
NO_MARGIN: Final = "not shown to be outperformed (the plan's wording)"
ONE_MODEL: Final = "for this one trained model"
LEVEL: Final = 0.95
"""Of two-sided intervals, whatever the level of the tests."""
ALPHA: Final = 0.05


@dataclass(frozen=True)
class Contrast:
    """Two conditions of one team, as gain: positive means that the first does better, whatever the metric."""

    claim: str
    task: str
    team: str
    first: str
    second: str
    gain: float
    error: float
    degrees: float
    kind: Literal["superior", "not inferior"]
    margin: float | None = None
    p: float = math.nan
    p_adjusted: float = math.nan
    finding: str = "inconclusive"
    state: State = "undecided"
    note: str = ""
    ends: Ends = ANY
    """The gains there can be; no interval goes beyond (S-26)."""
    alpha: float = ALPHA
    """The level of the tests, and of the one-sided bounds that stand beside their verdicts."""

    def bound(self, level: float) -> float:
        """The gain that is exceeded with this one-sided confidence: its lower bound for 0.95, its upper for 0.05."""
        from scipy.special import stdtrit  # here, because it is slow to load

        return within(self.gain - float(stdtrit(self.degrees, level)) * self.error, self.ends)

    @property
    def low(self) -> float:
        """The lower end of the two-sided 95 % interval."""
        return self.bound((1 + LEVEL) / 2)

    @property
    def high(self) -> float:
        """The upper end of the two-sided 95 % interval."""
        return self.bound((1 - LEVEL) / 2)

    @property
    def lower(self) -> float:
        """The one-sided lower bound at the level of the tests."""
        return self.bound(1 - self.alpha)

    @property
    def upper(self) -> float:
        """The one-sided upper bound at the level of the tests."""
        return self.bound(self.alpha)

    @property
    def smallest_detectable(self) -> float:
        """The gain that one test finds in 80 % of cases: from the standard error, never from what was seen."""
        from scipy.special import stdtrit

        return float(stdtrit(self.degrees, 1 - self.alpha) + stdtrit(self.degrees, 0.8)) * self.error

    @property
    def reason(self) -> str:
        """What the verdict rests on: the one-sided bound that decides, which no two-sided interval shows (S-29)."""
        sure = f"one-sided {100 * (1 - self.alpha):g} %"
        margin = self.margin if self.kind == "not inferior" else None
        line = "0" if margin is None else f"the margin {number(-margin)}"
        lower, upper = f"{sure} lower bound {number(self.lower)}", f"{sure} upper bound {number(self.upper)}"
        if self.finding == "outperformed by less than the margin":
            return f"{upper} is below 0, {lower} above {line}"
        if self.finding == "outperformed":
            return f"{upper} is below 0"
        if self.finding == NO_MARGIN:
            return f"{upper} is not below 0, and no margin was declared"
        if self.state == "supported":
            return f"{lower} is above {line}"
        if self.p <= self.alpha:
            return (
                f"{lower} is above {line}, but p {number(self.p)} becomes {number(self.p_adjusted)} for all tests here"
            )
        if margin is None:
            return f"0 lies between the {sure} bounds {number(self.lower)} and {number(self.upper)}"
        return f"{lower} is not above {line}, {upper} not below 0"


def tested(contrast: Contrast) -> Contrast:
    """The same with its one-sided p: of no gain, or of a loss as large as the margin."""
    from scipy.special import stdtr

    if contrast.kind == "not inferior" and contrast.margin is None:
        return contrast  # without a margin there is no test whose rejection makes the claim
    shift = contrast.margin or 0.0 if contrast.kind == "not inferior" else 0.0
    if contrast.error == 0:
        return replace(contrast, p=0.0 if contrast.gain + shift > 0 else 1.0)
    return replace(contrast, p=float(stdtr(contrast.degrees, -(contrast.gain + shift) / contrast.error)))


def judged(contrasts: Sequence[Contrast], *, alpha: float = ALPHA, replications: int = 1) -> list[Contrast]:
    """Every contrast with its verdict; Holm goes over the tests whose rejection makes a claim, of all teams (S-2)."""
    made = [tested(replace(one, alpha=alpha)) for one in contrasts]
    places = [place for place, one in enumerate(made) if not math.isnan(one.p)]
    adjusted = dict(zip(places, holm([made[place].p for place in places]), strict=True))
    found = [replace(one, p_adjusted=adjusted.get(place, math.nan)) for place, one in enumerate(made)]
    return [_judged(one, replications) for one in found]


def _judged(one: Contrast, replications: int) -> Contrast:
    note = "" if replications >= 3 else ONE_MODEL  # a claim about an algorithm needs three seeds (S-8)
    finding, state = _superior(one) if one.kind == "superior" else _comparable(one)
    return replace(one, finding=finding, state=state, note=note)


def _superior(one: Contrast) -> tuple[str, State]:
    if one.p_adjusted <= one.alpha:
        return "better", "supported"
    if one.upper < 0:
        return "outperformed", "not supported"
    return "inconclusive", "undecided"


def _comparable(one: Contrast) -> tuple[str, State]:
    """A gain whose upper bound is below 0 is a loss against the strong baseline: outperformed."""
    outperformed = one.upper < 0
    if one.margin is None:
        return ("outperformed", "not supported") if outperformed else (NO_MARGIN, "undecided")
    within = one.p_adjusted <= one.alpha
    if outperformed:
        # Small or not, the loss is shown, and the claim is that there is none to be shown.
        return ("outperformed by less than the margin" if within else "outperformed"), "not supported"
    return ("comparable", "supported") if within else ("inconclusive", "undecided")
