"""The second of two people agrees, and what the first asked for is done at once, in both names (X-4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from sqlalchemy.orm import Session

from basanite.campaign.actions import references, releases, rescoring, two_people
from basanite.campaign.actions.registry import (
    NEWEST,
    Argument,
    Arguments,
    At,
    Option,
    Outcome,
    action,
    list_outcome,
    newest,
    rows_of,
)
from basanite.campaign.intake import standings
from basanite.campaign.office import Actor, Office
from basanite.campaign.people import roles
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.tables import Approval

Deed = Callable[[Session, Office, Approval, str], object]


def agree(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Agree to an act that waits; it is done in the same transaction, or nothing is."""
    approval = two_people.find(session, approval_id)
    require_organiser(session, actor, approval.campaign_id)
    two_people.record_decision(session, office, actor, approval_id, "agreed")
    DEEDS[approval.act](session, office, approval, actor.id)
    return approval


def refuse(session: Session, office: Office, actor: Actor, approval_id: str) -> Approval:
    """Refuse an act that waits; nothing happens."""
    approval = two_people.find(session, approval_id)
    require_organiser(session, actor, approval.campaign_id)
    return two_people.record_decision(session, office, actor, approval_id, "refused")


def ask_to_void(
    session: Session, office: Office, actor: Actor, campaign_id: str, submission_id: str, *, reason: str
) -> Approval:
    """Ask a second person to disqualify a submission."""
    require_organiser(session, actor, campaign_id)
    request = two_people.Request("void", {"submission": submission_id}, reason)
    return two_people.ask(session, office, actor, campaign_id, request)


def ask_to_open(session: Session, office: Office, actor: Actor, campaign_id: str, reference_id: str) -> Approval:
    """Ask a second person to let the first version of a reference open its task."""
    require_organiser(session, actor, campaign_id)
    request = two_people.Request("reference", {"reference": reference_id}, "the first version")
    return two_people.ask(session, office, actor, campaign_id, request)


def ask_to_grant(session: Session, office: Office, actor: Actor, campaign_id: str, wanted: roles.RoleGrant) -> Approval:
    """Ask a second person to give somebody a role."""
    require_organiser(session, actor, campaign_id)
    request = two_people.Request("role", {"person": wanted.person_id, "role": wanted.role}, wanted.reason)
    return two_people.ask(session, office, actor, campaign_id, request)


def _first(approval: Approval) -> Actor:
    return Actor(approval.asked_by)


def _release(session: Session, office: Office, approval: Approval, second: str) -> object:
    what: Mapping[str, Any] = approval.data
    wanted = releases.LevelRelease(what["window"], what["level"], approval.reason)
    first, campaign_id = _first(approval), str(approval.campaign_id)
    return releases.release(session, office, first, campaign_id, wanted, seconded_by=second)


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
        roles.RoleGrant(
            person_id=approval.data["person"],
            role=approval.data["role"],
            campaign_id=approval.campaign_id,
            reason=approval.reason,
        ),
        seconded_by=second,
    )


DEEDS: Final[Mapping[str, Deed]] = {"release": _release, "reference": _reference, "void": _void, "role": _role}
"""What is done when the second person agrees."""


class RequestsWanted(Arguments):
    """Which requests are listed."""

    every: Annotated[bool, Option("Decided ones too.", name="all")] = False


class OneRequest(Arguments):
    """What waits for a second person."""

    approval: Annotated[str, Argument("An id, or the newest.")] = NEWEST


@action("approvals list", reads=True, hint="--data season")
def list_requests(at: At, given: RequestsWanted) -> Outcome:
    """List actions that wait for a second person's approval."""
    found = (two_people.all_requests if given.every else two_people.waiting_requests)(at.session, at.campaign_id)
    columns = ("id", "act", "data", "reason", "asked_by", "asked", "state", "decided_by")
    return list_outcome("approvals", rows_of(found, columns), columns, "No requests are waiting.")


@action("approvals agree", hint="--as otto@people.example --data season", logs="approval.agreed")
def agree_to_request(at: At, given: OneRequest) -> Outcome:
    """Approve an action (an id, or the newest) as the second person; it is done at once. Identify yourself with
    --as."""
    row = agree(*at.who, _request_meant(at, given.approval))
    return Outcome({"approval": row.id, "act": row.act, "state": row.state}, (f"Done: {row.act}.",))


@action("approvals refuse", hint="--as otto@people.example --data season", logs="approval.refused")
def refuse_request(at: At, given: OneRequest) -> Outcome:
    """Refuse a pending action (an id, or the newest); nothing happens."""
    row = refuse(*at.who, _request_meant(at, given.approval))
    return Outcome({"approval": row.id, "act": row.act, "state": row.state}, (f"Declined: {row.act}.",))


def _request_meant(at: At, approval: str) -> str:
    if approval == NEWEST:
        return newest(two_people.waiting_requests(at.session, at.campaign_id), "request that waits for a second person")
    at.check_here(two_people.find(at.session, approval).campaign_id, "request that waits for a second person")
    return approval
