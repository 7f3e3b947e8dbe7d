"""Signing for a campaign: the key of this server, its rotation and revocation, and the receipt of every intake.

Nothing here reads a submission's content, a reference or a result: the process that signs parses nothing (X-6).
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import CampaignRow, Receipt, ReceiptKey, Submission
from basanite.errors import BasaniteError
from basanite.receipts.keys import Keyring, PublicKey, Revocation, Rotation, SigningKey, hand_over, moment, revoke
from basanite.receipts.signing import Kind, make

VAULT = "signing"
"""The kind of secret that signing keys are in the vault."""


class LostKeyError(BasaniteError):
    """The secret half of the signing key is not in the vault."""


def intake_receipt(session: Session, office: Office, submission: Submission) -> Receipt:
    """The receipt that a submission was taken in; call it after the event of its acceptance was recorded.

    It holds what the team declared and what arrived: no byte of it depends on the reference (X-6).
    """
    return signed(session, office, "intake", submission)


def signed(
    session: Session,
    office: Office,
    kind: Kind,
    submission: Submission,
    more: Mapping[str, Any] | None = None,
    *,
    result_key: str | None = None,
    supersedes: str | None = None,
) -> Receipt:
    """Sign and keep a receipt: who, what, when, standing and the log's head, and `more` for a score."""
    session.flush()
    key = signing_key(session, office)
    content = _statement(session, office, submission) | dict(more or {})
    receipt = Receipt(
        submission_id=submission.id,
        kind=kind,
        result_key=result_key,
        content=make(kind, content, key),
        key_id=key.id,
        supersedes=supersedes,
        at=office.clock(),
    )
    session.add(receipt)
    session.flush()
    return receipt


def signing_key(session: Session, office: Office) -> SigningKey:
    """The key that signs now; the first one is made when it is first needed."""
    row = _active(session) or _first(session, office)
    return _secret(office, row)


def rotate(session: Session, office: Office, actor: Actor = SYSTEM) -> ReceiptKey:
    """A new key signs from now on; the old one signs the hand-over and nothing after it.

    A key whose secret is lost can sign no hand-over: whoever pinned it has to get the new one from the organisers.
    """
    _alone(session)
    row = _active(session) or _first(session, office)
    fresh, now = SigningKey(secrets.token_bytes(32)), office.clock()
    row.ended = now
    try:
        row.handed_over = hand_over(_secret(office, row), fresh, now).signature
        row.successor = fresh.id
    except LostKeyError:
        row.successor = None
    new = _keep(session, office, fresh)
    data = {"old": row.id, "handed_over": row.successor is not None}
    events.record(session, "key.rotated", at=now, actor=actor.id, subject=fresh.id, data=data)
    return new


def revoke_key(session: Session, office: Office, actor: Actor, key_id: str, reason: str) -> ReceiptKey:
    """Nothing that this key signed is to be trusted any more; if it signs now, a new one takes its place."""
    _alone(session)
    row = session.get(ReceiptKey, key_id)
    if row is None or row.origin:
        raise BasaniteError(f"No key of this server is called {key_id}. `basanite admin keys` lists them.")
    if row.ended is None:
        rotate(session, office, actor)
    by = signing_key(session, office)
    revocation = revoke(key_id, by, office.clock(), reason)
    row.revoked, row.revoked_by, row.reason = office.clock(), by.id, reason
    row.revocation = revocation.signature
    events.record(session, "key.revoked", at=office.clock(), actor=actor.id, subject=key_id, data={"reason": reason})
    return row


def keyring(session: Session) -> Keyring:
    """All keys of this server and those that came with imports, with hand-overs and revocations: to be published."""
    rows = session.scalars(select(ReceiptKey).order_by(ReceiptKey.start, ReceiptKey.id)).all()
    public = {row.id: row.public for row in rows}
    return Keyring(
        tuple(PublicKey(row.public, start=moment(row.start), origin=row.origin) for row in rows),
        tuple(_rotation(row, public[row.successor]) for row in rows if row.successor in public and row.ended),
        tuple(_revocation(row) for row in rows if row.revoked),
    )


def _rotation(row: ReceiptKey, public: str) -> Rotation:
    return Rotation(row.id, public, moment(row.ended) if row.ended else "", row.handed_over)


def _revocation(row: ReceiptKey) -> Revocation:
    at = moment(row.revoked) if row.revoked else ""
    return Revocation(row.id, at, row.revoked_by or "", row.reason, row.revocation)


def _statement(session: Session, office: Office, submission: Submission) -> dict[str, Any]:
    """What both kinds say. The team stands as its random id: receipts follow the naming of boards (P-25)."""
    campaign = session.get_one(CampaignRow, submission.campaign_id)
    sequence, head = events.head(session)
    return {
        "at": moment(office.clock()),
        "campaign": {"id": campaign.id, "slug": campaign.slug},
        "log": {"head": head, "sequence": sequence},
        "standing": submission.standing,
        "submission": _submitted(submission),
    }


def _submitted(row: Submission) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "door": row.door,
        "id": row.id,
        "language": row.language,
        "number": row.number,
        "plan_version": row.plan_version,
        "queryset": row.queryset,
        "received": moment(row.received),
        "sha256": row.sha256,
        "size": row.size,
        "started": moment(row.started),
        "task": row.task,
        "team": row.team_id,
        "track": row.track,
        "type": row.type,
        "window": row.window,
    }


def _active(session: Session) -> ReceiptKey | None:
    here = select(ReceiptKey).where(ReceiptKey.ended.is_(None), ReceiptKey.revoked.is_(None), ReceiptKey.origin == "")
    return session.scalars(here.order_by(ReceiptKey.start.desc())).first()


def _first(session: Session, office: Office) -> ReceiptKey:
    _alone(session)
    if (row := _active(session)) is not None:  # somebody else made it while we waited
        return row
    row = _keep(session, office, SigningKey(secrets.token_bytes(32)))
    events.record(session, "key.made", at=office.clock(), actor=SYSTEM.id, subject=row.id)
    return row


def _keep(session: Session, office: Office, key: SigningKey) -> ReceiptKey:
    """The secret is in the vault before any row names it: a crash between leaves a key that nobody uses."""
    office.vault.keep(VAULT, key.id, key.secret)
    row = ReceiptKey(id=key.id, public=key.public.public, start=office.clock())
    session.add(row)
    session.flush()
    return row


def _secret(office: Office, row: ReceiptKey) -> SigningKey:
    try:
        return SigningKey(office.vault.read(VAULT, row.id))
    except FileNotFoundError as error:
        raise LostKeyError(
            f"The vault does not hold the signing key {row.id}. Restore the vault from its own copy, or make a new "
            "key with `basanite admin keys replace`."
        ) from error


def _alone(session: Session) -> None:
    """On PostgreSQL wait for whoever is changing keys or the log; on SQLite a writer is alone anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": events.LOCK})
