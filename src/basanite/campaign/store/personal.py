"""Personal data under a key of each person's own: anyone who destroys the key has erased every copy, backups included.

Only `people.sealed` holds names and addresses (P-21). The key lies in the vault, which is never part of a backup.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from basanite.campaign.store.tables import Person
from basanite.campaign.store.vault import Vault
from basanite.canonical import canonical_text

KEYS = "person"
"""The kind of these keys in the vault."""
STONES = "erased"
"""The kind of marks in the vault that say that the person of an id was erased."""
LOSS = "loss"
"""The kind of a mark in the vault that says: its people's keys are lost, and somebody knows."""
NONCE = 12
ERASED = "erased"


@dataclass(frozen=True)
class Personal:
    """Who a person is."""

    name: str
    mail: str
    other: Mapping[str, str] = field(default_factory=dict)
    """Affiliation, postal address, worker id, consent, pay: whatever else belongs to the person alone."""
    erased: bool = False


FORGOTTEN = Personal(ERASED, "", erased=True)


def normal_mail(mail: str) -> str:
    """An address as it is compared: without space around it, NFC, in lower case.

    >>> normal_mail(" Ada@Example.ORG ")
    'ada@example.org'
    """
    return unicodedata.normalize("NFC", mail.strip()).casefold()


def mail_digest(vault: Vault, mail: str) -> str:
    """What a person is found by; useless to anybody without the vault."""
    return vault.hmac("digest", "mail", normal_mail(mail).encode())


def seal(vault: Vault, person_id: str, personal: Personal) -> bytes:
    """Personal data under the person's key."""
    content = {"name": personal.name, "mail": personal.mail, "other": dict(personal.other)}
    plain = canonical_text(content).encode()
    return seal_bytes(vault, person_id, plain)


def unseal(vault: Vault, person: Person) -> Personal:
    """Personal data as it was sealed, or `FORGOTTEN` if the data or its key is no more."""
    plain = None if person.sealed is None else unseal_bytes(vault, person.id, person.sealed)
    return FORGOTTEN if plain is None else Personal(**json.loads(plain))


def keys_are_missing(session: Session, vault: Vault) -> bool:
    """Whether there are people, and the vault has the key of none of them: it is not theirs (X-36)."""
    if not inspect(session.connection()).has_table(Person.__tablename__):
        return False
    known = {*vault.names(KEYS), *vault.names(STONES)}
    people = session.scalars(select(Person.id).where(Person.sealed.is_not(None)))
    first = next(people, None)
    return first is not None and first not in known and known.isdisjoint(people) and not vault.names(LOSS)


def seal_bytes(vault: Vault, person_id: str, plain: bytes) -> bytes:
    """Any bytes that shall be forgotten together with the person: a signed copy, a second factor."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE)
    return nonce + AESGCM(vault.secret(KEYS, person_id)).encrypt(nonce, plain, person_id.encode())


def unseal_bytes(vault: Vault, person_id: str, sealed: bytes) -> bytes | None:
    """The bytes again; None once the key is destroyed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        key = vault.read(KEYS, person_id)
        return AESGCM(key).decrypt(sealed[:NONCE], sealed[NONCE:], person_id.encode())
    except (FileNotFoundError, InvalidTag):
        return None
