"""The first page: all campaigns of this server, those that the reader takes part in first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model import stages
from basanite.campaign.organising import plans
from basanite.campaign.people import roles
from basanite.campaign.people.links import leads_to_a_new_one, leads_to_sign_in, look_at_link
from basanite.campaign.store.tables import CampaignRow
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.frame import go, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
MOST = 500
PLACES = {"confirm": "/confirm/{secret}", "reset": "/reset/{secret}", "password": "/reset/{secret}"}
"""Where links of each purpose lead; others are invitations."""


@dataclass(frozen=True)
class CampaignCard:
    """A campaign at a glance."""

    slug: str
    title: str
    tasks: tuple[str, ...]
    open: int
    """How many windows are open."""
    next_title: str
    next_at: datetime | None
    mine: str
    """What the reader is in it: `team`, `staff`, or nothing."""


@dataclass(frozen=True)
class StartPage:
    """All campaigns."""

    title: str
    campaigns: tuple[CampaignCard, ...]


@ROUTER.get("/")
def start(request: Request, caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The page."""
    with caller.office.reading() as session:
        slugs = session.scalars(select(CampaignRow.slug).order_by(CampaignRow.made.desc()).limit(MOST)).all()
        cards = [_card(session, caller, slug) for slug in slugs]
    ordered = sorted(cards, key=lambda card: (not card.mine, not card.open))
    return show(request, caller, StartPage(say("Campaigns"), tuple(ordered)))


@ROUTER.get("/links/{secret}")
def follow(caller: Annotated[Caller, allow("visitor")], secret: str) -> Response:
    """Where a link from a mail leads; looking at it does not use it up."""
    with caller.office.reading() as session:
        if leads_to_sign_in(session, secret):
            return go(caller, "/sign-in", said("You have a password. Sign in with it."))
        if leads_to_a_new_one(session, caller.office, secret):
            return go(caller, "/forgotten", said("This link no longer works. Ask for a new one here."))
        purpose = look_at_link(session, caller.office, secret).purpose
    return RedirectResponse(PLACES.get(purpose, "/invitations/{secret}").format(secret=secret), 303)


def _card(session: Session, caller: Caller, slug: str) -> CampaignCard:
    row, campaign, _ = plans.current(session, slug)
    now, viewer = plans.now(caller.office, row), roles.viewer(session, row.id, caller.viewer.person)
    coming = stages.upcoming(campaign, now, 1)
    return CampaignCard(
        slug,
        campaign.title,
        tuple(dict.fromkeys(task for window in campaign.windows for task in window.tasks)),
        len(stages.open_windows(campaign, now)),
        coming[0].title if coming else "",
        coming[0].opens.utc if coming else None,
        "team" if viewer.team else "staff" if viewer.staff else "",
    )
