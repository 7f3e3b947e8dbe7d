"""Letting people in: password, lock after failures, then the second factor where there is one (P-11, X-11)."""

from __future__ import annotations

import functools
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

from itsdangerous import BadSignature, URLSafeTimedSerializer
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from sqlalchemy.orm import Session as Database

from basanite.campaign.office import Office
from basanite.campaign.people.persons import by_mail
from basanite.campaign.people.privacy import is_known, network
from basanite.campaign.settings import Accounts
from basanite.campaign.store import events
from basanite.campaign.store.personal import mail_digest, normal_mail
from basanite.campaign.store.tables import Account, FailedSignIn, Person
from basanite.problems import Problem
from basanite.server.accounts import second_factor

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 1024
"""Length is what makes a password strong; the upper bound keeps hashing cheap for us."""
FEWEST_CHARACTERS = 5


@functools.cache
def _hasher(time_cost: int, memory_kib: int, lanes: int) -> PasswordHash:
    return PasswordHash((Argon2Hasher(time_cost=time_cost, memory_cost=memory_kib, parallelism=lanes),))


def _hasher_of(settings: Accounts) -> PasswordHash:
    return _hasher(settings.time_cost, settings.memory_kib, settings.lanes)


@functools.cache
def _dummy_hash(time_cost: int, memory_kib: int, lanes: int) -> str:
    return _hasher(time_cost, memory_kib, lanes).hash("this password is never accepted")


def hash_password(settings: Accounts, password: str) -> str:
    """The hash to keep."""
    return _hasher_of(settings).hash(password)


def verify_password(settings: Accounts, password: str, kept: str | None) -> bool:
    """Whether this is the password; as much work is done where there is none, so that time tells nothing."""
    missing = kept is None or len(password) > LONGEST_PASSWORD
    against = _dummy_hash(settings.time_cost, settings.memory_kib, settings.lanes) if kept is None else kept
    right: bool = _hasher_of(settings).verify(password[:LONGEST_PASSWORD], against)
    return right and not missing


def password_weaknesses(password: str) -> list[Problem]:
    """What is wrong with a new password; length counts, not decoration.

    >>> [problem.message for problem in password_weaknesses("short")]
    ['the password has 5 characters']
    >>> password_weaknesses("correct horse battery")
    []
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        fix = f"use {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters; a few words in a row are easy to remember"
        return [Problem("P-11", "", None, None, f"the password has {len(password)} characters", fix)]
    if len(set(password.casefold())) < FEWEST_CHARACTERS or _is_a_run(password):
        return [Problem("P-11", "", None, None, "the password is easy to guess", "use a few words in a row")]
    return []


def _is_a_run(password: str) -> bool:
    """Whether each character follows the one before, as in 1234567890123."""
    steps = {(ord(second) - ord(first)) % 10 for first, second in pairwise(password)}
    return len(steps) == 1


ANYWHERE: Final = ""
ANYWHERE_TIMES: Final = 10
"""How many times more failures from all addresses together close the account to addresses that are not known."""


def lock_end(session: Session, office: Office, mail: str, address: str, *, at_home: bool) -> datetime | None:
    """Until when nobody gets in with this mail address from here; None if it is not locked."""
    now = office.clock()
    found = (session.get(FailedSignIn, _failure_digest(office, mail, where)) for where in _places(address, at_home))
    locks = [row.locked_until for row in found if row is not None and row.locked_until is not None]
    return max((until for until in locks if until > now), default=None)


def count_failure(session: Session, office: Office, mail: str, address: str, *, at_home: bool) -> datetime | None:
    """Count one more failure; gives until when it is locked by that."""
    settings = office.settings.accounts
    most = {address: settings.failures, ANYWHERE: settings.failures * ANYWHERE_TIMES}
    locks = [_count_at(session, office, mail, where, most[where]) for where in _places(address, at_home)]
    return max((until for until in locks if until is not None), default=None)


def forget_failures(session: Session, office: Office, mail: str, address: str) -> None:
    """The right password was given: what failed before does not count any more."""
    for where in (address, ANYWHERE):
        row = session.get(FailedSignIn, _failure_digest(office, mail, where))
        if row is not None:
            session.delete(row)


def forget_all_failures(session: Session, digest: str | None) -> None:
    """The owner of a mail address has a new password: no lock of it holds any more, wherever it was earned."""
    session.execute(delete(FailedSignIn).where(FailedSignIn.mail_digest == digest))


def _places(address: str, at_home: bool) -> tuple[str, ...]:
    return (address,) if at_home else (address, ANYWHERE)


def _failure_digest(office: Office, mail: str, address: str) -> str:
    where = network(address) if address else "anywhere"
    return office.vault.hmac("digest", "failed-sign-ins", f"{normal_mail(mail)}\0{where}".encode())


def _count_at(session: Session, office: Office, mail: str, where: str, most: int) -> datetime | None:
    now, row = office.clock(), _failure_row(session, office, mail, where)
    row.failures, row.last = row.failures + 1, now
    if row.failures < most:
        return None
    row.failures, row.locked_until = 0, now + timedelta(minutes=office.settings.accounts.lock_minutes)
    return row.locked_until


def _failure_row(session: Session, office: Office, mail: str, where: str) -> FailedSignIn:
    """The row, locked; two who fail first at one instant make one."""
    digest = _failure_digest(office, mail, where)
    question = select(FailedSignIn).where(FailedSignIn.digest == digest).with_for_update()
    found = session.scalars(question).first()
    if found is None:
        new = FailedSignIn(digest=digest, mail_digest=mail_digest(office.vault, mail), failures=0, last=office.clock())
        with suppress(IntegrityError), session.begin_nested():
            session.add(new)
        found = session.scalars(question).one()
    return found


HALF_WAY_SECONDS = 600
"""How long a right password waits for its second factor."""


@dataclass(frozen=True)
class Attempt:
    """How a sign-in went. One who is not let in learns nothing about whether there is such an account."""

    outcome: Literal["in", "second factor", "wrong", "locked"]
    person: str = ""
    until: datetime | None = None


def try_password(database: Database, office: Office, mail: str, password: str, address: str = "") -> Attempt:
    """Try mail address and password from a network address; the caller writes, for failures are counted.

    Whether there is such an account changes nothing in what is counted and answered.
    """
    person = by_mail(database, office, mail)
    account = database.get(Account, person.id) if person else None
    right = verify_password(office.settings.accounts, password, account.password if account else None)
    at_home = person is not None and is_known(database, office, person.id, address)
    locked = lock_end(database, office, mail, address, at_home=at_home)
    if locked is not None:
        return Attempt("locked", until=locked)
    if account is None or account.closed is not None or account.confirmed is None or not right:
        return _refuse_guess(database, office, person, count_failure(database, office, mail, address, at_home=at_home))
    forget_failures(database, office, mail, address)
    return _accept_password(office, account, password)


def _refuse_guess(database: Database, office: Office, person: Person | None, until: datetime | None) -> Attempt:
    if until is None:
        return Attempt("wrong")
    if person is not None:
        _log_lock(database, office, person.id, until)
    return Attempt("locked", until=until)


def _log_lock(database: Database, office: Office, person: str, until: datetime) -> None:
    data = {"until": until.isoformat()}
    events.record(database, "account.locked", at=office.clock(), actor="system", subject=person, data=data)


def try_code(database: Database, office: Office, person: str, code: str) -> Attempt:
    """Try a code of the second factor after a right password; wrong codes count like wrong passwords."""
    account = database.get(Account, person)
    if account is None or account.closed is not None:
        return Attempt("wrong")
    if account.locked_until is not None and account.locked_until > office.clock():
        return Attempt("locked", until=account.locked_until)
    if not second_factor.accept(database, office, account, code):
        return _count_wrong_code(database, office, account)
    account.failures, account.locked_until = 0, None
    return Attempt("in", person)


def is_password_of(database: Database, office: Office, person: str, password: str) -> bool:
    """Whether this is the password of somebody who is signed in already; asked before what cannot be undone."""
    account = database.get(Account, person)
    return verify_password(office.settings.accounts, password, account.password if account else None)


def half_way_cookie(office: Office, person: str, then: str) -> str:
    """What a cookie holds between password and second factor."""
    return _half_way_serializer(office).dumps([person, then])


def who_is_half_way(office: Office, cookie: str | None) -> tuple[str, str] | None:
    """Person and the page to go to, if the cookie is ours and fresh."""
    try:
        person, then = _half_way_serializer(office).loads(cookie or "", max_age=HALF_WAY_SECONDS)
    except (BadSignature, ValueError, TypeError):
        return None
    return str(person), str(then)


def _accept_password(office: Office, account: Account, password: str) -> Attempt:
    settings = office.settings.accounts
    if account.password is not None:
        # a new hash if the kept one was made at another cost
        account.password = _hasher_of(settings).verify_and_update(password, account.password)[1] or account.password
    if second_factor.is_on(account):
        return Attempt("second factor", account.person_id)
    account.failures, account.locked_until = 0, None
    return Attempt("in", account.person_id)


def _count_wrong_code(database: Database, office: Office, account: Account) -> Attempt:
    settings, now = office.settings.accounts, office.clock()
    account.failures += 1
    if account.failures < settings.failures:
        return Attempt("wrong")
    account.failures, account.locked_until = 0, now + timedelta(minutes=settings.lock_minutes)
    _log_lock(database, office, account.person_id, account.locked_until)
    return Attempt("locked", until=account.locked_until)


def _half_way_serializer(office: Office) -> URLSafeTimedSerializer:
    key = office.vault.secret("cookies", "half-way")
    return URLSafeTimedSerializer(key, salt="half-way", signer_kwargs={"digest_method": hashlib.sha256})
