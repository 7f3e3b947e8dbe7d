"""The submissions of all teams: filtered, with state and standing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from basanite.campaign.organising.looking.teams import names
from basanite.campaign.results import seeing
from basanite.campaign.results.seen import SeenSubmission
from basanite.server.catalogue import say, sentence
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.desk import BASE, Organiser, at
from basanite.server.pages.runs.submissions import before_of, key_of

ROUTER = APIRouter(include_in_schema=False)
Given = Annotated[str, Query(max_length=200)]
STATES = {
    "received": sentence("received"),
    "validating": sentence("being checked"),
    "scoring": sentence("being scored"),
    "scored": sentence("scored"),
    "invalid": sentence("not valid"),
    "failed": sentence("failed by our fault"),
}
STANDINGS = {
    "on time": sentence("on time"),
    "late": sentence("late"),
    "withdrawn": sentence("withdrawn"),
    "disqualified": sentence("disqualified"),
    "baseline": sentence("baseline"),
}


@dataclass(frozen=True)
class Wanted:
    """What the list is narrowed to."""

    window: str = ""
    team: str = ""
    state: str = ""
    standing: str = ""


@dataclass(frozen=True)
class SubmissionsPage:
    """One page of the list."""

    title: str
    found: Paged[SeenSubmission]
    wanted: Wanted
    windows: tuple[tuple[str, str], ...]
    teams: tuple[tuple[str, str], ...]
    states: tuple[tuple[str, str], ...]
    standings: tuple[tuple[str, str], ...]

    @property
    def filtered(self) -> bool:
        """Whether the list is narrowed to something."""
        return self.wanted != Wanted()


@ROUTER.get(f"{BASE}/submissions")
def submissions(
    request: Request,
    caller: Organiser,
    window: Given = "",
    team: Given = "",
    state: Given = "",
    standing: Given = "",
    after: Annotated[str | None, Query(max_length=100)] = None,
) -> Response:
    """The page."""
    row, campaign = caller.here
    wanted = Wanted(window, team, state if state in STATES else "", standing if standing in STANDINGS else "")
    chosen = {"window": window, "team_id": team, "state": wanted.state, "standing": wanted.standing}
    with caller.office.reading() as session:
        found = seeing.submissions(
            session,
            caller.office,
            caller.viewer,
            row.id,
            **{name: value or None for name, value in chosen.items()},
            before=before_of(after),
            limit=paging.ROWS + 1,
        )
        known = names(session, row.id)
    page = SubmissionsPage(
        say("Submissions of all teams"),
        paging.paged(
            found,
            key=key_of,
            path=at(caller, "/submissions"),
            after=after,
            window=window,
            team=team,
            state=wanted.state,
            standing=wanted.standing,
        ),
        wanted,
        tuple((one.id, one.title) for one in campaign.windows),
        tuple(known.items()),
        tuple((name, str(say(word))) for name, word in STATES.items()),
        tuple((name, str(say(word))) for name, word in STANDINGS.items()),
    )
    return show(request, caller, page)
