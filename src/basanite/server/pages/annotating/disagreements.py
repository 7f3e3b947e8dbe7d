"""The queue of adjudicators: texts whose annotators are done, those with most disagreements first (R-15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.annotating import adjudicating
from basanite.campaign.annotating.adjudicating import Queued
from basanite.campaign.annotating.finding import projects
from basanite.server.catalogue import say
from basanite.server.pages.annotating.queue import BASE
from basanite.server.pages.foundation.frame import show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
DECIDE = f"{BASE}/decide"
Looker = Annotated[Caller, allow("adjudicator", "evaluation")]
"""Who may see all annotations of a text side by side; annotators of it never are among them."""
SHOWN = 500


@dataclass(frozen=True)
class DisagreementsProject:
    """The texts of one project."""

    title: str
    lines: tuple[Queued, ...]
    hidden: int = 0


@dataclass(frozen=True)
class DisagreementsPage:
    """All texts of a campaign that are or will be adjudicated."""

    title: str
    projects: tuple[DisagreementsProject, ...]
    base: str


@ROUTER.get(DECIDE)
def disagreements(request: Request, caller: Looker) -> Response:
    """The page."""
    row, _ = caller.here
    with caller.office.reading() as session:
        listed = [
            (one, adjudicating.queue(session, caller.office, caller.actor, one.id)) for one in projects(session, row.id)
        ]
    made = tuple(
        DisagreementsProject(one.title or one.name, lines[:SHOWN], max(len(lines) - SHOWN, 0)) for one, lines in listed
    )
    return show(
        request, caller, DisagreementsPage(say("Disagreements"), made, f"/campaigns/{row.slug}/annotate/decide")
    )
