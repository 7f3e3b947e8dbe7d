"""Making an account and getting back into one: by links that are mailed, work once and not for long (P-11, X-11).

The answer is the same whether such an account exists or not; its owner learns by email which is the case.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy.orm import Session as Database

from basanite.campaign.model.refusals import RefusedError
from basanite.campaign.notices.outbox import tell
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.links import end_links, look_at_link, make_link, use_link
from basanite.campaign.people.names import check_person_name
from basanite.campaign.people.persons import Newcomer, add_person, by_mail, check_personal
from basanite.campaign.store import events
from basanite.campaign.store.tables import Account, Person
from basanite.server.accounts import authentication, sessions
from basanite.server.accounts.tokens import revoke_token, tokens_of


@dataclass(frozen=True)
class SignUp:
    """What somebody who signs up says."""

    name: str
    mail: str
    password: str = field(repr=False)
    zone: str = "UTC"
    then: str = ""
    """The page of ours that the person came from, to go back to once the address is confirmed."""


def sign_up(database: Database, office: Office, newcomer: SignUp) -> None:
    """Make an account that waits for its mail address to be confirmed; a known address gets a mail that says so."""
    check_personal(newcomer.name, newcomer.mail)
    check_person_name(database, office, newcomer.name)
    _check_password(newcomer.password)
    digest = authentication.hash_password(
        office.settings.accounts, newcomer.password
    )  # also for a known address: time tells nothing
    holder = by_mail(database, office, newcomer.mail)
    if holder is not None:
        _remind(database, office, holder.id, newcomer.then)
        return
    person = add_person(database, office, Newcomer(name=newcomer.name, mail=newcomer.mail, zone=newcomer.zone))
    account = database.get_one(Account, person.id)
    account.password = digest
    _send(database, office, "confirm", person.id, newcomer.then)


def confirm(database: Database, office: Office, secret: str) -> str:
    """Take the mail address as shown to be this person's; returns the page that the person came from."""
    link = look_at_link(database, office, secret, "confirm")
    person = str(link.person_id)
    use_link(database, office, secret, "confirm", person_id=person)
    now = office.clock()
    database.get_one(Account, person).confirmed = now
    events.record(database, "account.confirmed", at=now, actor=person, subject=person)
    return str(link.data.get("then", ""))


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
    """A new password: anyone who was signed in with the old one is not any more."""
    _check_password(password)
    account.password = authentication.hash_password(office.settings.accounts, password)
    account.failures, account.locked_until = 0, None
    authentication.forget_all_failures(database, database.get_one(Person, account.person_id).mail_digest)
    sessions.revoke(database, office, actor, account.person_id, why="password changed")
    events.record(database, "account.password_changed", at=office.clock(), actor=actor.id, subject=account.person_id)
    tell(database, office, "password_changed", persons=[account.person_id])


def _remind(database: Database, office: Office, person: str, then: str) -> None:
    account = database.get_one(Account, person)
    if account.confirmed is None and account.closed is None:
        _send(database, office, "confirm", person, then)
    elif account.closed is None:
        tell(database, office, "account_exists", persons=[person])


def _send(database: Database, office: Office, purpose: str, person: str, then: str = "") -> None:
    link = make_link(database, office, purpose, person_id=person, data={"then": then} if then else None)
    tell(database, office, purpose, persons=[person], data={"link": link.number})


def _check_password(password: str) -> None:
    found = authentication.password_weaknesses(password)
    if found:
        raise RefusedError(found, status=422)
