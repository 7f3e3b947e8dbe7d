"""Milestones among the windows: what happens when, who owes what, and what is overdue (P-19)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from basanite.campaign.model.plan import Campaign, Instant

State = Literal["planned", "done", "moved", "dropped"]
STATES: Final = ("planned", "done", "moved", "dropped")


@dataclass(frozen=True)
class Item:
    """One line of the calendar: a window or a milestone."""

    id: str
    title: str
    begins: Instant
    ends: Instant | None
    owner: str = ""
    deliverable: str = ""
    state: str = ""
    """Of a milestone; a window is `before`, `open` or `over`."""
    overdue: bool = False
    window: bool = False


def agenda(campaign: Campaign, now: datetime, states: Mapping[str, str] | None = None) -> tuple[Item, ...]:
    """Everything in the calendar in the order of time; a milestone is overdue if its time is past and it is planned."""
    items = [*_windows(campaign, now), *_milestones(campaign, now, states or {})]
    return tuple(sorted(items, key=lambda item: (item.begins.utc, item.window, item.id)))


def _windows(campaign: Campaign, now: datetime) -> list[Item]:
    return [
        Item(one.id, one.title, one.opens, one.closes, state=_phase(one.opens, one.closes, now), window=True)
        for one in campaign.windows
    ]


def _phase(opens: Instant, closes: Instant, now: datetime) -> str:
    return "before" if now < opens.utc else "open" if now < closes.utc else "over"


def _milestones(campaign: Campaign, now: datetime, states: Mapping[str, str]) -> list[Item]:
    found = []
    for one in campaign.milestones:
        state = states.get(one.id, "planned")
        overdue = state == "planned" and (one.ends or one.at).utc < now
        found.append(Item(one.id, one.title, one.at, one.ends, one.owner, one.deliverable, state, overdue))
    return found
