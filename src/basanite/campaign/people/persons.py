"""Persons: their data lies sealed in one place under a random id, and everything else knows that id alone (P-21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.names import check_person_name
from basanite.campaign.store import events
from basanite.campaign.store.personal import FORGOTTEN, Personal, mail_digest, normal_mail, seal, unseal
from basanite.campaign.store.tables import Account, Person
from basanite.problems import Problem

LONGEST_MAIL = 254
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody who gets an account."""

    name: str
    mail: str
    other: Mapping[str, str] = field(default_factory=dict)
    zone: str = "UTC"


def add_person(session: Session, office: Office, new: Newcomer, *, actor: Actor = SYSTEM) -> Person:
    """A new person with an account that has no password yet; refused if the address is known already."""
    check_personal(new.name, new.mail)
    check_person_name(session, office, new.name)
    if by_mail(session, office, new.mail) is not None:
        raise refused(
            "P-21",
            "there is already an account with this email address",
            "sign in, or ask for a new password",
            status=409,
        )
    return insert_person(session, office, new, actor=actor)


def insert_person(session: Session, office: Office, new: Newcomer, *, actor: Actor) -> Person:
    """A new person, whose name and address were checked."""
    now = office.clock()
    person = Person(made=now, mail_digest=mail_digest(office.vault, new.mail))
    session.add(person)
    session.flush()
    person.sealed = seal(office.vault, person.id, Personal(new.name, new.mail.strip(), dict(new.other)))
    session.add(Account(person_id=person.id, zone=new.zone))
    events.record(session, "person.added", at=now, actor=actor.id, subject=person.id)
    return person


def by_mail(session: Session, office: Office, mail: str) -> Person | None:
    """The person with this mail address."""
    digest = mail_digest(office.vault, mail)
    return session.scalar(select(Person).where(Person.mail_digest == digest))


def personal(session: Session, office: Office, person_id: str) -> Personal:
    """Name, address and the rest of a person; `FORGOTTEN` if erased or unknown (as `system` and `command` are)."""
    person = session.get(Person, person_id)
    return FORGOTTEN if person is None else unseal(office.vault, person)


def find_person(session: Session, person_id: str) -> Person:
    """The person of an id, who must be there and not erased."""
    person = session.get(Person, person_id)
    if person is None or person.erased is not None:
        raise refused("P-21", f"there is no person {person_id}", "see the list of people", status=404)
    return person


@dataclass(frozen=True, slots=True)
class NewDetails:
    """Personal data that are to be corrected; None: as it is."""

    name: str | None = None
    mail: str | None = None
    other: Mapping[str, str] | None = None


def change_personal(session: Session, office: Office, actor: Actor, person_id: str, details: NewDetails) -> Personal:
    """Correct personal data; what is not given stays. The event says which fields, never their content."""
    person = find_person(session, person_id)
    old = unseal(office.vault, person)
    new = Personal(
        old.name if details.name is None else details.name,
        old.mail if details.mail is None else details.mail.strip(),
        dict(old.other if details.other is None else details.other),
    )
    check_personal(new.name, new.mail)
    if new.name != old.name:
        check_person_name(session, office, new.name, person_id=person_id)
    holder = by_mail(session, office, new.mail)
    if holder is not None and holder.id != person_id:
        raise refused("P-21", "another account uses this email address", "use another address", status=409)
    person.sealed, person.mail_digest = seal(office.vault, person_id, new), mail_digest(office.vault, new.mail)
    fields = [field for field in ("name", "mail", "other") if getattr(old, field) != getattr(new, field)]
    events.record(
        session, "person.changed", at=office.clock(), actor=actor.id, subject=person_id, data={"fields": fields}
    )
    return new


def check_personal(name: str, mail: str) -> None:
    """Refuse what cannot be a name or an address; a line break would write headers of its own (X-14)."""
    if found := tuple(personal_problems(name, mail)):
        raise RefusedError(found, status=422)


def personal_problems(name: str, mail: str) -> Iterator[Problem]:
    """Why these cannot be a name (field 1) and an address (field 2)."""
    if len(name) > LONGEST_NAME or any(not char.isprintable() for char in name):
        message, fix = "the name is too long or contains control characters", f"use at most {LONGEST_NAME} printable"
        yield Problem("X-14", "", None, 1, message, f"{fix} characters")
    if not _is_mail(mail.strip()):
        yield Problem("X-14", "", None, 2, "this is not an email address", "use one like somebody@example.org")


def _is_mail(mail: str) -> bool:
    user, at, host = mail.rpartition("@")
    plain = all(char.isprintable() and char not in ' ,;:<>()[]"\\' for char in mail)
    return (
        bool(user and at and host)
        and "@" not in user
        and plain
        and len(mail.encode()) <= LONGEST_MAIL
        and normal_mail(mail) != ""
    )
