"""The desk: one address, and on it what comes next: consent, training, an item, an order, a break (R-2, X-4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.panels.attending import working
from basanite.server.pages.foundation.frame import Page, show
from basanite.server.pages.judging.consent import consent_page
from basanite.server.pages.judging.criteria import criteria_page
from basanite.server.pages.judging.declare import declare_page
from basanite.server.pages.judging.end import end_page
from basanite.server.pages.judging.feedback import feedback_page
from basanite.server.pages.judging.item import item_page
from basanite.server.pages.judging.place import BASE, Judge, desk_of
from basanite.server.pages.judging.rank import rank_page
from basanite.server.pages.judging.rest import rest_page
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)


@ROUTER.get(BASE)
def desk(request: Request, caller: Judge, panel: str, again: str = "") -> Response:
    """What the judge has to do now; with `again` the last answer, to correct it."""
    with caller.office.reading() as session:
        found = desk_of(session, caller, panel, again=bool(again))
        page = page_of(session, caller, found)
    if found.assignment and not found.seen:
        with caller.office.writing() as session:  # only then: whoever writes waits for all others who do
            working.mark_shown(session, caller.office, caller.actor, found.panel_id, found.assignment)
    return show(request, caller, page)


def page_of(session: Session, caller: Caller, found: working.Desk) -> Page:
    """The page of a desk."""
    if found.feedback is not None:
        return feedback_page(caller, found, found.feedback)
    if found.stage in PLAIN:
        return PLAIN[found.stage](caller, found)
    return (declare_page if found.stage == "declare" else end_page)(session, caller, found)


PLAIN: Mapping[str, Callable[[Caller, working.Desk], Page]] = {
    "consent": consent_page,
    "training": item_page,
    "item": item_page,
    "rank": rank_page,
    "criteria": criteria_page,
    "break": rest_page,
    "paused": rest_page,
}
