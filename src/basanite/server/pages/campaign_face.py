"""What a campaign shows of itself: texts, picture, organizers, teams, timeline, and what is open now (P-36)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter
from fastapi.responses import Response
from markupsafe import Markup
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.actions.calendar import milestones
from basanite.campaign.model import windows
from basanite.campaign.model.about import LINK
from basanite.campaign.model.refusals import missing
from basanite.campaign.store.tables import Team
from basanite.server.catalogue import say
from basanite.server.pages.prose import markdown
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class FaceText:
    """One text with its title."""

    id: str
    title: str
    html: Markup


@dataclass(frozen=True)
class Moment:
    """One entry of the timeline."""

    title: str
    state: Literal["past", "open", "coming"]
    at: datetime
    ends: datetime | None
    note: str = ""


@dataclass(frozen=True)
class Face:
    """Everything that a visitor wants to know first."""

    summary: str
    logo: str
    draft: bool
    texts: tuple[FaceText, ...]
    contact: str
    contact_address: str
    links: tuple[tuple[str, str], ...]
    teams: int
    timeline: tuple[Moment, ...]
    closes: datetime | None
    """When the next of the open windows closes."""
    opens: datetime | None
    """When the next window opens, where none is open."""


def face_of(session: Session, caller: Caller) -> Face:
    """The face of the campaign that the address names."""
    row, campaign = caller.here
    about = campaign.about
    titled = (
        ("about", say("About"), about.description),
        *(
            (f"task-{number}", say("Task: {task}", task=task), text)
            for number, (task, text) in enumerate(about.tasks.items())
        ),
        ("data", say("Data"), about.data),
        ("take-part", say("How to take part"), about.participation),
        ("terms", say("Terms"), about.terms),
        ("organizers", say("Organizers"), about.organizers),
    )
    open_ = windows.open_windows(campaign, caller.now)
    coming = windows.upcoming(campaign, caller.now, 1)
    teams = select(func.count()).select_from(Team).where(Team.campaign_id == row.id, Team.state == "active")
    return Face(
        about.summary,
        f"/campaigns/{row.slug}/logo?v={row.logo[:12]}" if row.logo else "",
        row.published is None,
        tuple(FaceText(name, title, markdown(text)) for name, title, text in titled if text.strip()),
        about.contact,
        _address(about.contact),
        tuple(about.links.items()),
        session.scalar(teams) or 0,
        _timeline(session, caller),
        min((one.closes.utc for one in open_), default=None),
        coming[0].opens.utc if coming and not open_ else None,
    )


def _address(contact: str) -> str:
    """Where a contact leads: a mailbox or a page; nowhere for plain words."""
    if LINK.fullmatch(contact):
        return contact
    is_mail = "@" in contact and LINK.fullmatch(f"mailto:{contact}") is not None
    return f"mailto:{contact}" if is_mail else ""


def _timeline(session: Session, caller: Caller) -> tuple[Moment, ...]:
    row, campaign = caller.here
    found = [
        Moment(one.title, _state(caller.now, one.opens.utc, one.closes.utc), one.opens.utc, one.closes.utc)
        for one in campaign.windows
    ]
    for standing in milestones(session, row.id):
        one = standing.milestone
        ends = one.ends.utc if one.ends else None
        if standing.state != "dropped":
            found.append(Moment(one.title, _state(caller.now, one.at.utc, ends), one.at.utc, ends, standing.note))
    return tuple(sorted(found, key=lambda one: (one.at, one.title)))


def _state(now: datetime, begins: datetime, ends: datetime | None) -> Literal["past", "open", "coming"]:
    if now < begins:
        return "coming"
    return "open" if ends is not None and now < ends else "past"


@ROUTER.get("/campaigns/{slug}/logo")
def show_logo(caller: Annotated[Caller, allow("visitor")]) -> Response:
    """The picture of the campaign."""
    row, _ = caller.here
    if row.logo is None:
        raise missing("picture")
    kept = {"Cache-Control": "public, max-age=3600" if row.published else "private, no-store"}
    content = b"".join(caller.office.files.pieces(row.logo))
    return Response(content, media_type=row.logo_kind, headers=kept)
