"""Pictures of a panel for adjudicators and organisers: the same bytes that judges saw, in the same box (X-9)."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from basanite.campaign.panels.preparing.images import shown_image
from basanite.server.pages.adjudicating.desk import PANEL, Adjudicator, found
from basanite.server.pages.judging.image import BOXED

ROUTER = APIRouter(include_in_schema=False)


@ROUTER.get(f"{PANEL}/images/{{image}}")
def picture(caller: Adjudicator, panel: str, image: str) -> Response:
    """A picture of this panel."""
    with caller.office.reading() as session:
        owner, _ = found(session, caller, panel)
        held = shown_image(session, caller.office, caller.actor, owner.id, image)
    return Response(held.content, media_type=held.media, headers=BOXED)
