"""What organizers look at: what is left to set up, what waits for them, teams, people and the log (D-10, P-7, X-7).

Of what is left to set up, windows that are open and the one that opens next count: what lies further ahead need not be
ready. A campaign that is over has nothing left to set up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, func, select, union
from sqlalchemy.orm import Session

from basanite.campaign.actions.references import Place, versions, window_places
from basanite.campaign.model import windows
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.policy import STAFF
from basanite.campaign.model.refusals import missing
from basanite.campaign.people.agreements import find_agreement, standing
from basanite.campaign.people.roles import holders, viewer
from basanite.campaign.people.teams import pi_of
from basanite.campaign.store.tables import (
    Appeal,
    Approval,
    Batch,
    CampaignRow,
    DutyException,
    Event,
    Grant,
    LeadRequest,
    Membership,
    PackFile,
    Question,
    Signature,
    Submission,
    Team,
)


@dataclass(frozen=True)
class Step:
    """One thing to set up."""

    kind: Literal["window", "reference", "pack", "team", "agreement", "organizer", "texts", "publish"]
    done: bool
    what: Place | str = ""
    """The place of a reference, or the title of a pack or an agreement."""
    window: Window | None = None
    """The first window that needs it."""
    proposed: bool = False
    """Whether it is there and waits for a second organizer."""


def checklist(session: Session, campaign_id: str, campaign: Campaign, now: datetime) -> tuple[Step, ...]:
    """All steps in the order in which they are done; empty once none is left."""
    rows = (*windows.open_windows(campaign, now), *windows.upcoming(campaign, now, 1))
    draft = session.get_one(CampaignRow, campaign_id).published is None
    if draft:
        texts = Step("texts", bool(campaign.about.description.strip()))
        publish = Step("publish", False)
        steps = (texts, *(_steps(session, campaign_id, campaign, rows, now) if rows else ()), publish)
    elif rows:
        steps = tuple(_steps(session, campaign_id, campaign, rows, now))
    else:
        used = session.scalar(select(Submission.id).where(Submission.campaign_id == campaign_id).limit(1))
        steps = () if used else (Step("window", False),)
    return () if all(one.done for one in steps) else steps


def _steps(
    session: Session, campaign_id: str, campaign: Campaign, rows: tuple[Window, ...], now: datetime
) -> Iterator[Step]:
    yield Step("window", True, rows[0].title)
    yield from _references(session, campaign_id, campaign, rows, now)
    yield from _packs(session, campaign_id, campaign, rows)
    teams = session.scalars(
        select(Team.id)
        .join(Membership, Membership.team_id == Team.id)
        .where(Team.campaign_id == campaign_id, Team.state == "active")
        .where(Membership.role == "pi", Membership.state == "active")
    ).all()
    yield Step("team", bool(teams))
    yield from _agreements(session, campaign, rows, teams, now)
    if campaign.two_people:
        yield Step("organizer", len(holders(session, campaign_id, STAFF)) > 1)


def _references(
    session: Session, campaign_id: str, campaign: Campaign, rows: tuple[Window, ...], now: datetime
) -> Iterator[Step]:
    states: dict[Place, set[str]] = {}
    for one in versions(session, campaign_id):
        states.setdefault(Place(one.task, one.dataset, one.language, one.queryset), set()).add(one.state)
    needed = {place: window for window in reversed(rows) for place in window_places(campaign, window)}
    for place, window in reversed(needed.items()):
        found = states.get(place, set())
        proposed = "proposed" in found
        in_time = proposed and now < window.opens.utc  # it waits among the acts of two people
        yield Step("reference", "active" in found or in_time, place, window, proposed)


def _packs(session: Session, campaign_id: str, campaign: Campaign, rows: tuple[Window, ...]) -> Iterator[Step]:
    """Packs without a file; where teams submit already they have the data from elsewhere."""
    filled = set(session.scalars(select(PackFile.pack).where(PackFile.campaign_id == campaign_id).distinct()))
    used = select(Submission.window).where(Submission.campaign_id == campaign_id).distinct()
    begun = set(session.scalars(used.where(Submission.window.in_([window.id for window in rows]))))
    needed = {name: window for window in reversed(rows) if window.id not in begun for name in window.dataset}
    for name, window in reversed(needed.items()):
        pack = campaign.pack(name)
        yield Step("pack", name in filled, pack.title or pack.id, window)


def _agreements(
    session: Session, campaign: Campaign, rows: tuple[Window, ...], teams: Iterable[str], now: datetime
) -> Iterator[Step]:
    packs = (campaign.pack(name) for window in rows for name in window.dataset)
    for agreement in dict.fromkeys(pack.agreement for pack in packs if pack.agreement):
        signed = any(standing(session, campaign, team, agreement, now).state == "executed" for team in teams)
        yield Step("agreement", signed, find_agreement(campaign, agreement).title or agreement)


@dataclass(frozen=True)
class Waiting:
    """How much of each kind waits for a decision."""

    leads: int
    approvals: int
    exceptions: int
    appeals: int
    rescorings: int
    questions: int
    copies: int


def count_waiting(session: Session, campaign_id: str) -> Waiting:
    """Count what waits in a campaign."""

    def count(table: type, *which: ColumnElement[bool]) -> int:
        query = select(func.count()).select_from(table).where(table.campaign_id == campaign_id, *which)  # type: ignore[attr-defined]
        return session.scalar(query) or 0

    return Waiting(
        count(LeadRequest, LeadRequest.state == "asked"),
        count(Approval, Approval.state == "waiting"),
        count(DutyException, DutyException.seconded.is_(None), DutyException.ended.is_(None)),
        count(Appeal, Appeal.state == "open"),
        count(Batch, Batch.state.in_(("running", "ready"))),
        count(Question, Question.answered.is_(None)),
        count(Signature, Signature.state == "uploaded"),
    )


def runs_by_window(session: Session, campaign_id: str) -> dict[str, Mapping[str, int]]:
    """How many submissions of each state each window has."""
    query = select(Submission.window, Submission.state, func.count()).where(Submission.campaign_id == campaign_id)
    found: dict[str, dict[str, int]] = {}
    for window, state, number in session.execute(query.group_by(Submission.window, Submission.state)):
        found.setdefault(window, {})[state] = number
    return dict(found)


@dataclass(frozen=True)
class TeamFacts:
    """One team in numbers."""

    id: str
    name: str
    code: str
    pseudonym: str
    track: str
    state: str
    pi: str | None
    """The person who leads it."""
    members: int
    runs: int
    named: datetime | None
    """Since when its PI agrees to be named in public (P-25)."""


@dataclass(frozen=True)
class SignedCopy:
    """A signed copy of an agreement."""

    id: str
    team: str
    agreement: str
    version: str
    state: str
    uploaded: datetime


def list_teams(session: Session, campaign_id: str, *, after: str = "", limit: int = 50) -> tuple[TeamFacts, ...]:
    """The teams of a campaign by name; `after` is the name where the last page ended."""
    query = select(Team).where(Team.campaign_id == campaign_id, Team.name > after).order_by(Team.name).limit(limit)
    return tuple(_facts(session, row) for row in session.scalars(query))


def team_facts(session: Session, campaign_id: str, team_id: str) -> TeamFacts:
    """One team of a campaign, whatever became of it."""
    row = session.get(Team, team_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("team")
    return _facts(session, row)


def team_names(session: Session, campaign_id: str) -> dict[str, str]:
    """The names of all teams of a campaign by id."""
    query = select(Team.id, Team.name).where(Team.campaign_id == campaign_id).order_by(Team.name)
    return {row[0]: row[1] for row in session.execute(query)}


def counting_runs(session: Session, team_id: str) -> tuple[str, ...]:
    """The submissions of a team that have neither been withdrawn nor disqualified, oldest first."""
    query = select(Submission.id).where(
        Submission.team_id == team_id, Submission.standing.in_(("on time", "late", "baseline"))
    )
    return tuple(session.scalars(query.order_by(Submission.received, Submission.id)))


def signed_copies(session: Session, campaign_id: str, most: int = 500) -> tuple[SignedCopy, ...]:
    """Signed copies of agreements, those that wait for a counter-signature first."""
    query = select(Signature, Team.name).join(Team, Team.id == Signature.team_id)
    rows = session.execute(query.where(Signature.campaign_id == campaign_id).order_by(Signature.uploaded.desc()))
    found = [SignedCopy(row.id, name, row.agreement, row.version, row.state, row.uploaded) for row, name in rows]
    return tuple(sorted(found, key=lambda one: one.state != "uploaded")[:most])


def _facts(session: Session, row: Team) -> TeamFacts:
    members = select(func.count()).select_from(Membership)
    active = members.where(Membership.team_id == row.id, Membership.state == "active")
    runs = select(func.count()).select_from(Submission).where(Submission.team_id == row.id)
    return TeamFacts(
        row.id,
        row.name,
        row.code,
        row.pseudonym,
        row.track,
        row.state,
        pi_of(session, row.id),
        session.scalar(active) or 0,
        session.scalar(runs) or 0,
        row.named_consent,
    )


@dataclass(frozen=True)
class Involved:
    """One person in a campaign, without personal data."""

    person: str
    roles: tuple[str, ...]
    team_id: str | None
    team: str
    pi: bool


def people_involved(
    session: Session, campaign_id: str, *, role: str = "", after: str = "", limit: int = 50
) -> tuple[Involved, ...]:
    """People with a role, a place in a team, or a request; `after` is the id where the last page ended."""
    with_role = select(Grant.person_id.label("person")).where(Grant.campaign_id == campaign_id, Grant.role == role)
    found = with_role.where(Grant.ended.is_(None)).distinct() if role else _everybody(campaign_id)
    involved = []
    for person in session.scalars(found.where(found.selected_columns[0] > after).order_by("person").limit(limit)):
        seen = viewer(session, campaign_id, person)
        team = session.get(Team, seen.team) if seen.team else None
        involved.append(Involved(person, tuple(sorted(seen.roles)), seen.team, team.name if team else "", seen.pi))
    return tuple(involved)


def _everybody(campaign_id: str) -> Select[str]:
    roles = select(Grant.person_id.label("person")).where(Grant.campaign_id == campaign_id, Grant.ended.is_(None))
    places = select(Membership.person_id).join(Team, Team.id == Membership.team_id)
    there = places.where(Team.campaign_id == campaign_id, Membership.state.in_(("active", "asked")))
    asking = select(LeadRequest.person_id).where(LeadRequest.campaign_id == campaign_id, LeadRequest.state == "asked")
    return select(union(roles, there, asking).subquery().c.person)


@dataclass(frozen=True)
class LogEntry:
    """One event."""

    sequence: int
    at: datetime
    actor: str
    kind: str
    subject: str
    data: Mapping[str, Any]


def log_entries(
    session: Session, campaign_id: str, *, kind: str = "", before: int | None = None, limit: int = 50
) -> tuple[LogEntry, ...]:
    """What happened in a campaign; kinds may be given by their beginning, like `submission`."""
    query = select(Event).where(Event.campaign_id == campaign_id)
    query = query.where(Event.kind.startswith(kind, autoescape=True)) if kind else query
    query = query if before is None else query.where(Event.sequence < before)
    rows = session.scalars(query.order_by(Event.sequence.desc()).limit(limit))
    return tuple(LogEntry(row.sequence, row.at, row.actor, row.kind, row.subject, row.data) for row in rows)


def event_kinds(session: Session, campaign_id: str) -> tuple[str, ...]:
    """The beginnings of all kinds that occur, to choose from."""
    found = session.scalars(select(Event.kind).where(Event.campaign_id == campaign_id).distinct())
    return tuple(sorted({kind.partition(".")[0] for kind in found}))
