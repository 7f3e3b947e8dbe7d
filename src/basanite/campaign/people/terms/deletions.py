"""The end of agreements: data are closed, certificates of deletion are asked for, missing ones are listed (P-26)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Agreement
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.people.teams.reading import pi_of, require_pi
from basanite.campaign.people.terms.agreements import find_agreement, kind_of_copy, record
from basanite.campaign.store.personal import seal_bytes
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Signature, Team

TIME_TO_DELETE = timedelta(days=30)
"""How long a team has where the plan names no day."""


@dataclass(frozen=True)
class Deletion:
    """One certificate that is asked for."""

    signature: str
    team: str
    agreement: str
    asked: datetime
    due: datetime
    certified: datetime | None
    overdue: bool


def ask_for_deletion(session: Session, office: Office, actor: Actor, signature_id: str) -> Signature:
    """End an executed agreement and ask its team to delete the data and certify it."""
    row = session.get(Signature, signature_id)
    if row is None or row.executed is None:
        raise missing("signature")
    if actor != SYSTEM:
        require_organiser(session, actor, row.campaign_id)
    if row.deletion_asked is None:
        row.deletion_asked, row.state = in_force(session, row.campaign_id).now(office.clock()), "expired"
        record(session, office, actor, "deletion.asked", row)
        _tell(session, office, "deletion_asked", row)
    return row


def certify_deletion(
    session: Session, office: Office, actor: Actor, signature_id: str, *, copy: bytes = b""
) -> Signature:
    """The PI certifies that the data are deleted everywhere, with a signed certificate if there is one."""
    row = session.get(Signature, signature_id)
    if row is None or row.deletion_asked is None:
        raise missing("request")
    require_pi(session, actor, session.get_one(Team, row.team_id))
    if copy and not kind_of_copy(copy):
        raise refused("P-26", "this cannot be a certificate", "upload a PDF, PNG or JPEG", status=422)
    keeper = pi_of(session, row.team_id) or row.signatory
    row.deletion_certified, row.deletion_by = office.clock(), keeper
    row.deletion_digest = office.files.put(seal_bytes(office.vault, keeper, copy)).digest if copy else None
    record(session, office, actor, "deletion.certified", row)
    return row


def deletions(session: Session, campaign_id: str, now: datetime) -> tuple[Deletion, ...]:
    """Every certificate asked for: the missing ones first, the most overdue on top; `now` in the campaign's time."""
    query = select(Signature).where(Signature.campaign_id == campaign_id, Signature.deletion_asked.is_not(None))
    campaign = in_force(session, campaign_id).campaign
    found = [_deletion(row, find_agreement(campaign, row.agreement), now) for row in session.scalars(query)]
    return tuple(sorted(found, key=lambda one: (one.certified is not None, one.due, one.signature)))


def look_after_agreements(session: Session, office: Office, campaign_id: str) -> int:
    """The duty: executed agreements whose time is over end, and teams that owe a certificate are reminded once."""
    now = in_force(session, campaign_id).now(office.clock())
    rows = select(Signature).where(Signature.campaign_id == campaign_id)
    over = rows.where(Signature.state == "executed", Signature.expires <= now)
    ended = [ask_for_deletion(session, office, SYSTEM, row.id) for row in session.scalars(over)]
    owed = rows.where(Signature.deletion_asked.is_not(None), Signature.deletion_certified.is_(None))
    reminded = [row for row in session.scalars(owed) if _due(session, row) <= now]
    return len(ended) + sum(_tell(session, office, "deletion_overdue", row) for row in reminded)


def _deletion(row: Signature, agreement: Agreement, now: datetime) -> Deletion:
    asked = row.deletion_asked or now
    due = _due_day(row, agreement)
    missing_yet = row.deletion_certified is None
    return Deletion(row.id, row.team_id, row.agreement, asked, due, row.deletion_certified, missing_yet and due <= now)


def _due(session: Session, row: Signature) -> datetime:
    return _due_day(row, find_agreement(in_force(session, row.campaign_id).campaign, row.agreement))


def _due_day(row: Signature, agreement: Agreement) -> datetime:
    asked = row.deletion_asked or row.uploaded
    return max(asked, agreement.deletion_by.utc) if agreement.deletion_by else asked + TIME_TO_DELETE


def _tell(session: Session, office: Office, template: str, row: Signature) -> int:
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    persons = [pi_of(session, row.team_id) or row.signatory]
    until = f"{_due_day(row, agreement):%Y-%m-%d %H:%M} UTC"
    data = {"signature": row.id, "team": row.team_id, "title": agreement.title, "until": until}
    return tell(session, office, template, persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)
