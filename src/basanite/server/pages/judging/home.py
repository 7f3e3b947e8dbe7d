"""My judging: all panels of all campaigns that somebody judges on, how far each is, and what comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.organising import plans
from basanite.campaign.panels.attending import working
from basanite.campaign.panels.attending.joining import MyPanel, my_panels
from basanite.server.catalogue import say, sentence
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.judging.place import BASE, Judge, progress_words
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
MOST = 100
NEXT = {
    "consent": sentence("Read what it is about"),
    "declare": sentence("Say which languages you read"),
    "training": sentence("Go on with the training"),
    "item": sentence("Go on judging"),
    "rank": sentence("Put the items of the round in order"),
    "criteria": sentence("List your criteria"),
    "break": sentence("Begin the next round"),
    "paused": sentence("Go on judging"),
}
OVER = sentence("Look at it")


@dataclass(frozen=True)
class Line:
    """One panel."""

    panel: str
    campaign: str
    address: str
    words: str
    done: int
    of: int
    next: str
    open: bool
    tone: str
    state: str


@dataclass(frozen=True)
class HomePage:
    """Everything that the reader judges."""

    title: str
    panels: tuple[Line, ...]
    more: int = 0


@ROUTER.get("/judging")
def home(request: Request, caller: Annotated[Caller, allow("user")]) -> Response:
    """The page, over all campaigns."""
    return show(request, caller, _home(caller, None))


@ROUTER.get("/campaigns/{slug}/judging")
def here(request: Request, caller: Judge) -> Response:
    """The page, for one campaign."""
    row, _ = caller.here
    return show(request, caller, _home(caller, row.id))


def _home(caller: Caller, campaign_id: str | None) -> HomePage:
    with caller.office.reading() as session:
        mine = [one for one in my_panels(session, caller.actor.id) if campaign_id in (None, one.campaign_id)]
        lines = tuple(_line(session, caller, one) for one in mine[:MOST])
    return HomePage(say("My judging"), lines, max(0, len(mine) - MOST))


def _line(session: Session, caller: Caller, one: MyPanel) -> Line:
    found = working.desk(session, caller.office, one.panel_id, caller.actor.id)
    _, campaign, _ = plans.current(session, one.slug)
    address, is_open = BASE.format(slug=one.slug, panel=one.name), found.stage in NEXT
    following = say(NEXT.get(found.stage, OVER))
    done, of = (found.done, found.of) if found.of else (one.done, one.of)
    where = (one.title, campaign.title, address, _words(found, done, of), done, of, following, is_open)
    return Line(*where, *_state(found, of))


def _words(found: working.Desk, done: int, of: int) -> str:
    if not of:
        return say("No items are assigned to you yet.")
    return progress_words(found) if found.of else say("{done} of {of} done", done=done, of=of)


def _state(found: working.Desk, of: int) -> tuple[str, str]:
    if found.stage == "paused":
        return "gold", say("paused")
    if found.stage in NEXT:
        return "good", say("open")
    if found.stage == "done":
        return "quiet", say("done") if of else say("not begun")
    return "quiet", say("not begun") if found.stage == "waiting" else say("ended")
