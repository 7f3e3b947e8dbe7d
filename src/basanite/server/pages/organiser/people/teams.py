"""All teams of a campaign, and what looks odd among them: near-identical runs and shared addresses (X-7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from basanite.campaign.intake.similarity import similar
from basanite.campaign.organising.looking import teams as looking
from basanite.campaign.people.privacy.addresses import shared_addresses
from basanite.campaign.people.teams import making
from basanite.campaign.store.tables import Submission
from basanite.server.catalogue import said, say
from basanite.server.pages.foundation import paging
from basanite.server.pages.foundation.forms import Filled
from basanite.server.pages.foundation.frame import show
from basanite.server.pages.foundation.paging import Paged
from basanite.server.pages.organiser.desk import BASE, Organiser, at, done, name_of, person_with
from basanite.server.roles import Caller

ROUTER = APIRouter(include_in_schema=False)
ADDRESS = f"{BASE}/teams"
MOST_ODD = 100


@dataclass(frozen=True)
class TeamLine:
    """One team."""

    id: str
    name: str
    pseudonym: str
    track: str
    state: str
    pi: str
    members: int
    runs: int
    named: datetime | None


@dataclass(frozen=True)
class NearLine:
    """Two runs of different teams that are nearly the same."""

    run: str
    team: str
    other_run: str
    other_team: str
    label: str
    other_label: str


@dataclass(frozen=True)
class SharedLine:
    """Teams whose people were at one address."""

    teams: tuple[str, ...]
    people: tuple[str, ...]


@dataclass(frozen=True)
class TeamsPage:
    """Teams, and hints."""

    title: str
    found: Paged[TeamLine]
    near: tuple[NearLine, ...]
    shared: tuple[SharedLine, ...]
    tracks: tuple[tuple[str, str], ...]


@ROUTER.get(ADDRESS)
def teams(request: Request, caller: Organiser, after: Annotated[str, Query(max_length=400)] = "") -> Response:
    """The page."""
    return show(request, caller, _asked(caller, after))


@ROUTER.post(ADDRESS)
def make(request: Request, caller: Organiser, form: Filled) -> Response:
    """Make a team for somebody who leads it."""

    def act(session: Session) -> None:
        pi, words = person_with(session, caller, form.text("mail")), {"name": form.text("name")}
        making.create_team(
            session, caller.office, caller.actor, caller.here[0].id, **words, track=form.text("track"), pi=pi
        )

    words = said("The team is made. Its PI takes in the others.")
    return done(request, caller, act, lambda: _asked(caller), at(caller, "/teams"), words)


def _asked(caller: Caller, after: str = "") -> TeamsPage:
    row, campaign = caller.here
    with caller.office.reading() as session:
        found = looking.teams(session, row.id, after=after, limit=paging.ROWS + 1)
        lines = [_line(session, caller, one) for one in found]
        return TeamsPage(
            say("Teams"),
            paging.paged(lines, key=lambda one: one.name, path=at(caller, "/teams"), after=after),
            _near(session, caller),
            _shared(session, caller),
            tuple((one.id, one.title) for one in campaign.tracks),
        )


def _line(session: Session, caller: Caller, one: looking.TeamFacts) -> TeamLine:
    pi = name_of(session, caller, one.pi)
    return TeamLine(one.id, one.name, one.pseudonym, one.track, one.state, pi, one.members, one.runs, one.named)


def _near(session: Session, caller: Caller) -> tuple[NearLine, ...]:
    campaign_id = caller.here[0].id
    known = looking.names(session, campaign_id)
    pairs = similar(session, caller.actor, campaign_id, MOST_ODD)
    return tuple(
        NearLine(
            one.submission,
            known.get(one.team, ""),
            one.other,
            known.get(one.other_team, ""),
            session.get_one(Submission, one.submission).label,
            session.get_one(Submission, one.other).label,
        )
        for one in pairs
    )


def _shared(session: Session, caller: Caller) -> tuple[SharedLine, ...]:
    campaign_id = caller.here[0].id
    known = looking.names(session, campaign_id)
    found = shared_addresses(session, caller.actor, campaign_id)[:MOST_ODD]
    return tuple(
        SharedLine(
            tuple(known.get(team, "") for team in one.teams),
            tuple(name_of(session, caller, person) for person in one.people),
        )
        for one in found
    )
