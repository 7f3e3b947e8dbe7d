"""Keys that sign and keys that check, the hand-over from one to the next, and keys that are trusted no more.

A key ring is a file that an organiser publishes and a reader pins. In a ring that the reader gives, every key is
trusted. From any other ring only those keys are taken that a trusted key handed over to, signature by signature.
A key can revoke itself and the keys it came after, never one that came after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from basanite.errors import BasaniteError
from basanite.receipts.canonical import canonical

FORMAT = "basanite-keys/1"
ROTATION = b"basanite-rotation/1\n"
REVOCATION = b"basanite-revocation/1\n"


class KeysError(BasaniteError):
    """A file of keys cannot be used; the message says what is wrong with it."""


@dataclass(frozen=True)
class PublicKey:
    """A key that checks signatures, and when it may be used."""

    public: str
    """The 32 bytes of an Ed25519 public key as hex."""
    start: str = ""
    """The first moment it may have signed, in ISO; empty: no bound."""
    expires: str = ""
    """After this moment nothing it signed is trusted any more; empty: never."""
    origin: str = ""
    """Another server it comes from: what it signed is foreign here (X-15)."""

    @property
    def id(self) -> str:
        """A short name that follows from the key."""
        return key_id(bytes.fromhex(self.public))

    def checks(self, signature: str, message: bytes) -> bool:
        """Whether this key made the signature."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            raw = bytes.fromhex(signature)
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public)).verify(raw, message)
        except (InvalidSignature, ValueError):
            return False
        return raw.hex() == signature  # one spelling only: capitals would be another receipt of the same content


@dataclass(frozen=True, repr=False)
class SigningKey:
    """A key that signs: 32 secret bytes that never leave the vault's process."""

    secret: bytes

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        return PublicKey(self._private().public_key().public_bytes_raw().hex())

    @property
    def id(self) -> str:
        """The name of its public key."""
        return self.public.id

    def sign(self, message: bytes) -> str:
        """The signature of a message, as hex."""
        return str(self._private().sign(message).hex())

    def _private(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.secret)


@dataclass(frozen=True)
class Rotation:
    """An old key says which key comes after it, and from when."""

    old: str
    public: str
    at: str
    signature: str = ""

    @property
    def new(self) -> str:
        """The name of the key that comes after."""
        return key_id(bytes.fromhex(self.public))

    def message(self) -> bytes:
        """What the old key signs."""
        return ROTATION + canonical({"at": self.at, "old": self.old, "public": self.public})


@dataclass(frozen=True)
class Revocation:
    """A key is trusted no more, whatever it signed and when; signed by itself or by one that came after it."""

    id: str
    at: str
    by: str
    reason: str = ""
    signature: str = ""

    def message(self) -> bytes:
        """What the revoking key signs."""
        return REVOCATION + canonical({"at": self.at, "by": self.by, "id": self.id, "reason": self.reason})


@dataclass(frozen=True)
class Keyring:
    """Keys with their hand-overs and revocations, as one file."""

    keys: tuple[PublicKey, ...] = ()
    rotations: tuple[Rotation, ...] = ()
    revoked: tuple[Revocation, ...] = ()

    def __add__(self, other: Keyring) -> Keyring:
        return Keyring(self.keys + other.keys, self.rotations + other.rotations, self.revoked + other.revoked)

    def as_bytes(self) -> bytes:
        """The ring as a file."""
        return canonical(asdict(self) | {"format": FORMAT})

    @classmethod
    def of(cls, data: bytes, name: str = "the file of keys") -> Self:
        """The ring that a file holds: ours, or a public key as PEM."""
        try:
            return cls._read(data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise KeysError(
                f"{name} is no file of keys ({str(error)[:80]}). Give a file of the format {FORMAT}, as an organiser "
                "publishes it, or an Ed25519 public key as PEM."
            ) from error

    @classmethod
    def _read(cls, data: bytes) -> Self:
        if data.startswith(b"-----BEGIN"):
            return cls((_from_pem(data),))
        content = _object(data)
        keys = tuple(PublicKey(**_strings(entry)) for entry in content["keys"])
        rotations = tuple(Rotation(**_strings(entry)) for entry in content.get("rotations", ()))
        revoked = tuple(Revocation(**_strings(entry)) for entry in content.get("revoked", ()))
        for public in (*(key.public for key in keys), *(each.public for each in rotations)):
            _check_public(public)
        moments = [text for key in keys for text in (key.start, key.expires)]
        moments += [each.at for each in rotations] + [each.at for each in revoked]
        for text in moments:
            moment_of(text)
        return cls(keys, rotations, revoked)


def key_id(public: bytes) -> str:
    """The name of a public key: the beginning of its digest.

    >>> key_id(bytes(32))
    'ed25519-66687aadf862bd77'
    """
    return f"ed25519-{hashlib.sha256(public).hexdigest()[:16]}"


def hand_over(old: SigningKey, new: SigningKey, at: datetime) -> Rotation:
    """The old key's word that the new one comes after it."""
    rotation = Rotation(old.id, new.public.public, moment(at))
    return replace(rotation, signature=old.sign(rotation.message()))


def revoke(key: str, by: SigningKey, at: datetime, reason: str) -> Revocation:
    """A key's word that it itself, or one that it came after, is trusted no more."""
    revocation = Revocation(key, moment(at), by.id, reason)
    return replace(revocation, signature=by.sign(revocation.message()))


def moment(at: datetime) -> str:
    """A moment as receipts and rings write it: UTC, to the microsecond, always of the same length.

    >>> moment(datetime(2018, 7, 24, 9, tzinfo=UTC))
    '2018-07-24T09:00:00.000000Z'
    """
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def moment_of(text: str) -> datetime | None:
    """The moment that such a text names; None for an empty one, ValueError for any other text."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC) if text else None


def _object(data: bytes) -> Mapping[str, Any]:
    import json

    content = json.loads(data)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT}")
    return content


def _strings(entry: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in entry.values()):
        raise ValueError("an entry holds something other than text")
    return dict(entry)


def _check_public(public: str) -> None:
    if len(public) != 64 or bytes.fromhex(public).hex() != public:
        raise ValueError("a public key has 64 hex digits")


def _from_pem(data: bytes) -> PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(data)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("not an Ed25519 key")
    return PublicKey(key.public_bytes_raw().hex())
