"""Making an account and getting back into one: by links that are mailed, work once and not for long (P-11, X-11).

Whoever asks gets the same answer whether there is such an account or not; what is the case goes by mail to its owner.
"""

from __future__ import annotations

from sqlalchemy.orm import Session as Database

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.notices.sending import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.likeness import check_person_name
from basanite.campaign.people.links import end_links, look_at_link, make_link, use_link
from basanite.campaign.people.persons import add_person, by_mail, check_personal
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import failures, passwords, sessions
from basanite.server.tokens import revoke_token, tokens_of


def sign_up(database: Database, office: Office, *, name: str, mail: str, password: str, zone: str = "UTC") -> None:
    """Make an account that waits for its mail address to be confirmed; a known address gets a mail that says so."""
    check_personal(name, mail)
    check_person_name(database, office, name)
    _check_password(password)
    digest = passwords.hashed(office.settings.accounts, password)  # also for a known address: time tells nothing
    holder = by_mail(database, office, mail)
    if holder is not None:
        _remind(database, office, holder.id)
        return
    person = add_person(database, office, name=name, mail=mail, zone=zone)
    account = database.get_one(Account, person.id)
    account.password = digest
    _send(database, office, "confirm", person.id)


def confirm(database: Database, office: Office, secret: str) -> str:
    """Take the mail address as shown to be this person's; returns the person."""
    link = look_at_link(database, office, secret, "confirm")
    person = str(link.person_id)
    use_link(database, office, secret, "confirm", person_id=person)
    now = office.clock()
    database.get_one(Account, person).confirmed = now
    events.record(database, "account.confirmed", at=now, actor=person, subject=person)
    return person


def ask_for_reset(database: Database, office: Office, mail: str) -> None:
    """Mail a link for a new password, if there is such an account."""
    person = by_mail(database, office, mail)
    account = database.get(Account, person.id) if person else None
    if account is not None and account.closed is None:
        _send(database, office, "reset", account.person_id)


def reset(database: Database, office: Office, secret: str, password: str, *, tokens: bool = False) -> str:
    """Set a new password by a mailed link; every session ends, tokens too if so asked, and the address is confirmed."""
    link = look_at_link(database, office, secret, "reset", "password")
    _check_password(password)
    person = str(link.person_id)
    use_link(database, office, secret, link.purpose, person_id=person)
    account = database.get_one(Account, person)
    account.confirmed = account.confirmed or office.clock()
    set_password(database, office, Actor(person), account, password)
    for token in tokens_of(database, person, office.clock()) if tokens else ():
        revoke_token(database, office, Actor(person), person_id=person, token_id=token.id)
    end_links(database, person, "reset")
    return person


def set_password(database: Database, office: Office, actor: Actor, account: Account, password: str) -> None:
    """A new password: whoever was signed in with the old one is not any more."""
    _check_password(password)
    account.password = passwords.hashed(office.settings.accounts, password)
    account.failures, account.locked_until = 0, None
    failures.forget_all(database, database.get_one(Person, account.person_id).mail_digest)
    sessions.revoke(database, office, actor, account.person_id, why="password changed")
    events.record(database, "account.password_changed", at=office.clock(), actor=actor.id, subject=account.person_id)
    tell(database, office, "password_changed", persons=[account.person_id])


def _remind(database: Database, office: Office, person: str) -> None:
    account = database.get_one(Account, person)
    if account.confirmed is None and account.closed is None:
        _send(database, office, "confirm", person)
    elif account.closed is None:
        tell(database, office, "account_exists", persons=[person])


def _send(database: Database, office: Office, purpose: str, person: str) -> None:
    link = make_link(database, office, purpose, person_id=person)
    tell(database, office, purpose, persons=[person], data={"link": link.number})


def _check_password(password: str) -> None:
    found = passwords.weaknesses(password)
    if found:
        raise RefusedError(found, status=422)
