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
from basanite.campaign.people.privacy.addresses import is_known
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import failures, passwords, second_factor

HALF_WAY_SECONDS = 600
"""How long a right password waits for its second factor."""


@dataclass(frozen=True)
class Attempt:
    """How a sign-in went. One who is not let in learns nothing about whether there is such an account."""

    outcome: Literal["in", "second factor", "wrong", "locked"]
    person: str = ""
    until: datetime | None = None


def with_password(database: Database, office: Office, mail: str, password: str, address: str = "") -> Attempt:
    """Try mail address and password from a network address; the caller writes, for failures are counted.

    Whether there is such an account changes nothing in what is counted and answered.
    """
    person = by_mail(database, office, mail)
    account = database.get(Account, person.id) if person else None
    right = passwords.matches(office.settings.accounts, password, account.password if account else None)
    at_home = person is not None and is_known(database, office, person.id, address)
    locked = failures.locked_until(database, office, mail, address, at_home=at_home)
    if locked is not None:
        return Attempt("locked", until=locked)
    if account is None or account.closed is not None or account.confirmed is None or not right:
        return _guessed(database, office, person, failures.count(database, office, mail, address, at_home=at_home))
    failures.forget(database, office, mail, address)
    return _passed(office, account, password)


def _guessed(database: Database, office: Office, person: Person | None, until: datetime | None) -> Attempt:
    if until is None:
        return Attempt("wrong")
    if person is not None:
        _log_lock(database, office, person.id, until)
    return Attempt("locked", until=until)


def _log_lock(database: Database, office: Office, person: str, until: datetime) -> None:
    data = {"until": until.isoformat()}
    events.record(database, "account.locked", at=office.clock(), actor="system", subject=person, data=data)


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
    _log_lock(database, office, account.person_id, account.locked_until)
    return Attempt("locked", until=account.locked_until)


def _serializer(office: Office) -> URLSafeTimedSerializer:
    key = office.vault.secret("cookies", "half-way")
    return URLSafeTimedSerializer(key, salt="half-way", signer_kwargs={"digest_method": hashlib.sha256})
