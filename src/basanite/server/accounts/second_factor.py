"""The second factor: codes that change every half minute, each good once, and codes for a lost phone (X-11)."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field

import pyotp
import segno
from sqlalchemy.orm import Session as Database

from basanite.campaign.office import Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.personal import seal_bytes, unseal_bytes
from basanite.campaign.store.tables import Account
from basanite.canonical import canonical_text

STEP = 30
RECOVERY_CODES = 8
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class Enrolment:
    """A secret that is offered and not kept yet: its picture for a phone, and the secret in letters."""

    secret: str = field(repr=False)
    address: str
    picture: str
    """An SVG to stand in the page."""


@dataclass(frozen=True)
class _Secrets:
    secret: str = field(repr=False)
    recovery: tuple[str, ...]


def offer(secret: str, account: str) -> Enrolment:
    """How a secret is shown to the person who will put it on a phone."""
    address = pyotp.TOTP(secret).provisioning_uri(name=account, issuer_name="Basanite")
    picture = segno.make(address, error="m").svg_inline(scale=5, border=2, dark="#18181b", light="#ffffff")
    return Enrolment(secret, address, picture)


def fresh_secret() -> str:
    """A new shared secret."""
    return pyotp.random_base32()


def is_on(account: Account) -> bool:
    """Whether this account asks for a second factor."""
    return account.second_factor is not None


def switch_on(database: Database, office: Office, account: Account, secret: str, code: str) -> tuple[str, ...] | None:
    """Keep a secret that the person has shown to have; returns recovery codes, shown once, or None for a wrong code."""
    step = _step(office, secret, code)
    if step is None:
        return None
    codes = tuple(_recovery_code() for _ in range(RECOVERY_CODES))
    _write_secrets(office, account, _Secrets(secret, tuple(map(_digest, codes))))
    account.second_factor_used = step
    _note(database, office, account, "on")
    return codes


def switch_off(database: Database, office: Office, actor: Actor, account: Account) -> None:
    """Ask for no second factor any more."""
    account.second_factor, account.second_factor_used = None, 0
    data = {"state": "off"}
    events.record(
        database, "second_factor.changed", at=office.clock(), actor=actor.id, subject=account.person_id, data=data
    )


def accept(database: Database, office: Office, account: Account, code: str) -> bool:
    """Whether the code is right: one of this moment that was not used before, or a recovery code, then gone."""
    kept = _read_secrets(office, account)
    if kept is None:
        return False
    step = _step(office, kept.secret, code)
    if step is not None and step > account.second_factor_used:
        account.second_factor_used = step
        return True
    return _use_recovery_code(database, office, account, kept, code)


def recovery_left(office: Office, account: Account) -> int:
    """How many recovery codes are left."""
    kept = _read_secrets(office, account)
    return len(kept.recovery) if kept else 0


def _use_recovery_code(database: Database, office: Office, account: Account, kept: _Secrets, code: str) -> bool:
    digest = _digest(code.strip().lower())
    if not any(hmac.compare_digest(digest, one) for one in kept.recovery):
        return False
    _write_secrets(office, account, _Secrets(kept.secret, tuple(one for one in kept.recovery if one != digest)))
    _note(database, office, account, "recovery code used")
    return True


def _step(office: Office, secret: str, code: str) -> int | None:
    """The half minute that a code belongs to: this one, or a neighbour for clocks that are a little off."""
    digits = "".join(code.split())
    now = int(office.clock().timestamp()) // STEP
    totp = pyotp.TOTP(secret)
    right = (
        at for at in (now, now - 1, now + 1) if hmac.compare_digest(totp.generate_otp(at).encode(), digits.encode())
    )
    return next(right, None)


def _write_secrets(office: Office, account: Account, kept: _Secrets) -> None:
    content = canonical_text({"recovery": list(kept.recovery), "secret": kept.secret}).encode()
    account.second_factor = seal_bytes(office.vault, account.person_id, content)


def _read_secrets(office: Office, account: Account) -> _Secrets | None:
    if account.second_factor is None:
        return None
    content = unseal_bytes(office.vault, account.person_id, account.second_factor)
    if content is None:
        return None
    read = json.loads(content)
    return _Secrets(read["secret"], tuple(read["recovery"]))


def _recovery_code() -> str:
    letters = "".join(secrets.choice(_LETTERS) for _ in range(12))
    return f"{letters[:4]}-{letters[4:8]}-{letters[8:]}"


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _note(database: Database, office: Office, account: Account, state: str) -> None:
    person, data = account.person_id, {"state": state}
    events.record(database, "second_factor.changed", at=office.clock(), actor=person, subject=person, data=data)
