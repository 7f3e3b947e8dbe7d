"""Erasure: how everything that belongs to a person is forgotten, in backups too (P-21).

Erasing destroys the person's key. What was sealed with it (data, signed copies, second factor) is then unreadable in
every copy, older backups of the database included. Submissions, results and events stay: they know an id alone, so that
scores can be reproduced and the chain of the log still holds.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Text, cast, delete, event, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import refused
from basanite.campaign.notices.mail import remove_letters
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.persons import find_person
from basanite.campaign.people.privacy.exporting import check_own
from basanite.campaign.people.teams.changing import end_membership
from basanite.campaign.store import events
from basanite.campaign.store.personal import KEYS, STONES
from basanite.campaign.store.tables import (
    Account,
    AddressSeen,
    Grant,
    Identity,
    LeadRequest,
    Link,
    Membership,
    Message,
    Person,
    Team,
    Token,
)
from basanite.campaign.store.tables import Session as SignedIn

GONE = (SignedIn, Link, Identity, AddressSeen)
"""Rows that are deleted at erasure; nothing else depends on them."""


def erase_person(session: Session, office: Office, actor: Actor, person_id: str) -> None:
    """Forget a person. A PI hands the team over first, so that no team is left without anybody who answers for it."""
    person = find_person(session, person_id)
    check_own(session, actor, person_id)
    _check_leads_nobody(session, person_id)
    _forget(session, office, person, actor.id)
    # The key goes once the erasure is certain; should we die in between, `destroy_forgotten` does it.
    event.listen(session, "after_commit", lambda _: _destroy_key(office, person_id), once=True)


def destroy_forgotten(session: Session, office: Office) -> int:
    """Bring vault and database together: no key of an erased person, and no data of one who was erased before.

    The first mends a crash in the middle of an erasure; the second erases again what an older backup brought back. A
    person whose key is missing without having been erased is left alone: perhaps the vault is yet to be put in place.
    """
    keys, stones = set(office.vault.names(KEYS)), office.vault.names(STONES)
    left = [key for key in keys if (person := session.get(Person, key)) is not None and person.erased is not None]
    for person_id in left:
        _destroy_key(office, person_id)
    back = [person for stone in stones if (person := session.get(Person, stone)) is not None and person.erased is None]
    for person in back:
        _forget(session, office, person, SYSTEM.id)
    return len(left) + len(back)


def _destroy_key(office: Office, person_id: str) -> None:
    """The stone first: whoever is forgotten stays so, whatever happens in between and whichever backup comes back."""
    office.vault.keep(STONES, person_id, b"erased")
    office.vault.destroy(KEYS, person_id)


def _forget(session: Session, office: Office, person: Person, by: str) -> None:
    now = office.clock()
    person.sealed, person.mail_digest, person.erased = None, None, now
    _close_account(session, person.id, now)
    _end_roles(session, by, person.id, now)
    for table in GONE:
        session.execute(delete(table).where(table.person_id == person.id))
    _forget_letters(session, office, person.id)
    events.record(session, "person.erased", at=now, actor=by, subject=person.id)


def _check_leads_nobody(session: Session, person_id: str) -> None:
    """Refused while the person is the PI of others; a team of one is closed with its only member."""
    led = select(Membership.team_id).where(
        Membership.person_id == person_id, Membership.role == "pi", Membership.state == "active"
    )
    for team in session.scalars(select(Team).where(Team.id.in_(led), Team.state == "active")):
        others = select(Membership.id).where(
            Membership.team_id == team.id, Membership.person_id != person_id, Membership.state == "active"
        )
        if session.scalars(others).first() is not None:
            raise refused(
                "P-21", f"this person is the PI of the team {team.name}", "hand the team over first", status=409
            )
        team.state = "left"


def _close_account(session: Session, person_id: str, now: datetime) -> None:
    account = session.get(Account, person_id)
    if account is not None:
        account.password, account.second_factor, account.zone = None, None, "UTC"
        account.closed = account.closed or now
    for token in session.scalars(select(Token).where(Token.person_id == person_id)):
        token.label, token.revoked = "", token.revoked or now


def _end_roles(session: Session, by: str, person_id: str, now: datetime) -> None:
    for row in session.scalars(select(Grant).where(Grant.person_id == person_id, Grant.ended.is_(None))):
        row.ended, row.ended_by = now, by
    for member in session.scalars(select(Membership).where(Membership.person_id == person_id)):
        member.site = ""
        if member.state in ("active", "asked"):
            end_membership(member, by, now)
    for request in session.scalars(select(LeadRequest).where(LeadRequest.person_id == person_id)):
        request.text = ""
        request.state = "withdrawn" if request.state == "asked" else request.state


def _forget_letters(session: Session, office: Office, person_id: str) -> None:
    """Mails to the person, and those to others that name it, leave the outbox folder; waiting ones are given up."""
    naming = select(Message).where(or_(Message.person_id == person_id, cast(Message.data, Text).contains(person_id)))
    found = list(session.scalars(naming))
    for message in found:
        if message.person_id == person_id:
            message.state, message.data = ("given up" if message.state == "waiting" else message.state), {}
    remove_letters(office.settings, [message.id for message in found])
