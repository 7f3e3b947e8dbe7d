"""Wrong passwords, counted by mail address and by where they come from (P-11).

Whoever guesses is locked out, not the owner of the account: a lock holds for the network address it was earned at. One
for all addresses follows only after many more failures, and not where the owner has been before. Addresses without an
account are counted alike, so that a lock tells nothing.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.people.privacy.addresses import network
from basanite.campaign.store.personal import mail_digest, normal_mail
from basanite.campaign.store.tables import FailedSignIn

ANYWHERE: Final = ""
ANYWHERE_TIMES: Final = 10
"""How many times more failures from all addresses together close the account to addresses that are not known."""


def locked_until(session: Session, office: Office, mail: str, address: str, *, at_home: bool) -> datetime | None:
    """Until when nobody gets in with this mail address from here; None if it is not locked."""
    now = office.clock()
    found = (session.get(FailedSignIn, _digest(office, mail, where)) for where in _places(address, at_home))
    locks = [row.locked_until for row in found if row is not None and row.locked_until is not None]
    return max((until for until in locks if until > now), default=None)


def count(session: Session, office: Office, mail: str, address: str, *, at_home: bool) -> datetime | None:
    """Count one more failure; gives until when it is locked by that."""
    settings = office.settings.accounts
    most = {address: settings.failures, ANYWHERE: settings.failures * ANYWHERE_TIMES}
    locks = [_counted(session, office, mail, where, most[where]) for where in _places(address, at_home)]
    return max((until for until in locks if until is not None), default=None)


def forget(session: Session, office: Office, mail: str, address: str) -> None:
    """The right password was given: what failed before does not count any more."""
    for where in (address, ANYWHERE):
        row = session.get(FailedSignIn, _digest(office, mail, where))
        if row is not None:
            session.delete(row)


def forget_all(session: Session, digest: str | None) -> None:
    """The owner of a mail address has a new password: no lock of it holds any more, wherever it was earned."""
    session.execute(delete(FailedSignIn).where(FailedSignIn.mail_digest == digest))


def _places(address: str, at_home: bool) -> tuple[str, ...]:
    return (address,) if at_home else (address, ANYWHERE)


def _digest(office: Office, mail: str, address: str) -> str:
    where = network(address) if address else "anywhere"
    return office.vault.hmac("digest", "failed-sign-ins", f"{normal_mail(mail)}\0{where}".encode())


def _counted(session: Session, office: Office, mail: str, where: str, most: int) -> datetime | None:
    now, row = office.clock(), _row(session, office, mail, where)
    row.failures, row.last = row.failures + 1, now
    if row.failures < most:
        return None
    row.failures, row.locked_until = 0, now + timedelta(minutes=office.settings.accounts.lock_minutes)
    return row.locked_until


def _row(session: Session, office: Office, mail: str, where: str) -> FailedSignIn:
    """The row, locked; two who fail first at one instant make one."""
    digest = _digest(office, mail, where)
    question = select(FailedSignIn).where(FailedSignIn.digest == digest).with_for_update()
    found = session.scalars(question).first()
    if found is None:
        new = FailedSignIn(digest=digest, mail_digest=mail_digest(office.vault, mail), failures=0, last=office.clock())
        with suppress(IntegrityError), session.begin_nested():
            session.add(new)
        found = session.scalars(question).one()
    return found
