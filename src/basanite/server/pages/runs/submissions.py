"""The submissions of the own team, the newest first; the evaluation team sees all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.intake.open_uploads import LeftUpload, OpenUpload, left_uploads, open_uploads
from basanite.campaign.intake.standings import MissingPrimary, missing_primaries
from basanite.campaign.model.refusals import missing
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.server.catalogue import say
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.roles import Caller, allow

ROUTER = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class SubmissionsPage:
    """One page of the list."""

    title: str
    found: Paged[SeenSubmission]
    windows: tuple[tuple[str, str], ...]
    """Id and title of each window, to choose from."""
    window: str
    all_teams: bool
    can_submit: bool
    without_primary: tuple[MissingPrimary, ...] = ()
    """Open windows in which the team has no primary run yet (C46)."""
    uploads: tuple[OpenUpload, ...] = ()
    left: tuple[LeftUpload, ...] = ()


@ROUTER.get("/campaigns/{slug}/submissions")
def submissions(
    request: Request,
    caller: Annotated[Caller, allow("member", "evaluation")],
    window: Annotated[str, Query(max_length=200)] = "",
    after: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The page."""
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = seeing.submissions(
            session,
            caller.office,
            caller.viewer,
            row.id,
            window=window or None,
            before=before_of(after),
            limit=paging.ROWS + 1,
        )
        team = caller.viewer.team
        lacking = missing_primaries(session, row.id, team, caller.now) if team else ()
        held = open_uploads(session, caller.office, team) if team else ()
        left = left_uploads(session, caller.office, row.id, team) if team else ()
    path = f"/campaigns/{row.slug}/submissions"
    page = SubmissionsPage(
        say("Submissions"),
        paging.paged(found, key=key_of, path=path, after=after, window=window),
        tuple((one.id, one.title) for one in campaign.windows),
        window,
        caller.viewer.staff,
        caller.viewer.team is not None,
        lacking,
        held,
        left,
    )
    return show(request, caller, page)


def key_of(one: SeenSubmission) -> str:
    """Where a page of the list ended."""
    return f"{one.received.isoformat()}~{one.id}"


def before_of(after: str | None) -> tuple[datetime, str] | None:
    """What `key_of` said, read back from an address."""
    if not after:
        return None
    moment, _, last = after.partition("~")
    try:
        at = datetime.fromisoformat(moment)
    except ValueError:
        raise missing("page") from None
    if at.tzinfo is None:
        raise missing("page")
    return at, last
