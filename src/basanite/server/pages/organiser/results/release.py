"""Release: for every window, what is out, what may come next, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.plan import Window
from basanite.campaign.organising import releasing
from basanite.server.catalogue import say, sentence
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/release"
LEVELS = {
    "certification": sentence("To each PI, for certification"),
    "top": sentence("Values and ranks, to all teams"),
    "details": sentence("Breakdowns, to all teams"),
    "e2e": sentence("End-to-end values, to all teams"),
    "public": sentence("To the public"),
}


@dataclass(frozen=True)
class LevelLine:
    """One level of a window's results."""

    level: str
    title: str
    at: datetime | None
    """When it was released; None if it is still to come."""
    next: bool
    """Whether what must come before it is out."""


@dataclass(frozen=True)
class WindowCard:
    """One window with its levels."""

    id: str
    title: str
    closes: datetime
    over: bool
    levels: tuple[LevelLine, ...]


@dataclass(frozen=True)
class ReleasePage:
    """All windows."""

    title: str
    windows: tuple[WindowCard, ...]


@ROUTER.get(ADDRESS)
def release(request: Request, caller: Organiser) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = releasing.releases(session, row.id)
    out = {one.id: {each.level: each.at for each in found if each.window == one.id} for one in campaign.windows}
    ordered = sorted(campaign.windows, key=lambda one: (one.closes.utc > caller.now, -one.closes.utc.timestamp()))
    cards = tuple(_card(one, out[one.id], caller.now) for one in ordered)
    return show(request, caller, ReleasePage(say("Release of results"), cards))


def _card(window: Window, out: Mapping[str, datetime], now: datetime) -> WindowCard:
    skipped = {"certification"} if not window.certification else set()
    skipped |= {"e2e"} if "E2E" not in window.tasks else set()
    levels = tuple(_line(level, out, window) for level in LEVELS if level not in skipped)
    return WindowCard(window.id, window.title, window.closes.utc, window.closes.utc <= now, levels)


def _line(level: str, out: Mapping[str, datetime], window: Window) -> LevelLine:
    before = set(releasing.AFTER[level]) | ({"certification"} if window.certification and level == "top" else set())
    return LevelLine(level, str(say(LEVELS[level])), out.get(level), level not in out and before <= set(out))
