"""Announcements: said to everybody or to a role, shown until read, and mailed if wanted (P-34)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.people.saying import announcements
from basanite.server.catalogue import said, say, sentence
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/announcements"
SHOWN = 200
AUDIENCES = {
    "everybody": sentence("everybody"),
    "teams": sentence("all members of teams"),
    "pis": sentence("all PIs"),
    "judges": sentence("all who judge"),
    "evaluation": sentence("the evaluation team"),
    "asking": sentence("all who wait for a place or a team"),
    "rules-not-accepted": sentence("members who have not accepted the rules"),
    "without-submission": sentence("PIs whose team never submitted"),
}
LASTING = ("everybody", "teams", "pis", "judges", "evaluation")
"""Audiences that stay the same group: who was asking yesterday would not find today what was said to them."""


@dataclass(frozen=True)
class NewsLine:
    """One announcement."""

    title: str
    text: str
    audience: str
    by: str
    at: datetime


@dataclass(frozen=True)
class AnnouncingPage:
    """A form, and what was announced."""

    title: str
    news: tuple[NewsLine, ...]
    audiences: tuple[tuple[str, str], ...]
    heading: str = ""
    text: str = ""
    audience: str = "everybody"


@ROUTER.get(ADDRESS)
def announcing(request: Request, caller: Organiser) -> Response:
    """The page."""
    return show(request, caller, _asked(caller))


@ROUTER.post(ADDRESS)
def announce(request: Request, caller: Organiser, form: Filled) -> Response:
    """Say something."""
    words = {name: form.text(name) for name in ("title", "text", "audience")}

    def act(session: Session) -> None:
        mail = form.text("mail") == "yes"
        announcements.announce(session, caller.office, caller.actor, caller.here[0].id, **words, by_mail=mail)

    again = lambda: _asked(caller, *words.values())  # noqa: E731 - what was typed stays
    return done(request, caller, act, again, at(caller, "/announcements"), said("It is announced."))


def named(audience: str) -> str:
    """An audience in words."""
    return str(say(AUDIENCES.get(audience, audience)))


def _asked(caller: Caller, heading: str = "", text: str = "", audience: str = "everybody") -> AnnouncingPage:
    row, _ = caller.here
    with caller.office.reading() as session:
        found = announcements.announcements(session, row.id, caller.viewer)[:SHOWN]
        news = tuple(
            NewsLine(
                one.row.title, one.row.text, named(one.row.audience), name_of(session, caller, one.row.by), one.row.at
            )
            for one in found
        )
    choices = tuple((name, named(name)) for name in LASTING)
    return AnnouncingPage(say("Announcements"), news, choices, heading, text, audience)
