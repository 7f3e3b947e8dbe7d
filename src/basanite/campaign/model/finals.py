"""What counts toward a final value: open queries never do (M20).

Which queries are open is told to scoring as a factor of the queries. The values of its level `closed` are computed by
the same code as all others, over the closed queries alone, so the final value needs no second way of scoring.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from basanite.campaign.model.plan import Campaign, Window

FACTOR: Final = "openness"
OPEN: Final = "open"
CLOSED: Final = "closed"


def open_sets(campaign: Campaign, window: Window) -> tuple[str, ...]:
    """The query sets of a window that never count."""
    return tuple(one.id for one in campaign.querysets if one.open and one.id in window.querysets)


def closed_sets(campaign: Campaign, window: Window) -> tuple[str, ...]:
    """The query sets of a window that count."""
    return tuple(name for name in window.querysets if name not in open_sets(campaign, window))


def has_final_value(campaign: Campaign, window: Window) -> bool:
    """Whether anything in a window can count toward a final value."""
    return bool(closed_sets(campaign, window)) or not window.querysets


def openness_table(queries: Iterable[str], opened: Collection[str]) -> str:
    """Metadata for scoring: every query with `open` or `closed`.

    >>> openness_table(["q1", "q2"], {"q2"})
    'query\\topenness\\nq1\\tclosed\\nq2\\topen\\n'
    """
    rows = [f"{query}\t{OPEN if query in opened else CLOSED}\n" for query in queries]
    return f"query\t{FACTOR}\n{''.join(rows)}"


def final_result(result: Mapping[str, Any], campaign: Campaign, window: Window) -> dict[str, Any] | None:
    """A result as it counts: over the closed queries alone; None if none of its queries counts (M20).

    Breakdowns are left out where open queries would be among them.
    """
    if not open_sets(campaign, window):
        return dict(result)
    closed = (result.get("breakdowns") or {}).get(FACTOR, {}).get(CLOSED)
    if not closed or not closed_sets(campaign, window):
        return None
    note = "Open queries are left out: they never count toward a final value (M20)."
    return {**result, "values": closed, "breakdowns": {}, "notes": [*(result.get("notes") or ()), note]}
