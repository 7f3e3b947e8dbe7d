"""Whether somebody may submit for a team at all: member, rules accepted, agreements executed (M61, M77, P-26)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import RefusedError, missing, problem
from basanite.campaign.office import Actor
from basanite.campaign.people.roles import MACHINE
from basanite.campaign.people.terms.agreements import standing
from basanite.campaign.people.terms.rules import unaccepted
from basanite.campaign.store.tables import Membership, Team
from basanite.problems import Problem


def responsible(session: Session, actor: Actor, team: Team) -> str:
    """The person who answers for what is submitted: a member, or the PI where a folder or a command line submits.

    To everybody else the team does not exist (404): nobody learns of other teams here.
    """
    found = _responsible(session, actor, team) if team.state == "active" else None
    if found is None:
        raise missing("team")
    return found


def belongs(session: Session, actor: Actor, team_id: str) -> bool:
    """Whether somebody may see and go on with what a team has sent."""
    return _responsible(session, actor, session.get_one(Team, team_id)) is not None


def _responsible(session: Session, actor: Actor, team: Team) -> str | None:
    active = select(Membership.person_id).where(Membership.team_id == team.id, Membership.state == "active")
    here = Membership.role == "pi" if actor.id in MACHINE else Membership.person_id == actor.id
    return session.scalars(active.where(here)).first()


def check_terms(
    session: Session, campaign: Campaign, window: Window, team: Team, person_id: str, now: datetime
) -> None:
    """Refuse until the person has accepted the rules and the team's agreements for the packs are executed."""
    found = (*_rules(session, team, person_id), *_agreements(session, campaign, window, team, now))
    if found:
        raise RefusedError(found, status=403)


def _rules(session: Session, team: Team, person_id: str) -> Iterator[Problem]:
    for rules in unaccepted(session, team.campaign_id, person_id):
        message = f"the rules {rules.id!r}, version {rules.version}, are not accepted"
        yield problem("M77", message, "read and accept them on the page of the data packs")


def _agreements(session: Session, campaign: Campaign, window: Window, team: Team, now: datetime) -> Iterator[Problem]:
    needed = {pack.agreement for pack in campaign.packs if pack.id in window.dataset and pack.agreement}
    for found in (standing(session, campaign, team.id, agreement, now) for agreement in sorted(needed)):
        if found.state != "executed":
            message = f"the agreement {found.agreement.title!r} is {found.state} for this team"
            yield problem("P-26", message, "sign it, send the copy, and wait for the counter-signature")
