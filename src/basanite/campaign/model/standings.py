"""How a submission stands (P-23), which of a team's runs speaks for it (M78), and who is left out of a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from basanite.campaign.model.plan import Window

Standing = Literal["on time", "late", "withdrawn", "disqualified", "baseline"]
STANDINGS: Final = ("on time", "late", "withdrawn", "disqualified", "baseline")


def standing(window: Window, started: datetime, received: datetime) -> Standing:
    """On time if it was whole before the window closed, or began before and took no longer than the grace (X-2)."""
    if received < window.closes.utc:
        return "on time"
    in_time = started < window.closes.utc and received - started <= window.transfer_grace
    return "on time" if in_time else "late"


@dataclass(frozen=True)
class Run:
    """A submission as boards look at it."""

    id: str
    team: str
    type: str
    task: str
    state: str = "scored"
    standing: str = "on time"
    admitted: bool = False
    described: bool = True

    @property
    def is_ranked(self) -> bool:
        """Whether it may stand in ranks, groups and test families (P-23)."""
        return self.standing == "on time" or (self.standing == "late" and self.admitted)


@dataclass(frozen=True)
class Compared:
    """Who is compared, the baselines beside them, and how many are neither, by reason."""

    runs: tuple[Run, ...]
    baselines: tuple[Run, ...]
    """Shown and marked, outside of ranks, groups and test families (P-23)."""
    left_out: Mapping[str, int]


def compared_runs(runs: Iterable[Run], teams: Iterable[str] = ()) -> Compared:
    """The primaries that stand beside each other; who has none, or is late or withdrawn, is counted by reason."""
    kept: list[Run] = []
    baselines: list[Run] = []
    reasons = Counter[str]()
    every = tuple(runs)
    for run in every:
        reason = _why_not(run)
        if reason == "":
            (baselines if run.standing == "baseline" else kept).append(run)
        elif reason != "contrastive":
            reasons[reason] += 1
    having = {run.team for run in every if _speaks(run)}
    reasons["no primary"] += len(set(teams) - having)
    return Compared(
        tuple(kept), tuple(baselines), {reason: count for reason, count in sorted(reasons.items()) if count}
    )


def _speaks(run: Run) -> bool:
    return run.type == "primary" or run.standing == "baseline"


def _why_not(run: Run) -> str:
    """Why a run is not on the board; "" if it is."""
    if not _speaks(run):
        return "contrastive"
    if not run.is_ranked and run.standing != "baseline":
        return run.standing
    if run.state != "scored":
        return "not scored"
    return "" if run.described else "description incomplete"
