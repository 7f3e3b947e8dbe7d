"""News of the organisers; what somebody has read is remembered (P-34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.people.saying import announcements as saying
from basanite.server.catalogue import say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/campaigns/{slug}/announcements"
SHOWN = 200


@dataclass(frozen=True)
class News:
    """One announcement."""

    id: str
    title: str
    text: str
    at: datetime
    read: bool


@dataclass(frozen=True)
class AnnouncementsPage:
    """All news, the newest first."""

    title: str
    news: tuple[News, ...]
    unread: int
    reader: bool
    older: int = 0
    """How many are not listed any more."""


@ROUTER.get(ADDRESS)
def announcements(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        found = saying.announcements(session, row.id, caller.viewer)
    reader = caller.viewer.person is not None
    news = tuple(News(one.row.id, one.row.title, one.row.text, one.row.at, one.read or not reader) for one in found)
    unread = sum(not one.read for one in news)
    return show(
        request, caller, AnnouncementsPage(say("News"), news[:SHOWN], unread, reader, max(len(news) - SHOWN, 0))
    )


@ROUTER.post(f"{ADDRESS}/read")
def mark_read(request: Request, caller: Annotated[Caller, allow("user")], form: Filled) -> Response:
    """Remember that all were read."""
    row, _ = caller.here
    with caller.office.writing() as session:
        for one in saying.announcements(session, row.id, caller.viewer):
            if not one.read:
                saying.mark_read(session, caller.office, caller.viewer, one.row.id)
    return go(caller, ADDRESS.format(slug=row.slug))
