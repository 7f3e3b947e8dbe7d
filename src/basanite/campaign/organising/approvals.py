"""Acts that take two people: the first asks, somebody else of the evaluation team agrees or refuses (X-4).

Which acts these are stands in the campaign's file (`two_people`). The act itself is done when it is agreed to, by the
module that owns it: here is only who asked for what, and who decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.organising import telling
from basanite.campaign.store import events
from basanite.campaign.store.tables import Approval

Act = Literal["release", "reference", "void", "role"]


def needs_two(campaign: Campaign, act: Act) -> bool:
    """Whether the campaign wants two people for this act."""
    return act in campaign.two_people


def ask(
    session: Session, office: Office, actor: Actor, act: Act, *, campaign_id: str, data: Mapping[str, Any], reason: str
) -> Approval:
    """Ask for an act that takes a second person; nothing happens before somebody else agrees."""
    approval = Approval(
        campaign_id=campaign_id,
        act=act,
        data=dict(data),
        reason=reason,
        asked_by=actor.id,
        asked=office.clock(),
        state="waiting",
    )
    session.add(approval)
    session.flush()
    _log(session, office, actor, approval, "asked")
    telling.second_wanted(session, office, approval)
    return approval


def agree(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Be the second person; the caller then does the act."""
    return _decide(session, office, actor, approval_id, "agreed")


def refuse(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Say no to an act that waits, or take the own wish back."""
    return _decide(session, office, actor, approval_id, "refused")


def waiting(session: Session, campaign_id: str) -> tuple[Approval, ...]:
    """What waits for a second person, oldest first."""
    question = select(Approval).where(Approval.campaign_id == campaign_id, Approval.state == "waiting")
    return tuple(session.scalars(question.order_by(Approval.asked, Approval.id)))


def of_campaign(session: Session, campaign_id: str) -> tuple[Approval, ...]:
    """All acts that took two people, oldest first, decided or not."""
    question = select(Approval).where(Approval.campaign_id == campaign_id)
    return tuple(session.scalars(question.order_by(Approval.asked, Approval.id)))


def find(session: Session, approval_id: str) -> Approval:
    """The act of an id, locked for whoever decides about it."""
    approval = session.get(Approval, approval_id, with_for_update=True, populate_existing=True)
    if approval is None:
        raise missing("act that waits for a second person")
    return approval


def _decide(session: Session, office: Office, actor: Actor, approval_id: str, state: str) -> Approval:
    approval = find(session, approval_id)
    if approval.state != "waiting":
        raise refused("X-4", f"this has been {approval.state} already", "list what waits", status=409)
    if state == "agreed" and actor.id in (approval.asked_by, COMMAND.id):
        raise refused(
            "X-4",
            "the second person must be somebody else, and known by name",
            "let another member of the evaluation team agree",
            status=403,
        )
    approval.state, approval.decided_by, approval.decided = state, actor.id, office.clock()
    _log(session, office, actor, approval, state)
    return approval


def _log(session: Session, office: Office, actor: Actor, approval: Approval, what: str) -> None:
    events.record(
        session,
        f"approval.{what}",
        at=office.clock(),
        actor=actor.id,
        subject=approval.id,
        campaign_id=approval.campaign_id,
        data={"act": approval.act, "reason": approval.reason},
    )
