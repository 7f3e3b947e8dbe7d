"""What a worker looks after from round to round, for campaigns and people: doing it twice changes nothing (P-21)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import CursorResult, Delete, delete, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import upkeep
from basanite.campaign.actions.packs import note_published
from basanite.campaign.intake import recovery, standings
from basanite.campaign.notices.messages import remove_letters
from basanite.campaign.notices.outbox import send_due
from basanite.campaign.office import SYSTEM, Office
from basanite.campaign.people.agreements import look_after_agreements
from basanite.campaign.people.privacy import destroy_forgotten, erase_person
from basanite.campaign.people.resources import remind_of_resources
from basanite.campaign.programs.run import pass_on_due
from basanite.campaign.receipts import write_head
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import (
    Account,
    AddressSeen,
    CampaignRow,
    FailedSignIn,
    Grant,
    Link,
    Membership,
    Message,
    Person,
)
from basanite.campaign.store.tables import Session as SignedIn
from basanite.campaign.work.reading.scoring import score_due

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
        links=_delete_rows(session, delete(Link).where(Link.expires < _before(now, times.links_days))),
        sessions=_delete_rows(session, delete(SignedIn).where(SignedIn.expires < _before(now, times.sessions_days))),
        messages=_empty_messages(session, office, _before(now, times.messages_days)),
        addresses=_delete_rows(
            session, delete(AddressSeen).where(AddressSeen.last < _before(now, times.addresses_days))
        ),
        failures=_delete_rows(session, delete(FailedSignIn).where(FailedSignIn.last < _before(now, A_DAY))),
        people=destroy_forgotten(session, office) + _erase_unused(session, office, times.unused_accounts_days),
    )


def _before(now: datetime, days: float) -> datetime:
    return now - timedelta(days=days)


def _delete_rows(session: Session, statement: Delete) -> int:
    result = session.execute(statement)
    return result.rowcount if isinstance(result, CursorResult) else 0


def _empty_messages(session: Session, office: Office, before: datetime) -> int:
    """The words and the file of an old mail go; that it was written and when it was sent stays."""
    query = select(Message).where(Message.made < before, Message.state != "waiting")
    rows = [row for row in session.scalars(query) if row.data]
    remove_letters(office.settings, [row.id for row in rows])
    for row in rows:
        row.data = {}
    return len(rows)


def _erase_unused(session: Session, office: Office, days: float) -> int:
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


def forget_old_data(office: Office) -> Forgotten:
    """Forget what has had its time."""
    with office.writing() as session:
        return apply_retention(session, office)


def look_after_terms(office: Office) -> int:
    """End agreements whose time is over, and remind teams of what they owe."""
    with office.writing() as session:
        campaigns = session.scalars(select(CampaignRow.id)).all()
        reminded = sum(remind_of_resources(session, office, campaign) for campaign in campaigns)
        return reminded + sum(look_after_agreements(session, office, campaign) for campaign in campaigns)


class NowAndThen:
    """A duty that is done in few of the rounds: the first, and then after each pause."""

    def __init__(self, duty: Callable[[Office], object], pause: timedelta = timedelta(hours=1)) -> None:
        self.duty, self.pause = duty, pause
        self.done: datetime | None = None
        self.__name__ = getattr(duty, "__name__", "duty")

    def __call__(self, office: Office) -> object:
        """Do the duty, if its time has come."""
        now = office.clock()
        if self.done is not None and now < self.done + self.pause:
            return None
        self.done = now
        return self.duty(office)


def people_duties() -> tuple[Callable[[Office], object], ...]:
    """The duties of this part, fresh for one worker."""
    return send_due, NowAndThen(forget_old_data), NowAndThen(look_after_terms)


def publish_keys(office: Office) -> int:
    """Write down the keys of packs whose minute has come (M89); says how many."""
    with office.writing() as session:
        ids = session.scalars(select(CampaignRow.id)).all()
        return sum(len(note_published(session, office, one, in_force(session, one).campaign)) for one in ids)


def remind_of_primaries(office: Office) -> int:
    """Tell teams in time that they have no primary run in a window that closes (C46); says how many mails."""
    with office.writing() as session:
        ids = session.scalars(select(CampaignRow.id)).all()
        return sum(standings.remind_of_primaries(session, office, one) for one in ids)


def all_duties() -> tuple[Callable[[Office], object], ...]:
    """All duties in the order in which they are done, fresh for one worker."""
    hourly = NowAndThen(remind_of_primaries), NowAndThen(write_head)
    return (*upkeep.DUTIES, publish_keys, recovery.sweep, pass_on_due, *hourly, *people_duties(), score_due)
