"""Letting people in: password, lock after failures, then the second factor where there is one (P-11, X-11)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session as Database

from basanite.campaign.office import Office
from basanite.campaign.people.persons import by_mail
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account
from basanite.server.accounts import passwords, second_factor

HALF_WAY_SECONDS = 600
"""How long a right password waits for its second factor."""


@dataclass(frozen=True)
class Attempt:
    """How a sign-in went. One who is not let in learns nothing about whether there is such an account."""

    outcome: Literal["in", "second factor", "wrong", "locked"]
    person: str = ""
    until: datetime | None = None


def with_password(database: Database, office: Office, mail: str, password: str) -> Attempt:
    """Try mail address and password; the caller writes, for failures are counted."""
    settings = office.settings.accounts
    person = by_mail(database, office, mail)
    account = database.get(Account, person.id) if person else None
    right = passwords.matches(settings, password, account.password if account else None)
    if account is None or account.closed is not None:
        return Attempt("wrong")
    if account.locked_until is not None and account.locked_until > office.clock():
        return Attempt("locked", until=account.locked_until)
    if not right or account.confirmed is None:
        return _failed(database, office, account)
    return _passed(office, account, password)


def with_code(database: Database, office: Office, person: str, code: str) -> Attempt:
    """Try a code of the second factor after a right password; wrong codes count like wrong passwords."""
    account = database.get(Account, person)
    if account is None or account.closed is not None:
        return Attempt("wrong")
    if account.locked_until is not None and account.locked_until > office.clock():
        return Attempt("locked", until=account.locked_until)
    if not second_factor.accept(database, office, account, code):
        return _failed(database, office, account)
    account.failures, account.locked_until = 0, None
    return Attempt("in", person)


def is_password(database: Database, office: Office, person: str, password: str) -> bool:
    """Whether this is the password of somebody who is signed in already; asked before what cannot be undone."""
    account = database.get(Account, person)
    return passwords.matches(office.settings.accounts, password, account.password if account else None)


def half_way(office: Office, person: str, then: str) -> str:
    """What a cookie holds between password and second factor."""
    return _serializer(office).dumps([person, then])


def who_is_half_way(office: Office, cookie: str | None) -> tuple[str, str] | None:
    """Person and the page to go to, if the cookie is ours and fresh."""
    try:
        person, then = _serializer(office).loads(cookie or "", max_age=HALF_WAY_SECONDS)
    except (BadSignature, ValueError, TypeError):
        return None
    return str(person), str(then)


def _passed(office: Office, account: Account, password: str) -> Attempt:
    settings = office.settings.accounts
    if account.password is not None:
        account.password = passwords.outdated(settings, password, account.password) or account.password
    if second_factor.is_on(account):
        return Attempt("second factor", account.person_id)
    account.failures, account.locked_until = 0, None
    return Attempt("in", account.person_id)


def _failed(database: Database, office: Office, account: Account) -> Attempt:
    settings, now = office.settings.accounts, office.clock()
    account.failures += 1
    if account.failures < settings.failures:
        return Attempt("wrong")
    account.failures, account.locked_until = 0, now + timedelta(minutes=settings.lock_minutes)
    person, data = account.person_id, {"until": account.locked_until.isoformat()}
    events.record(database, "account.locked", at=now, actor="system", subject=person, data=data)
    return Attempt("locked", until=account.locked_until)


def _serializer(office: Office) -> URLSafeTimedSerializer:
    key = office.vault.secret("cookies", "half-way")
    return URLSafeTimedSerializer(key, salt="half-way", signer_kwargs={"digest_method": hashlib.sha256})
