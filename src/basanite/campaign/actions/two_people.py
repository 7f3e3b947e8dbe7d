"""Acts that take two people: the first asks, somebody else of the evaluation team agrees or refuses (X-4).

Which acts these are stands in the campaign's file (`two_people`). The act itself is done when it is agreed to, by the
module that owns it: here is only who asked for what, and who decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import announcements
from basanite.campaign.model.plan import Campaign
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import COMMAND, Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import Approval

Act = Literal["release", "reference", "void", "role"]


def needs_two(campaign: Campaign, act: Act) -> bool:
    """Whether the campaign wants two people for this act."""
    return act in campaign.two_people


@dataclass(frozen=True, slots=True)
class Request:
    """An act that takes a second person, with what it is about."""

    act: Act
    data: Mapping[str, Any]
    reason: str


def ask(session: Session, office: Office, actor: Actor, campaign_id: str, request: Request) -> Approval:
    """Ask for an act that takes a second person; nothing happens before somebody else agrees."""
    approval = Approval(
        campaign_id=campaign_id,
        act=request.act,
        data=dict(request.data),
        reason=request.reason,
        asked_by=actor.id,
        asked=office.clock(),
        state="waiting",
    )
    session.add(approval)
    session.flush()
    _log(session, office, actor, approval, "asked")
    announcements.mail_second_person(session, office, approval)
    return approval


def waiting_requests(session: Session, campaign_id: str) -> tuple[Approval, ...]:
    """What waits for a second person, oldest first."""
    question = select(Approval).where(Approval.campaign_id == campaign_id, Approval.state == "waiting")
    return tuple(session.scalars(question.order_by(Approval.asked, Approval.id)))


def all_requests(session: Session, campaign_id: str) -> tuple[Approval, ...]:
    """All acts that took two people, oldest first, decided or not."""
    question = select(Approval).where(Approval.campaign_id == campaign_id)
    return tuple(session.scalars(question.order_by(Approval.asked, Approval.id)))


def find(session: Session, approval_id: str) -> Approval:
    """The act of an id, locked for anyone who decides about it."""
    approval = session.get(Approval, approval_id, with_for_update=True, populate_existing=True)
    if approval is None:
        raise missing("request that waits for a second person")
    return approval


def record_decision(session: Session, office: Office, actor: Actor, approval_id: str, state: str) -> Approval:
    """Agree as the second person, and the caller then does the act; or refuse, or take the own wish back."""
    approval = find(session, approval_id)
    if approval.state != "waiting":
        raise refused("X-4", f"this request is already {approval.state}", "list the open requests", status=409)
    if state == "agreed" and actor.id in (approval.asked_by, COMMAND.id):
        raise refused(
            "X-4",
            "the second person must be somebody else, known by name",
            "ask another member of the evaluation team to approve",
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
