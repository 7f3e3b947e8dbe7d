"""The first administrator of a server: made by a link that `serve` prints while there is none, once (P-35)."""

from __future__ import annotations

from sqlalchemy import select, update
from sqlalchemy.orm import Session as Database

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import COMMAND, Office
from basanite.campaign.people.links import look_at_link, make_link
from basanite.campaign.people.names import check_person_name
from basanite.campaign.people.persons import Newcomer, add_person, by_mail, check_personal
from basanite.campaign.people.roles import RoleGrant, grant
from basanite.campaign.store.tables import Account, Grant, Link
from basanite.server.accounts import authentication
from basanite.server.accounts.registration import SignUp

PURPOSE = "setup"


def setup_address(office: Office) -> str:
    """The address of the page that makes the first administrator; "" where there is one or has been one."""
    with office.writing() as database:
        if database.scalar(select(Grant.id).where(Grant.role == "administrator").limit(1)) is not None:
            return ""
        return f"{office.address}/setup/{make_link(database, office, PURPOSE).secret}"


def check_link(database: Database, office: Office, secret: str) -> Link:
    """The link, if it still works and there is no administrator yet."""
    link = look_at_link(database, office, secret, PURPOSE)
    if database.scalar(select(Grant.id).where(Grant.role == "administrator").limit(1)) is not None:
        raise refused("P-35", "this server has an administrator", "sign in, or ask the administrator", status=404)
    return link


def make(database: Database, office: Office, secret: str, newcomer: SignUp) -> str:
    """Make the account and give it the role; who stands at the machine's command line has shown to be its operator."""
    link = check_link(database, office, secret)
    if not newcomer.name:
        raise refused("P-11", "the name is missing", "enter the name that others will see", status=422)
    check_personal(newcomer.name, newcomer.mail)
    check_person_name(database, office, newcomer.name)
    weak = authentication.password_weaknesses(newcomer.password)
    if weak:
        raise RefusedError(weak, status=422)
    if by_mail(database, office, newcomer.mail) is not None:
        fix = "make the account an administrator by the command line, or use another address"
        raise refused("P-35", "there is already an account with this email address", fix, status=409)
    now = office.clock()
    taken = update(Link).where(Link.digest == link.digest, Link.used.is_(None)).values(used=now)
    if database.scalar(taken.returning(Link.digest)) is None:  # two at the same moment: only one succeeds
        raise refused("P-35", "this link was used", "sign in, or ask the administrator", status=404)
    person = add_person(database, office, Newcomer(newcomer.name, newcomer.mail, zone=newcomer.zone))
    account = database.get_one(Account, person.id)
    account.password = authentication.hash_password(office.settings.accounts, newcomer.password)
    account.confirmed = now
    grant(database, office, COMMAND, RoleGrant(person.id, "administrator", reason="first administrator"))
    return person.id
