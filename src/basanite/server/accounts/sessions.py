"""Sessions: a row on the server, an unguessable id in a signed cookie; each can be listed and revoked (P-11, X-11)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from itsdangerous import BadSignature, Signer
from sqlalchemy import select, update
from sqlalchemy.orm import Session as Database
from starlette.requests import Request

from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Grant, Membership, Session
from basanite.server.roles import Known

SEEN_AGAIN = timedelta(minutes=1)
"""How old the time of the last visit must be before it is written again: a page view is no reason to write."""


BROWSERS = {"Edg/": "Edge", "Firefox/": "Firefox", "Chrome/": "Chrome", "Safari/": "Safari", "curl": "curl"}
SYSTEMS = {"Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows"}
SYSTEMS |= {"Mac OS": "macOS", "Linux": "Linux"}


@dataclass(frozen=True)
class SignedIn:
    """Who is signed in with which session."""

    person: str
    digest: str
    csrf: str
    strong: bool
    """Whether a second factor was given."""
    made: datetime
    seen: datetime
    expires: datetime
    agent: str = ""
    standing: str = ""
    zone: str = "UTC"


def cookie_name(office: Office) -> str:
    """The cookie's name; the prefix makes browsers refuse it from other hosts and without encryption."""
    return "__Host-basanite" if office.settings.https else "basanite"


def start(database: Database, office: Office, person: str, *, strong: bool = False, agent: str = "") -> str:
    """Begin a session under a fresh id; returns what the cookie holds."""
    now, secret = office.clock(), secrets.token_urlsafe(32)
    expires = now + timedelta(hours=office.settings.accounts.session_hours)
    row = Session(digest=_digest(secret), person_id=person, csrf=secrets.token_urlsafe(24), made=now, seen=now)
    row.expires, row.strong, row.agent, row.standing = expires, strong, agent, standing(database, person)
    database.add(row)
    events.record(database, "session.started", at=now, actor=person, subject=person, data={"strong": strong})
    return _signer(office).sign(secret).decode()


def find(database: Database, office: Office, cookie: str | None) -> SignedIn | None:
    """Who the cookie stands for; nobody if it is forged, revoked, too old or left alone for too long."""
    secret = _secret(office, cookie)
    row = database.get(Session, _digest(secret)) if secret else None
    if row is None or row.revoked is not None or _is_over(row, office):
        return None
    account = database.get(Account, row.person_id)
    if account is None or account.closed is not None:
        return None
    return _signed_in(row, account.zone)


def standing(database: Database, person: str) -> str:
    """A digest of the roles and teams that a person has at this moment."""
    grants = database.scalars(select(Grant.id).where(Grant.person_id == person, Grant.ended.is_(None)))
    teams = select(Membership.id, Membership.role).where(Membership.person_id == person, Membership.state == "active")
    held = sorted(grants) + sorted(f"{one} {role}" for one, role in database.execute(teams))
    return hashlib.sha256("\n".join(held).encode()).hexdigest()[:16]


def recognise_session(request: Request, database: Database, office: Office) -> Known | None:
    """Who the session's cookie of this call stands for."""
    signed = find(database, office, request.cookies.get(cookie_name(office)))
    if signed is None:
        return None
    request.state.signed_in = signed
    return Known(signed.person, "session", None, signed.strong, signed.csrf)


def needs_touch(signed: SignedIn, now: datetime) -> bool:
    """Whether the time of the last visit is old enough to be written again."""
    return now - signed.seen >= SEEN_AGAIN


def touch(database: Database, office: Office, signed: SignedIn) -> None:
    """Remember that the session was used just now."""
    database.execute(update(Session).where(Session.digest == signed.digest).values(seen=office.clock()))


def renew(database: Database, office: Office, signed: SignedIn, *, strong: bool | None = None) -> str:
    """The same session under a new id, after a sign-in step or a change of role; the old id is worth nothing (X-11)."""
    revoke(database, office, Actor(signed.person), signed.person, [signed.digest], why="renewed")
    kept = signed.strong if strong is None else strong
    return start(database, office, signed.person, strong=kept, agent=signed.agent)


def mine(database: Database, office: Office, person: str) -> list[SignedIn]:
    """The sessions of a person that are still good, the newest first."""
    chosen = select(Session).where(Session.person_id == person, Session.revoked.is_(None))
    rows = database.scalars(chosen.where(Session.expires > office.clock()).order_by(Session.seen.desc()))
    return [_signed_in(row, "UTC") for row in rows if not _is_over(row, office)]


def revoke(
    database: Database,
    office: Office,
    actor: Actor,
    person: str,
    digests: Iterable[str] | None = None,
    *,
    why: str = "",
) -> int:
    """End sessions of a person: these, or all; returns how many were ended."""
    now = office.clock()
    chosen = update(Session).where(Session.person_id == person, Session.revoked.is_(None))
    if digests is not None:
        chosen = chosen.where(Session.digest.in_(list(digests)))
    ended = database.execute(chosen.values(revoked=now).returning(Session.digest)).all()
    if ended:
        data = {"count": len(ended), "why": why}
        events.record(database, "session.revoked", at=now, actor=actor.id, subject=person, data=data)
    return len(ended)


def browser_in_words(agent: str) -> str:
    """A browser in two words; the whole of what it says about itself would be personal data.

    >>> browser_in_words("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0")
    'Firefox, Linux'
    """
    found = [next((name for mark, name in known.items() if mark in agent), "") for known in (BROWSERS, SYSTEMS)]
    return ", ".join(filter(None, found)) or "a browser"


def _is_over(row: Session, office: Office) -> bool:
    now, idle = office.clock(), timedelta(minutes=office.settings.accounts.idle_minutes)
    return row.expires <= now or row.seen + idle <= now


def _signed_in(row: Session, zone: str) -> SignedIn:
    times = (row.made, row.seen, row.expires)
    return SignedIn(row.person_id, row.digest, row.csrf, row.strong, *times, row.agent, row.standing, zone)


def _signer(office: Office) -> Signer:
    return Signer(office.vault.secret("cookies", "session"), salt="session", digest_method=hashlib.sha256)


def _secret(office: Office, cookie: str | None) -> str:
    if not cookie:  # who brings none needs no key to check it, which may still have to be made
        return ""
    try:
        return _signer(office).unsign(cookie).decode()
    except BadSignature:
        return ""


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


CSRF_FIELD = "csrf"


def stranger_token(office: Office) -> str:
    """A token for the forms of somebody who is not signed in; it goes into a cookie and into each form."""
    return _stranger_signer(office).sign(secrets.token_urlsafe(18)).decode()


def is_stranger_token(office: Office, token: str | None) -> bool:
    """Whether we made this token for a stranger."""
    try:
        _stranger_signer(office).unsign(token or "")
    except BadSignature:
        return False
    return True


def check_csrf(expected: str | None, given: str | None) -> None:
    """Refuse a form that does not come from a page of ours."""
    if not expected or not given or not hmac.compare_digest(expected.encode(), given.encode()):
        fix = "go back, reload the page and send the form again"
        raise refused("X-11", "this form has expired or is invalid", fix, status=403)


def _stranger_signer(office: Office) -> Signer:
    return Signer(office.vault.secret("cookies", "forms"), salt="forms", digest_method=hashlib.sha256)
