"""Tokens for programs: random, shown once, kept as a digest, never stronger or longer-lived than their maker (X-11)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import Request
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Person, Token
from basanite.problems import visible
from basanite.server.guard import GUESSES
from basanite.server.roles import Known, caller_address

PREFIX = "bsn_"
"""So that a token that leaked into a repository can be searched for."""
SCOPES = {
    "read": "see what you can see: calendar, own submissions, released results",
    "submit": "upload, describe, withdraw and mark primary",
    "download": "download data packs",
    "organise": "act for the evaluation team",
}
LONGEST = timedelta(days=366)
MOST = 20
"""Tokens in use that one person may have."""


@dataclass(frozen=True)
class MadeToken:
    """A new token; its text is shown this once."""

    id: str
    text: str
    expires: datetime


def digest(text: str) -> str:
    """What is kept of a token; it is random and long, so a plain digest cannot be guessed back."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token that is to be made: whose, what for, and what it may do how long."""

    person_id: str
    label: str
    scopes: Collection[str] = ("read", "submit")
    lasts: timedelta = timedelta(days=90)


def make_token(
    session: Session, office: Office, actor: Actor, new: NewToken, *, maker: Known | None = None
) -> MadeToken:
    """Make a token for a person; made with a token, it gets no scope and no day more than that one has."""
    now = office.clock()
    _check(session, new, maker, now)
    expires = min(now + new.lasts, _end(session, maker) or now + LONGEST)
    text = PREFIX + secrets.token_urlsafe(32)
    facts = {"person_id": new.person_id, "label": new.label, "scopes": sorted(set(new.scopes))}
    row = Token(digest=digest(text), made=now, expires=expires, **facts)
    session.add(row)
    session.flush()
    data = {"person": new.person_id, "scopes": facts["scopes"]}
    events.record(session, "token.made", at=now, actor=actor.id, subject=row.id, data=data)
    return MadeToken(row.id, text, expires)


def _check(session: Session, new: NewToken, maker: Known | None, now: datetime) -> None:
    wanted = frozenset(new.scopes)
    held = frozenset(SCOPES) if maker is None or maker.scopes is None else maker.scopes
    if not wanted or not wanted <= held:
        raise _refusal(f"scopes {', '.join(sorted(wanted)) or 'none'}", f"choose from {', '.join(sorted(held))}", 403)
    if maker is not None and not maker.strong and "organise" in wanted:
        raise _refusal("scope organise without a second factor", "sign in with your second factor first", 403)
    if not timedelta(0) < new.lasts <= LONGEST:
        raise _refusal(f"{new.lasts.days} days", f"choose 1 to {LONGEST.days} days", 422)
    if not 0 < len(new.label) <= 100 or visible(new.label) != new.label:
        raise _refusal("the label", "use 1 to 100 printable characters", 422)
    if len(tokens_of(session, new.person_id, now)) >= MOST:
        raise _refusal(f"{MOST} active tokens", "revoke one that you no longer need", 409)


def _refusal(what: str, fix: str, status: int) -> RefusedError:
    return refused("X-11", f"a token with {what} cannot be created", fix, status=status)


def _end(session: Session, maker: Known | None) -> datetime | None:
    row = session.get(Token, maker.token) if maker is not None and maker.token else None
    return row.expires if row is not None else None


def tokens_of(session: Session, person_id: str, now: datetime) -> list[Token]:
    """The tokens of a person that still work, newest first."""
    rows = session.scalars(
        select(Token).where(Token.person_id == person_id, Token.revoked.is_(None)).order_by(Token.made.desc(), Token.id)
    )
    return [row for row in rows if row.expires is None or row.expires > now]


def revoke_token(session: Session, office: Office, actor: Actor, *, person_id: str, token_id: str) -> None:
    """Make a token worthless; another person's is not there at all."""
    row = session.get(Token, token_id)
    if row is None or row.person_id != person_id or row.revoked is not None:
        raise missing("token")
    row.revoked = office.clock()
    events.record(session, "token.revoked", at=row.revoked, actor=actor.id, subject=row.id)


def recognise_token(request: Request, session: Session, office: Office) -> Known | None:
    """Who sent the token of this call; a wrong one is refused and counted, never treated as no token.

    Tokens are too long to be guessed, so a right one gets in from wherever it comes: else one script with an old token
    could keep everybody at an institute's address away from a deadline.
    """
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text.strip().startswith(PREFIX):
        return None
    known = _holder(session, text.strip(), office.clock())
    if known is None:
        request.app.state.throttle.count(GUESSES, "token", caller_address(request))
        raise refused("X-11", "this token is not active", "create a new one on your account page", status=401)
    return known


_HOLDER = (
    select(Token.id, Token.person_id, Token.scopes, Token.expires)
    .join(Person, Person.id == Token.person_id)
    .outerjoin(Account, Account.person_id == Token.person_id)
    .where(Token.digest == bindparam("digest"), Token.revoked.is_(None))
    .where(Person.erased.is_(None), Account.closed.is_(None))
)
"""Whose token it is, if both are in use; asked at every call of a program, and so built once."""


def _holder(session: Session, text: str, now: datetime) -> Known | None:
    row = session.execute(_HOLDER, {"digest": digest(text)}).first()
    if row is None or (row.expires is not None and row.expires <= now):
        return None
    return Known(row.person_id, "token", frozenset(map(str, row.scopes)), token=row.id)
