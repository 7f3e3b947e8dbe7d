"""An invitation to a team: its link works once, for the account that it was made for (X-11)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response

from basanite.campaign.model.refusals import RefusedError, missing
from basanite.campaign.people.links import look_at_link
from basanite.campaign.people.teams import joining, reading
from basanite.campaign.store.tables import CampaignRow, Team
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import go, refuse, show
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = "/invitations/{secret}"


@dataclass(frozen=True)
class InvitationPage:
    """What the link is about."""

    title: str
    secret: str = field(repr=False)
    team: str


@ROUTER.get(ADDRESS)
def invitation(request: Request, caller: Annotated[Caller, allow("user")], secret: str) -> Response:
    """The question, for the account that the link was made for alone."""
    return show(request, caller, _page(caller, secret))


@ROUTER.post(ADDRESS)
def answered(request: Request, caller: Annotated[Caller, allow("user")], form: Filled, secret: str) -> Response:
    """Accept the invitation."""
    try:
        with caller.office.writing() as session:
            row = joining.accept_invitation(session, caller.office, caller.actor, secret)
            campaign = session.get_one(Team, row.team_id).campaign_id
            slug = session.get_one(CampaignRow, campaign).slug
    except RefusedError as error:
        if error.status == 404:
            raise
        return refuse(request, caller, _page(caller, secret), error)
    return go(caller, f"/campaigns/{slug}/team", said("Done. The team is told."))


def _page(caller: Caller, secret: str) -> InvitationPage:
    with caller.office.reading() as session:
        link = look_at_link(session, caller.office, secret, "invitation")
        if link.person_id != caller.viewer.person:
            raise missing("link")
        return InvitationPage(say("You are invited"), secret, reading.find_team(session, link.data["team"]).name)
