"""Links in mails: each works once, for a short time, for one account and one purpose (X-11)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Office
from basanite.campaign.store.tables import Account, Identity, Link
from basanite.campaign.store.vault import link_digest, link_secret

LASTS = {
    "confirm": timedelta(days=1),
    "invitation": timedelta(days=7),
    "password": timedelta(days=7),
    "setup": timedelta(days=1),
}
"""How long a link of each purpose works; a reset as long as the settings say."""


@dataclass(frozen=True)
class MadeLink:
    """A fresh link: `number` goes into a message's data as `link`, `secret` into the address that is shown once."""

    number: str
    secret: str = field(repr=False)


def make_link(
    session: Session,
    office: Office,
    purpose: str,
    *,
    person_id: str | None = None,
    data: Mapping[str, Any] | None = None,
) -> MadeLink:
    """A link for one person, or its holder, and one purpose; older ones of the same kind and data end."""
    now, number, content = office.clock(), secrets.token_hex(16), dict(data or {})
    _end_older(session, purpose, person_id, content)
    secret = link_secret(office.vault, number)
    lasts = LASTS.get(purpose, timedelta(minutes=office.settings.accounts.link_minutes))
    session.add(
        Link(
            digest=link_digest(secret),
            purpose=purpose,
            person_id=person_id,
            data=content,
            made=now,
            expires=now + lasts,
        )
    )
    session.flush()
    return MadeLink(number, secret)


def password_link(session: Session, office: Office, person_id: str) -> str:
    """The number of a link by which somebody who cannot sign in yet chooses a first password; "" for everybody else.

    It does not end older ones: each mail about a role or a team carries its own. None of them can change a password
    that was chosen; from then on they lead to the page for signing in.
    """
    account = session.get(Account, person_id)
    known = session.scalar(select(Identity.id).where(Identity.person_id == person_id).limit(1))
    if account is None or account.closed is not None or account.password is not None or known is not None:
        return ""
    return make_link(session, office, "password", person_id=person_id, data={"mail": secrets.token_hex(8)}).number


def leads_to_sign_in(session: Session, secret: str) -> bool:
    """Whether this is a link to choose a first password, and its person has one by now."""
    link = session.get(Link, link_digest(secret))
    return link is not None and _is_pointless(session, link)


def leads_to_a_new_one(session: Session, office: Office, secret: str) -> bool:
    """Whether this is a link to choose a password that was used or is too old: its person cannot sign in to ask."""
    link = session.get(Link, link_digest(secret))
    return (
        link is not None
        and link.purpose in ("password", "reset")
        and (link.used is not None or link.expires <= office.clock())
    )


def look_at_link(session: Session, office: Office, secret: str, *purposes: str) -> Link:
    """A link that still works, without using it up: what a page shows before its button is pressed."""
    link = session.get(Link, link_digest(secret))
    if link is None or link.used is not None or link.expires <= office.clock() or _is_pointless(session, link):
        raise _dead()
    if purposes and link.purpose not in purposes:
        raise _dead()
    return link


def use_link(session: Session, office: Office, secret: str, purpose: str, *, person_id: str) -> Link:
    """Use a link up. It works for the account it was made for alone; two at the same moment: only one succeeds."""
    link = look_at_link(session, office, secret, purpose)
    if link.person_id != person_id:
        raise _dead()
    change = update(Link).where(Link.digest == link.digest, Link.used.is_(None)).values(used=office.clock())
    if session.scalar(change.returning(Link.digest)) is None:
        raise _dead()
    return link


def end_links(session: Session, person_id: str, purpose: str | None = None) -> None:
    """Make a person's links useless: after a reset, at closing, at erasure."""
    wanted = delete(Link).where(Link.person_id == person_id)
    session.execute(wanted if purpose is None else wanted.where(Link.purpose == purpose))


def _end_older(session: Session, purpose: str, person_id: str | None, content: Mapping[str, Any]) -> None:
    query = select(Link).where(Link.purpose == purpose, Link.person_id == person_id, Link.used.is_(None))
    for link in session.scalars(query):
        if link.data == content:
            session.delete(link)


def _is_pointless(session: Session, link: Link) -> bool:
    """Whether a link would choose a first password for somebody who has one."""
    account = session.get(Account, link.person_id) if link.purpose == "password" else None
    return account is not None and account.password is not None


def _dead() -> RefusedError:
    fix = (
        "for a password, request a new link on the sign-in page; otherwise sign in to "
        "your account and request one there"
    )
    return refused("X-11", "this link is invalid or has expired", fix, status=404)
