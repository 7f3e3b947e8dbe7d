"""The annotation page: a text, the form beside it, and the door that takes every change as an event (R-15, R-16)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy.orm import Session

from basanite.annotation.events import event_of
from basanite.campaign.annotating import working
from basanite.campaign.annotating.finding import documents, find_project, own_task
from basanite.campaign.annotating.packages import text_of
from basanite.campaign.annotating.recorded import recorded
from basanite.campaign.answering.fulltext import Text
from basanite.campaign.answering.searching import find_in, log_search
from basanite.campaign.model.refusals import refused
from basanite.server.pages.annotating.body import Sent
from basanite.server.pages.annotating.guidelines import Block, blocks
from basanite.server.pages.annotating.queue import BASE, Annotator
from basanite.server.pages.annotating.wire import appended_data, opened_data
from basanite.server.pages.annotating.words import words
from basanite.server.pages.foundation.frame import framed, show
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
TASK = f"{BASE}/{{task}}"
MOST_SEARCHED = 2000
"""Texts of a project that a search looks into."""


@dataclass(frozen=True)
class TextPage:
    """A text with its form; `given` is what the scripts work with."""

    title: str
    text: str
    given: dict[str, Any]
    guidelines: tuple[Block, ...] = ()
    place: int = 0
    total: int = 0
    back: str = ""
    right: bool = False
    """Whether the text stands on the right."""
    search: str = ""
    keys: tuple[tuple[str, str], ...] = field(default=())


@ROUTER.get(TASK)
def annotate(request: Request, caller: Annotator, task: str) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.writing() as session:
        opened = working.open_task(session, caller.office, caller.actor, task)
        tasks = working.my_tasks(session, row.id, caller.actor.id)
        data = opened_data(opened)
    base = f"/campaigns/{row.slug}/annotate"
    given = data | {
        "address": f"{base}/{task}/events",
        "next": f"{base}/next?after={task}",
        "csrf": framed(request, caller)[0].csrf,
        "words": words(),
    }
    place = next((at for at, one in enumerate(tasks, start=1) if one.id == task), 0)
    page = TextPage(
        opened.document.name,
        opened.document.text,
        given,
        blocks(opened.guidelines or opened.config.guidelines),
        place,
        len(tasks),
        base,
        opened.config.layout.text == "right",
        f"{base}/{task}/search",
    )
    return show(request, caller, page)


@ROUTER.get(f"{TASK}/events")
def events(request: Request, caller: Annotator, task: str, after: int = 0) -> Response:
    """All events after a number, and the token of this session, for a page that was open when somebody signed in."""
    with caller.office.reading() as session:
        kept = recorded(session, own_task(session, caller.actor, task), after=after)
    csrf = framed(request, caller)[0].csrf
    return JSONResponse({"csrf": csrf, "events": [one.as_dict() for one in kept]})


@ROUTER.post(f"{TASK}/events")
def append(caller: Annotator, task: str, sent: Sent) -> Response:
    """Take events in; gives back all that the page does not know yet, and what the reasoner says now."""
    after, listed = sent.get("after", 0), sent.get("events")
    if not isinstance(after, int) or isinstance(after, bool) or not isinstance(listed, list):
        raise refused("P-11", "this is no list of events", "send it from its own page", status=422)
    with caller.office.writing() as session:
        taken = working.append(session, caller.office, caller.actor, task, list(map(event_of, listed)), after=after)
    return JSONResponse(appended_data(taken))


@ROUTER.get(f"{TASK}/search")
def search(caller: Annotator, task: str, q: str = "") -> Response:
    """The texts of the project that hold these words; every search is written down (R-27)."""
    with caller.office.writing() as session:
        own = own_task(session, caller.actor, task)
        project = find_project(session, own.project_id)
        hits = find_in(_texts(session, caller, own.project_id), q)
        log_search(session, caller.office, caller.actor, project.campaign_id, project.name, q, len(hits))
    return JSONResponse({"hits": [asdict(one) for one in hits]})


def _texts(session: Session, caller: Caller, project_id: str) -> tuple[Text, ...]:
    found = (text_of(caller.office, row) for row in documents(session, project_id)[:MOST_SEARCHED])
    return tuple(Text(one.name, one.part, one.text) for one in found)
