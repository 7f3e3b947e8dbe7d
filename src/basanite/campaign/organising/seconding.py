"""The second of two people agrees, and what the first asked for is done at once, in both names (X-4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.intake import standings
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import approvals, references, releasing, rescoring
from basanite.campaign.people import roles
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Approval

Deed = Callable[[Session, Office, Approval, str], object]


def agree(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Agree to an act that waits; it is done in the same transaction, or nothing is."""
    approval = approvals.find(session, approval_id)
    require_organiser(session, actor, approval.campaign_id)
    approvals.agree(session, office, actor, approval_id)
    DEEDS[approval.act](session, office, approval, actor.id)
    return approval


def refuse(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Refuse an act that waits; nothing happens."""
    approval = approvals.find(session, approval_id)
    require_organiser(session, actor, approval.campaign_id)
    return approvals.refuse(session, office, actor, approval_id)


def ask_to_void(
    session: Session, office: Office, actor: Actor, campaign_id: str, submission_id: str, *, reason: str
) -> Approval:
    """Ask a second person to disqualify a submission."""
    require_organiser(session, actor, campaign_id)
    data = {"submission": submission_id}
    return approvals.ask(session, office, actor, "void", campaign_id=campaign_id, data=data, reason=reason)


def ask_to_apply(session: Session, office: Office, actor: Actor, batch_id: str) -> Approval:
    """Ask a second person to put a new version of the truth in force."""
    batch = rescoring.find(session, batch_id)
    require_organiser(session, actor, batch.campaign_id)
    data = {"batch": batch.id}
    campaign_id, reason = batch.campaign_id, batch.reason
    return approvals.ask(session, office, actor, "reference", campaign_id=campaign_id, data=data, reason=reason)


def ask_to_open(session: Session, office: Office, actor: Actor, campaign_id: str, reference_id: str) -> Approval:
    """Ask a second person to let the first version of a reference open its task."""
    require_organiser(session, actor, campaign_id)
    data, reason = {"reference": reference_id}, "the first version"
    return approvals.ask(session, office, actor, "reference", campaign_id=campaign_id, data=data, reason=reason)


def ask_to_grant(
    session: Session, office: Office, actor: Actor, campaign_id: str, person_id: str, role: str, *, reason: str
) -> Approval:
    """Ask a second person to give somebody a role."""
    require_organiser(session, actor, campaign_id)
    data = {"person": person_id, "role": role}
    return approvals.ask(session, office, actor, "role", campaign_id=campaign_id, data=data, reason=reason)


def _first(approval: Approval) -> Actor:
    return Actor(approval.asked_by)


def _release(session: Session, office: Office, approval: Approval, second: str) -> object:
    what: Mapping[str, Any] = approval.data
    names = {"reason": approval.reason, "seconded_by": second}
    campaign_id = str(approval.campaign_id)
    return releasing.release(session, office, _first(approval), campaign_id, what["window"], what["level"], **names)


def _reference(session: Session, office: Office, approval: Approval, second: str) -> object:
    if "batch" in approval.data:
        return rescoring.apply(session, office, _first(approval), approval.data["batch"], seconded_by=second)
    return references.open_task(session, office, _first(approval), approval.data["reference"], seconded_by=second)


def _void(session: Session, office: Office, approval: Approval, second: str) -> object:
    names = {"reason": approval.reason, "seconded_by": second}
    return standings.disqualify(session, office, _first(approval), approval.data["submission"], **names)


def _role(session: Session, office: Office, approval: Approval, second: str) -> object:
    return roles.grant(
        session,
        office,
        _first(approval),
        person_id=approval.data["person"],
        role=approval.data["role"],
        campaign_id=approval.campaign_id,
        reason=approval.reason,
        seconded_by=second,
    )


DEEDS: Final[Mapping[str, Deed]] = {"release": _release, "reference": _reference, "void": _void, "role": _role}
"""What is done when the second person agrees."""
