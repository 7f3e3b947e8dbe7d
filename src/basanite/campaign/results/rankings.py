"""What a stored comparison says: ranks and groups of runs, and which of them are better than a chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from basanite.analysis.packed_pairs import against
from basanite.campaign.store.tables import Board


@dataclass(frozen=True)
class Ranking:
    """What a stored comparison says of each submission."""

    ranks: Mapping[str, tuple[int, int]]
    groups: Mapping[str, int]
    detectable: tuple[float, float] | None = None
    """From which to which difference pairs of systems would show in 80 % of cases (S-30)."""
    tested: str = ""
    """The metric whose pairs were tested, where that is another one than was asked for (P-40)."""
    better: Mapping[str, Any] = field(default_factory=dict)
    """Who is significantly better than whom, packed; empty where nothing was tested."""

    def against(self, run: str) -> dict[str, int]:
        """Each other run against this one: 1 better, -1 worse, 0 not significantly different."""
        return against(self.better, run) if self.better else {}


def stored_ranking(session: Session, key: str, metric: str) -> Ranking | None:
    """The ranking by a metric of a stored comparison; without ranks where only another metric was tested."""
    row = session.get(Board, key)
    if row is None:
        return None
    found = row.ranking["rank_ranges"]
    if metric not in found and len(found) == 1:
        return Ranking({}, {}, tested=next(iter(found)))
    ranges, groups = found.get(metric, {}), row.ranking["groups"].get(metric, [])
    ends = row.ranking.get("detectable", {}).get(metric)
    return Ranking(
        {name: (int(span[0]), int(span[1])) for name, span in ranges.items()},
        {name: number for number, group in enumerate(groups, start=1) for name in group},
        None if ends is None else (float(ends[0]), float(ends[1])),
        better=row.ranking.get("better", {}).get(metric, {}),
    )
