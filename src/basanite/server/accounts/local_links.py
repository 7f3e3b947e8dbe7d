"""Links that sign in an annotator on this machine: printed by `basanite annotate`, of use to nobody else (R-40).

They exist for people without a mail address or password alone, whose accounts that command makes; the page behind them
answers calls from this machine only.
"""

from __future__ import annotations

import hashlib
from typing import Final

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.people.persons import personal
from basanite.campaign.store.tables import Account
from basanite.campaign.work.annotation.quick_start import HOST

ADDRESS: Final = "/annotate/enter"
LASTS: Final = 7 * 24 * 3600
"""Seconds; the command prints new links at each start."""


def local_link(office: Office, person: str) -> str:
    """The address that signs in a local annotator."""
    return f"{ADDRESS}?key={_serializer(office).dumps(person)}"


def local_person(session: Session, office: Office, key: str) -> str | None:
    """Whom a link signs in; nobody if it is forged, too old, or names somebody who can sign in otherwise."""
    try:
        person = str(_serializer(office).loads(key, max_age=LASTS))
    except (BadSignature, ValueError, TypeError):
        return None
    account = session.get(Account, person)
    if account is None or account.closed is not None or account.password is not None:
        return None
    return person if personal(session, office, person).mail.endswith(f"@{HOST}") else None


def _serializer(office: Office) -> URLSafeTimedSerializer:
    key = office.vault.secret("cookies", "local-links")
    return URLSafeTimedSerializer(key, salt="local-link", signer_kwargs={"digest_method": hashlib.sha256})
