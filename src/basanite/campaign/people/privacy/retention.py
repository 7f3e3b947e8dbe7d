"""Keeping no longer than needed: a duty that a worker does from time to time, with times that are settings (P-21)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import CursorResult, Delete, delete, select
from sqlalchemy.orm import Session

from basanite.campaign.notices.mail import remove_letters
from basanite.campaign.office import SYSTEM, Office
from basanite.campaign.people.privacy.erasing import destroy_forgotten, erase_person
from basanite.campaign.store.tables import (
    Account,
    AddressSeen,
    FailedSignIn,
    Grant,
    Link,
    Membership,
    Message,
    Person,
)
from basanite.campaign.store.tables import Session as SignedIn

A_DAY = 1.0
"""How long wrong passwords are remembered; locks are over much earlier."""


@dataclass(frozen=True)
class Forgotten:
    """How much was forgotten in one round."""

    links: int = 0
    sessions: int = 0
    messages: int = 0
    addresses: int = 0
    failures: int = 0
    people: int = 0


def apply_retention(session: Session, office: Office) -> Forgotten:
    """Delete what has had its time: links, sessions, words of mails, digests of addresses, accounts nobody used."""
    times, now = office.settings.retention, office.clock()
    return Forgotten(
        links=_deleted(session, delete(Link).where(Link.expires < _before(now, times.links_days))),
        sessions=_deleted(session, delete(SignedIn).where(SignedIn.expires < _before(now, times.sessions_days))),
        messages=_emptied(session, office, _before(now, times.messages_days)),
        addresses=_deleted(session, delete(AddressSeen).where(AddressSeen.last < _before(now, times.addresses_days))),
        failures=_deleted(session, delete(FailedSignIn).where(FailedSignIn.last < _before(now, A_DAY))),
        people=destroy_forgotten(session, office) + _unused(session, office, times.unused_accounts_days),
    )


def _before(now: datetime, days: float) -> datetime:
    return now - timedelta(days=days)


def _deleted(session: Session, statement: Delete) -> int:
    result = session.execute(statement)
    return result.rowcount if isinstance(result, CursorResult) else 0


def _emptied(session: Session, office: Office, before: datetime) -> int:
    """The words and the file of an old mail go; that it was written and when it was sent stays."""
    query = select(Message).where(Message.made < before, Message.state != "waiting")
    rows = [row for row in session.scalars(query) if row.data]
    remove_letters(office.settings, [row.id for row in rows])
    for row in rows:
        row.data = {}
    return len(rows)


def _unused(session: Session, office: Office, days: float) -> int:
    """Erase people who never confirmed their address, hold no role and are in no team."""
    if not days:
        return 0
    query = (
        select(Person.id)
        .join(Account, Account.person_id == Person.id)
        .where(
            Person.erased.is_(None),
            Person.made < _before(office.clock(), days),
            Account.confirmed.is_(None),
            Person.id.not_in(select(Grant.person_id)),
            Person.id.not_in(select(Membership.person_id)),
        )
    )
    found = list(session.scalars(query))
    for person_id in found:
        erase_person(session, office, SYSTEM, person_id)
    return len(found)
