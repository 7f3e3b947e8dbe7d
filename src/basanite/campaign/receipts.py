"""Signing for a campaign: the key of this server, its rotation and revocation, and the receipt of every intake.

Nothing here reads a submission's content, a reference or a result: the process that signs parses nothing (X-6).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import CampaignRow, Receipt, ReceiptKey, Submission
from basanite.campaign.store.vault import Vault
from basanite.canonical import parse_canonical
from basanite.errors import BasaniteError
from basanite.receipts.signatures import (
    Keyring,
    Kind,
    PublicKey,
    Revocation,
    Rotation,
    SigningKey,
    hand_over,
    make,
    message,
    moment,
    revoke,
)

VAULT = "signing"
"""The kind of secret that signing keys are in the vault."""


class LostKeyError(BasaniteError):
    """The secret half of the signing key is not in the vault."""


def intake_receipt(session: Session, office: Office, submission: Submission) -> Receipt:
    """The receipt that a submission was taken in; call it after the event of its acceptance was recorded.

    It holds what the team declared and what arrived: no byte of it depends on the reference (X-6).
    """
    return sign_receipt(session, office, "intake", submission)


@dataclass(frozen=True, slots=True)
class ScoreFacts:
    """What the receipt of a score says beyond that of intake, and which receipt it replaces."""

    statement: Mapping[str, Any] = field(default_factory=dict)
    result_key: str | None = None
    supersedes: str | None = None


NO_SCORE: Final = ScoreFacts()


def sign_receipt(
    session: Session, office: Office, kind: Kind, submission: Submission, score: ScoreFacts = NO_SCORE
) -> Receipt:
    """Sign and keep a receipt: who, what, when, standing and the log's head, and what a score adds."""
    session.flush()
    key = signing_key(session, office)
    content = _statement(session, office, submission) | dict(score.statement)
    receipt = Receipt(
        submission_id=submission.id,
        kind=kind,
        result_key=score.result_key,
        content=make(kind, content, key),
        key_id=key.id,
        supersedes=score.supersedes,
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

    A key whose secret is lost can sign no hand-over: anyone who pinned it has to get the new one from the organisers.
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
        raise BasaniteError(f"This server has no key {key_id}. `basanite admin keys` lists its keys.")
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
        tuple(
            Rotation(row.id, public[row.successor], moment(row.ended), row.handed_over)
            for row in rows
            if row.successor in public and row.ended
        ),
        tuple(
            Revocation(row.id, moment(row.revoked), row.revoked_by or "", row.reason, row.revocation)
            for row in rows
            if row.revoked
        ),
    )


def _statement(session: Session, office: Office, submission: Submission) -> dict[str, Any]:
    """What both kinds say. The team stands as its random id: receipts follow the naming of boards (P-25)."""
    campaign = session.get_one(CampaignRow, submission.campaign_id)
    sequence, head = events.head(session)
    return {
        "at": moment(office.clock()),
        "campaign": {"id": campaign.id, "slug": campaign.slug},
        "log": {"head": head, "sequence": sequence},
        "standing": submission.standing,
        "submission": _submission_facts(submission),
    }


def _submission_facts(row: Submission) -> dict[str, Any]:
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
    """On PostgreSQL wait for anyone who is changing keys or the log; on SQLite a writer is alone anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": events.LOCK})


HEADS: Final = "log-heads.jsonl"
"""In the data folder, unless the settings name another place."""
MOST_BROKEN: Final = 20
LARGEST: Final = 64 * 2**20
LONGEST_LINE: Final = 4096

Anchor = tuple[int, str]
"""The number and the digest of an event."""


@dataclass(frozen=True)
class Verdict:
    """Whether the log is what it was: the numbers of what was changed, its length and head, and what vouches for it."""

    broken: tuple[int, ...]
    events: int
    head: str
    anchors: int = 0
    """How many receipts and written heads it was compared with."""
    anchored: int = 0
    """The newest event that one of them names; later ones are vouched for by nothing yet."""
    unbelieved: int = 0
    """How many of them are not signed by a key of this server, or were changed."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.broken and not self.unbelieved


def verify(session: Session, vault: Vault | None, more: Iterable[bytes] = ()) -> Verdict:
    """Check every event against the one before it, and against every receipt at hand; `more` are those from outside.

    The keys are those of the vault, for anyone who can change the database can add keys to it; without a vault, as in a
    restore that leaves the secrets for later, those of the database must do.
    """
    keys = _keys(session, vault)
    found = [_anchor(content, keys) for content in (*_receipts(session, keys), *more)]
    believed = [one for one in found if one is not None]
    count, head = events.head(session)
    broken = tuple(islice(events.broken(session, believed), MOST_BROKEN))
    anchored = max((sequence for sequence, _ in believed), default=0)
    return Verdict(broken, count, head, len(found), anchored, len(found) - len(believed))


def _keys(session: Session, vault: Vault | None) -> dict[str, PublicKey]:
    if vault is None:
        return {key.id: key for key in keyring(session).keys if not key.origin}
    return {name: SigningKey(vault.read(VAULT, name)).public for name in vault.names(VAULT)}


def _receipts(session: Session, keys: Container[str]) -> Iterator[bytes]:
    """All receipts but those that came with an import, which speak of another log."""
    query = select(Receipt.content, Receipt.key_id, ReceiptKey.origin)
    rows = session.execute(query.join(ReceiptKey, ReceiptKey.id == Receipt.key_id, isouter=True))
    return (content for content, key, origin in rows if key in keys or not origin)


def _anchor(content: bytes, keys: Mapping[str, PublicKey]) -> Anchor | None:
    """What a receipt or a head says of the log, if one of the keys signed it."""
    body = parse_canonical(content) or {}
    key, signature = keys.get(str(body.get("key"))), body.pop("signature", None)
    if key is None or not isinstance(signature, str) or not key.checks(signature, message(body)):
        return None
    log: Any = body["content"]["log"]  # signed by us, so it is as we write it
    return int(log["sequence"]), str(log["head"])


def heads_file(office: Office) -> Path:
    """Where heads of the log are written."""
    return office.settings.log_heads or office.settings.data / HEADS


def write_head(office: Office) -> bool:
    """Write the signed head of the log down outside the database, if it went on since; a worker's duty.

    Before anything was signed here there is no key, and nothing that anybody could hold against the log.
    """
    place = heads_file(office)
    with office.writing() as session:
        sequence, head = events.head(session)
        if not keyring(session).keys or sequence == _last_sequence(place):
            return False
        content = {"at": moment(office.clock()), "log": {"head": head, "sequence": sequence}}
        line = make("head", content, signing_key(session, office))
    with place.open("ab+") as file:
        file.seek(max(0, file.tell() - 1))
        torn = file.read(1) not in (b"", b"\n")  # the last writer was killed, or the disk was full
        file.write(b"\n" + line if torn else line)
        file.flush()
        os.fsync(file.fileno())
    return True


def _last_sequence(place: Path) -> int:
    """The number of the event that was written down last; 0 if none was, or the line is no head."""
    if not place.exists():
        return 0
    with place.open("rb") as file:
        file.seek(max(0, place.stat().st_size - LONGEST_LINE))
        lines = file.read().splitlines(keepends=True)
    body = (parse_canonical(lines[-1]) if lines else None) or {}
    return int(body.get("content", {}).get("log", {}).get("sequence", 0))


def kept_heads(office: Office) -> list[bytes]:
    """The heads that were written here; a line that was never finished says nothing."""
    place = heads_file(office)
    return [line for line in read_outside([place]) if parse_canonical(line)] if place.exists() else []


def read_outside(places: Iterable[Path]) -> list[bytes]:
    """Receipts and heads in files, one per line."""
    found: list[bytes] = []
    for place in places:
        if place.stat().st_size > LARGEST:
            raise BasaniteError(
                f"{place} is larger than {LARGEST // 2**20} MiB, too large for a file of receipts or checkpoints."
            )
        found += [line + b"\n" for line in place.read_bytes().splitlines() if line.strip()]
    return found
