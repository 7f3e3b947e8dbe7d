"""Agreements: a team signs a version, the organiser counter-signs it, and until it ends its packs are open (P-26).

The signed copy names its signatory. It is therefore sealed with that person's key: if the person is erased, the copy
is gone, and that the team signed which version when is still known.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Agreement, Campaign
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import organisers, require_organiser
from basanite.campaign.people.teams.reading import find_team, pi_of, require_pi
from basanite.campaign.store import events
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Signature, Team

LARGEST_COPY = 20 * 2**20
KINDS = {b"%PDF-": "application/pdf", b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True)
class Standing:
    """Where a team stands with an agreement."""

    agreement: Agreement
    state: str
    """`missing`, `uploaded` (waits), `executed`, `outdated` (an older version), `expired` or `refused`."""
    signature: Signature | None = None


def sign(session: Session, office: Office, actor: Actor, team_id: str, agreement_id: str, *, copy: bytes) -> Signature:
    """The copy that the PI signed, of the version in force, uploaded by the PI, or by an organiser who got it on paper.

    It is executed at once where the plan asks for no counter-signature.
    """
    team = find_team(session, team_id)
    require_pi(session, actor, team)
    signatory = pi_of(session, team.id)
    if signatory is None:
        raise missing("PI")
    agreement = find_agreement(in_force(session, team.campaign_id).campaign, agreement_id)
    _check_copy(copy)
    now, sealed = office.clock(), seal_bytes(office.vault, signatory, copy)
    row = Signature(
        campaign_id=team.campaign_id,
        team_id=team.id,
        agreement=agreement.id,
        version=agreement.version,
        signatory=signatory,
        copy_digest=office.files.put(sealed).digest,
        uploaded=now,
        expires=agreement.expires.utc if agreement.expires else None,
    )
    session.add(row)
    session.flush()
    record(session, office, actor, "agreement.uploaded", row)
    if agreement.counter_signed:
        _tell(session, office, "agreement_uploaded", row, agreement, list(organisers(session, team.campaign_id)))
    else:
        _execute(session, office, actor, row, agreement)
    return row


def counter_sign(session: Session, office: Office, actor: Actor, signature_id: str) -> Signature:
    """The organiser signs, too: from now on the agreement is executed."""
    row = _waiting(session, actor, signature_id)
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    _execute(session, office, actor, row, agreement)
    return row


def refuse_signature(session: Session, office: Office, actor: Actor, signature_id: str, *, reason: str) -> Signature:
    """The organiser does not accept the copy, and says why."""
    row = _waiting(session, actor, signature_id)
    agreement = find_agreement(in_force(session, row.campaign_id).campaign, row.agreement)
    row.state = "refused"
    record(session, office, actor, "agreement.refused", row, reason=reason)
    _tell(session, office, "agreement_refused", row, agreement, [row.signatory], reason=reason)
    return row


def signed_copy(session: Session, office: Office, actor: Actor, signature_id: str) -> tuple[str, bytes] | None:
    """The kind and the bytes of a signed copy, for the team's PI and organisers; None if its signatory was erased."""
    row = session.get(Signature, signature_id)
    if row is None or row.copy_digest is None:
        raise missing("copy")
    require_pi(session, actor, session.get_one(Team, row.team_id))
    plain = unseal_bytes(office.vault, row.signatory, office.files.read(row.copy_digest))
    return None if plain is None else (kind_of_copy(plain), plain)


def standing(session: Session, campaign: Campaign, team_id: str | None, agreement_id: str, now: datetime) -> Standing:
    """Where a team stands with an agreement; the best of its signatures counts."""
    agreement = find_agreement(campaign, agreement_id)
    query = select(Signature).where(Signature.team_id == team_id, Signature.agreement == agreement_id)
    rows = session.scalars(query.order_by(Signature.uploaded.desc(), Signature.id)).all()
    found = [Standing(agreement, _state(row, agreement, now), row) for row in rows]
    ranks = ("executed", "uploaded", "outdated", "expired", "refused")
    return min(found, key=lambda one: ranks.index(one.state)) if found else Standing(agreement, "missing")


def find_agreement(campaign: Campaign, agreement_id: str) -> Agreement:
    """The agreement of an id, as the plan in force has it."""
    for agreement in campaign.agreements:
        if agreement.id == agreement_id:
            return agreement
    raise missing("agreement")


def kind_of_copy(copy: bytes) -> str:
    """What a copy is by its first bytes; empty if it is nothing that we take.

    >>> kind_of_copy(b"%PDF-1.7")
    'application/pdf'
    """
    return next((kind for first, kind in KINDS.items() if copy.startswith(first)), "")


def record(session: Session, office: Office, actor: Actor, kind: str, row: Signature, **more: str) -> None:
    """Write to the log what happened to a signature."""
    data = {"team": row.team_id, "agreement": row.agreement, "version": row.version, **more}
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )


def _check_copy(copy: bytes) -> None:
    if not kind_of_copy(copy) or len(copy) > LARGEST_COPY:
        fix = f"upload a PDF, PNG or JPEG of at most {LARGEST_COPY >> 20} MiB"
        raise refused("P-26", "this cannot be a signed copy", fix, status=422)


def _execute(session: Session, office: Office, actor: Actor, row: Signature, agreement: Agreement) -> None:
    row.state, row.executed, row.executed_by = "executed", office.clock(), actor.id
    record(session, office, actor, "agreement.executed", row)
    pi = pi_of(session, row.team_id)
    _tell(session, office, "agreement_executed", row, agreement, [pi or row.signatory])


def _waiting(session: Session, actor: Actor, signature_id: str) -> Signature:
    row = session.get(Signature, signature_id)
    if row is None:
        raise missing("signature")
    require_organiser(session, actor, row.campaign_id)
    if row.state != "uploaded":
        raise refused("P-26", f"this copy is {row.state} already", "look at the list of agreements", status=409)
    return row


def _state(row: Signature, agreement: Agreement, now: datetime) -> str:
    if row.state == "executed" and row.expires is not None and row.expires <= now:
        return "expired"
    return "outdated" if row.state == "executed" and row.version != agreement.version else row.state


def _tell(
    session: Session,
    office: Office,
    template: str,
    row: Signature,
    agreement: Agreement,
    persons: list[str],
    **more: str,
) -> None:
    data = {"signature": row.id, "team": row.team_id, "title": agreement.title, "version": row.version, **more}
    tell(session, office, template, persons=persons, campaign_id=row.campaign_id, data=data, once=row.id)
