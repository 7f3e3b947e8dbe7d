"""The register of resources: data harvested or bought, open queries, online adaptation; what to share when (M93).

Harvested data are shared when the window closes in which they are first used, bought data at once. Use of open queries
and adaptation need not be shared, but they are declared.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import is_organiser, viewer
from basanite.campaign.people.teams import find_team, pi_of
from basanite.campaign.store import events
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Resource, Team

KINDS = ("harvested", "purchased", "open_queries", "adaptation")
LONGEST = 2000


@dataclass(frozen=True)
class Declared:
    """One entry of the register with what is due."""

    id: str
    team: str
    kind: str
    language: str
    description: str
    used_in: str
    """The id of the window in which it is first used."""
    share_by: datetime | None
    """None: nothing to share."""
    shared: datetime | None
    where: str
    overdue: bool


@dataclass(frozen=True, slots=True)
class NewResource:
    """A resource that a team declares; `used_in` is the window in which harvested data are first used."""

    kind: str
    description: str
    language: str = ""
    used_in: str = ""


def declare(session: Session, office: Office, actor: Actor, team_id: str, new: NewResource) -> Resource:
    """A member declares a resource."""
    team = find_team(session, team_id)
    _require_member(session, actor, team)
    plan = in_force(session, team.campaign_id)
    _check(plan.campaign, new.kind, new.description, new.used_in)
    now = plan.now(office.clock())
    row = Resource(
        campaign_id=team.campaign_id,
        team_id=team.id,
        kind=new.kind,
        language=new.language[:20],
        description=new.description,
        used_in=new.used_in,
        share_by=_share_by(plan.campaign, new.kind, new.used_in, now),
        made=now,
        made_by=actor.id,
    )
    session.add(row)
    session.flush()
    _record(session, office, actor, "resource.declared", row)
    return row


def mark_shared(session: Session, office: Office, actor: Actor, resource_id: str, *, where: str) -> Resource:
    """A member says that a resource is shared, and where the other teams find it."""
    row = _own(session, actor, resource_id)
    if not where.strip() or len(where) > LONGEST:
        raise refused(
            "M93", "the location of the shared resource is missing or too long", "give its address", status=422
        )
    row.shared, row.where = office.clock(), where
    _record(session, office, actor, "resource.shared", row)
    return row


def withdraw(session: Session, office: Office, actor: Actor, resource_id: str) -> Resource:
    """A declaration made by mistake; it stays in the register as withdrawn."""
    row = _own(session, actor, resource_id)
    row.withdrawn = office.clock()
    _record(session, office, actor, "resource.withdrawn", row)
    return row


def require_entry(session: Session, campaign_id: str, resource_id: str) -> None:
    """Refuse what is not in the register of this campaign."""
    row = session.get(Resource, resource_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("resource")


def resources(session: Session, campaign_id: str, now: datetime, *, team_id: str | None = None) -> tuple[Declared, ...]:
    """The register of a campaign or a team, in order of declaring; `now` in the campaign's time."""
    query = select(Resource).where(Resource.campaign_id == campaign_id, Resource.withdrawn.is_(None))
    rows = session.scalars(query if team_id is None else query.where(Resource.team_id == team_id))
    campaign = in_force(session, campaign_id).campaign
    return tuple(register_entry(row, campaign, now) for row in sorted(rows, key=lambda row: (row.made, row.id)))


def shared_with_all(session: Session, campaign_id: str, now: datetime) -> tuple[Declared, ...]:
    """What every team may see: resources that were shared."""
    return tuple(entry for entry in resources(session, campaign_id, now) if entry.shared is not None)


def overdue(session: Session, campaign_id: str, now: datetime) -> tuple[Declared, ...]:
    """What should have been shared by now."""
    return tuple(entry for entry in resources(session, campaign_id, now) if entry.overdue)


def remind_of_resources(session: Session, office: Office, campaign_id: str) -> int:
    """The duty: tell each PI once of each resource that is due."""
    told, now = 0, in_force(session, campaign_id).now(office.clock())
    for entry in overdue(session, campaign_id, now):
        pi = pi_of(session, entry.team)
        words = {"resource": entry.id, "team": entry.team}
        data = words | {"until": f"{entry.share_by:%Y-%m-%d %H:%M} UTC", "description": entry.description}
        persons = [] if pi is None else [pi]
        told += tell(
            session, office, "resource_due", persons=persons, campaign_id=campaign_id, data=data, once=entry.id
        )
    return told


def _check(campaign: Campaign, kind: str, description: str, used_in: str) -> None:
    found = []
    if kind not in KINDS:
        found.append(problem("M93", f"there is no kind of resource {kind!r}", f"one of: {', '.join(KINDS)}"))
    if not 0 < len(description.strip()) <= LONGEST:
        found.append(problem("M93", "the description is missing or too long", f"write at most {LONGEST} characters"))
    if used_in not in {window.id for window in campaign.windows} and (kind == "harvested" or used_in):
        wrong = f"there is no window {used_in!r}" if used_in else "harvested data need a window"
        found.append(problem("M93", wrong, "give the window in which it is first used"))
    if found:
        raise RefusedError(found, status=422)


def _share_by(campaign: Campaign, kind: str, used_in: str, made: datetime) -> datetime | None:
    if kind == "purchased":
        return made
    windows = {window.id: window.closes.utc for window in campaign.windows}
    return windows.get(used_in) if kind == "harvested" else None


def register_entry(row: Resource, campaign: Campaign, now: datetime) -> Declared:
    """An entry with what is due at this moment of the campaign."""
    due = _share_by(campaign, row.kind, row.used_in, row.made)  # a window that was extended moves it
    late = due is not None and due <= now and row.shared is None
    return Declared(
        row.id,
        row.team_id,
        row.kind,
        row.language,
        row.description,
        row.used_in,
        due,
        row.shared,
        row.where,
        late,
    )


def _require_member(session: Session, actor: Actor, team: Team) -> None:
    if (
        not is_organiser(session, actor, team.campaign_id)
        and viewer(session, team.campaign_id, actor.id).team != team.id
    ):
        raise missing("team")


def _own(session: Session, actor: Actor, resource_id: str) -> Resource:
    row = session.get(Resource, resource_id)
    if row is None or row.withdrawn is not None:
        raise missing("resource")
    _require_member(session, actor, session.get_one(Team, row.team_id))
    return row


def _record(session: Session, office: Office, actor: Actor, kind: str, row: Resource) -> None:
    data = {"team": row.team_id, "kind": row.kind}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )
