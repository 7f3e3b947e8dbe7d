"""How much a window lets a team learn about a sealed reference by trying, counted before anybody tries (X-23).

Every value that is shown tells a little about the labels behind it. With enough looks at one value, a team that changes
a few answers at a time reads the labels off. Looks that are bounded, and a ladder after them, keep that small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from basanite.campaign.model import windows
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.quotas import period_of
from basanite.campaign.model.redaction import DECIMALS, THREE
from basanite.problems import Problem

USUAL_LOOKS: Final = 10
"""Where a file says nothing: a prober that halves groups finds two or three of 67 relevant documents with them."""
MANY_LOOKS: Final = 50
"""From here on a bound is called none, no matter who wrote it."""


LARGEST_BETA: Final = 40.0
"""AQWV lies between -beta and 1; where a window does not say what beta is, the larger of the published ones counts."""


@dataclass(frozen=True)
class Exposure:
    """What one team may look at in one window, for one task and language."""

    window: str
    task: str
    attempts: int
    """Submissions that the quota lets through, over all tracks."""
    plain: int
    """Results that are shown as they are."""
    values: int
    """Values in each result that is shown."""
    bits_per_value: float
    """Infinite where values are not rounded."""

    @property
    def ladder_tries(self) -> int:
        """Results of which a team learns only whether they are better beyond doubt."""
        return self.attempts - self.plain

    @property
    def bits(self) -> float:
        """What all looks can tell: each value at most what rounding leaves, each try on the ladder about a yes or no.

        >>> Exposure("dev", "CLIR", attempts=20, plain=10, values=1, bits_per_value=10.0).bits
        110.0
        """
        return (self.plain * self.values * self.bits_per_value if self.plain else 0.0) + self.ladder_tries


def exposures(campaign: Campaign) -> Iterator[Exposure]:
    """Each task of each window that shows values on sealed references."""
    for window in campaign.windows:
        if windows.is_sealed(campaign, window) and not windows.is_blind(window):
            attempts = attempts_in(campaign, window)
            plain = attempts if window.ladder is None else 0
            plain = plain if window.looks is None else min(attempts, window.looks)
            for task in window.tasks:
                values = len(window.shows) or len(THREE.get(task.lower(), ("primary",)))
                yield Exposure(window.id, task, attempts, plain, values, _bits_per_value(window, task))


def _bits_per_value(window: Window, task: str) -> float:
    if window.feedback == "full":
        return math.inf
    lowest = _beta(window.settings_of(task).get("beta")) if task.lower() in THREE else 0.0
    return math.log2((1 + lowest) * 10**DECIMALS + 1)


def _beta(setting: Any) -> float:
    """The price of false alarms; a setting that is none is refused where something is scored."""
    try:
        beta = float(setting)
    except (TypeError, ValueError):
        return LARGEST_BETA
    return beta if math.isfinite(beta) and beta >= 0 else LARGEST_BETA


def attempts_in(campaign: Campaign, window: Window) -> int:
    """How many submissions of one task and language the quota of a window lets through, each track for itself."""
    periods, moment = 0, window.opens.utc
    while moment < window.closes.utc:
        periods, moment = periods + 1, period_of(window.quota.period, moment, window, campaign.zone).ends
    return window.quota.count * periods * max(len(windows.window_tracks(campaign, window)), 1)


def is_open(campaign: Campaign, exposure: Exposure) -> bool:
    """Whether a window shows values on a sealed reference without a bound that holds anybody back."""
    window = campaign.window(exposure.window)
    return (window.looks is None and window.ladder is None) or exposure.plain > MANY_LOOKS


def exposure_warnings(campaign: Campaign) -> tuple[Problem, ...]:
    """A warning for each task of a window that nothing but its quota protects."""
    found = (one for one in exposures(campaign) if is_open(campaign, one))
    return tuple(
        Problem(
            "X-23",
            "",
            None,
            None,
            f"{one.window}: a team can see {one.plain:,} results of {one.task} on a sealed reference, and only "
            "the quota keeps it from inferring labels from them",
            f"write looks = {USUAL_LOOKS}, or ladder = true",
            severity="warn",
        )
        for one in found
    )
