"""Receipts and the keys that sign them; checked offline by keys that the caller gives, never by what receipts say.

Only a process that neither parses uploads nor runs scorers may hold a signing key (X-6).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self

from basanite.canonical import canonical_line, parse_canonical
from basanite.errors import BasaniteError
from basanite.problems import Problem, visible

KEYS_FORMAT = "basanite-keys/1"
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
        return ROTATION + canonical_line({"at": self.at, "old": self.old, "public": self.public})


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
        return REVOCATION + canonical_line({"at": self.at, "by": self.by, "id": self.id, "reason": self.reason})


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
        return canonical_line(asdict(self) | {"format": KEYS_FORMAT})

    @classmethod
    def of(cls, data: bytes, name: str = "the file of keys") -> Self:
        """The ring that a file holds: ours, or a public key as PEM."""
        try:
            return cls._read(data)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise KeysError(
                f"{name} is not a file of keys ({str(error)[:80]}). Give a file of the format {KEYS_FORMAT}, as an "
                "organizer publishes it, or an Ed25519 public key as PEM."
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
            if len(public) != 64 or bytes.fromhex(public).hex() != public:
                raise ValueError("a public key has 64 hex digits")
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
    if not isinstance(content, dict) or content.get("format") != KEYS_FORMAT:
        raise ValueError(f"its format is not {KEYS_FORMAT}")
    return content


def _strings(entry: Mapping[str, Any]) -> dict[str, str]:
    if not all(isinstance(value, str) for value in entry.values()):
        raise ValueError("an entry holds something other than text")
    return dict(entry)


def _from_pem(data: bytes) -> PublicKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = load_pem_public_key(data)
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError("not an Ed25519 key")
    return PublicKey(key.public_bytes_raw().hex())


FORMAT = "basanite-receipt/1"
Kind = Literal["intake", "score", "head"]
KINDS = ("intake", "score")
"""Those that are given to teams; a head stands for the log alone, outside the database (X-31)."""
RULE = "X-6"
LARGEST = 2**20
"""No receipt is longer."""
FIELDS = {"content", "format", "key", "signature", "type"}
CONTENT = {"at", "campaign", "log", "standing", "submission"}


def make(kind: Kind, content: Mapping[str, Any], key: SigningKey) -> bytes:
    """A receipt: canonical bytes with type, format, the key's name, the content and the signature of all these."""
    body = {"content": dict(content), "format": FORMAT, "key": key.id, "type": kind}
    return canonical_line(body | {"signature": key.sign(message(body))})


def message(body: Mapping[str, Any]) -> bytes:
    """What is signed: the format's name, so that no other thing we sign can be taken for a receipt, and the rest."""
    return f"{FORMAT}\n".encode() + canonical_line(body)


@dataclass(frozen=True)
class Trust:
    """Whom to believe: keys by name, when each stopped signing, and which are revoked."""

    keys: Mapping[str, PublicKey] = field(default_factory=dict)
    until: Mapping[str, str] = field(default_factory=dict)
    revoked: Mapping[str, Revocation] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Keyring, published: Keyring | None = None) -> Self:
        """Trust in all that was given, and in what the given keys vouch for in a ring from elsewhere."""
        keys = {key.id: key for key in given.keys}
        ring = given + published if published else given
        handed = tuple(_follow_rotations(keys, ring))
        before = _predecessors(handed)
        revoked = {each.id: each for each in given.revoked if each.by not in before.get(each.id, ())}
        revoked |= {each.id: each for each in ring.revoked if _is_vouched_for(each, keys, before)}
        return cls(keys, {rotation.old: rotation.at for rotation in handed}, revoked)


@dataclass(frozen=True)
class Verdict:
    """What checking a receipt gave: its content if the signature holds, and everything that is wrong."""

    valid: bool
    kind: str = ""
    key: str = ""
    content: Mapping[str, Any] = field(default_factory=dict)
    """Empty unless the signature was made by a trusted key."""
    foreign: str = ""
    """The server it comes from, if that is another one (X-15)."""
    problems: tuple[Problem, ...] = ()


def verify(data: bytes, trusted: Trust, at: datetime) -> Verdict:
    """Check a receipt by trusted keys alone, as seen at a moment; every reason for distrust is a problem."""
    body = parse_canonical(data) if len(data) <= LARGEST else None
    if body is None or not (
        set(body) == FIELDS and body["format"] == FORMAT and body["type"] in KINDS and isinstance(body["content"], dict)
    ):
        return Verdict(False, problems=(_unreadable(body),))
    problems = tuple(_distrust(body, trusted, at))
    key = trusted.keys.get(str(body["key"]))
    if key is None or problems:
        return Verdict(False, body["type"], str(body["key"]), problems=problems)
    return Verdict(True, body["type"], key.id, body["content"], key.origin)


def problem(words: str, fix: str) -> Problem:
    """Something wrong with a receipt."""
    return Problem(RULE, "receipt", None, None, words, fix)


def _unreadable(body: Mapping[str, Any] | None) -> Problem:
    found = visible(str((body or {}).get("format", "")))[:60]
    if found.startswith("basanite-receipt/") and found != FORMAT:
        return problem(f"its format is {found}, which this version does not know", "update Basanite and try again")
    return problem("it is not a receipt, or its bytes were changed", "give the file exactly as it was downloaded")


def _distrust(body: Mapping[str, Any], trusted: Trust, at: datetime) -> Iterator[Problem]:
    key = trusted.keys.get(str(body["key"]))
    if key is None:
        yield problem(
            f"it is signed by {visible(str(body['key']))[:60]}, which is not one of the keys that were given or pinned",
            "get the campaign's key file from its organizers, not from the sender of the receipt",
        )
        return
    unsigned = {name: value for name, value in body.items() if name != "signature"}
    if not isinstance(body["signature"], str) or not key.checks(body["signature"], message(unsigned)):
        yield problem("its signature is wrong: it was changed, or not made by this key", "ask for the receipt again")
        return
    yield from _untimely(body["content"], key, trusted, at)
    missing = CONTENT - set(body["content"])
    if missing:
        yield problem(f"it does not say {', '.join(sorted(missing))}", "ask for the receipt again")


def _untimely(content: Mapping[str, Any], key: PublicKey, trusted: Trust, at: datetime) -> Iterator[Problem]:
    """Moments are texts of one length, so their order is that of the texts."""
    made, ask = str(content.get("at", "")), "ask the organizers for a receipt under their present key"
    if key.id in trusted.revoked:
        yield problem(f"its key {key.id} was revoked: {visible(trusted.revoked[key.id].reason)[:200]}", ask)
    if key.expires and moment(at) > key.expires:
        yield problem(f"its key {key.id} expired at {key.expires}", ask)
    if made < key.start or made > trusted.until.get(key.id, "9"):
        yield problem(f"it was made at {visible(made)[:40]}, when its key {key.id} was not in use", ask)
    if made > moment(at):
        yield problem(f"it says that it was made at {visible(made)[:40]}, which is still to come", "check your clock")


def _follow_rotations(keys: dict[str, PublicKey], ring: Keyring) -> Iterator[Rotation]:
    """Follow signed hand-overs from trusted keys, adding what they lead to; gives those that are believed."""
    waiting = list(ring.rotations)
    while believed := [each for each in waiting if _is_believed(each, keys)]:
        for rotation in believed:
            waiting.remove(rotation)
            old = keys[rotation.old]
            keys.setdefault(rotation.new, PublicKey(rotation.public, start=rotation.at, origin=old.origin))
            yield rotation


def _is_believed(rotation: Rotation, keys: Mapping[str, PublicKey]) -> bool:
    old = keys.get(rotation.old)
    return old is not None and rotation.at >= old.start and old.checks(rotation.signature, rotation.message())


def _predecessors(handed: Sequence[Rotation]) -> dict[str, frozenset[str]]:
    """All keys that each key came after, over any number of hand-overs."""
    before: dict[str, frozenset[str]] = {}
    for _ in handed:  # a chain is no longer than its hand-overs
        for each in handed:
            known = before.get(each.new, frozenset()) | before.get(each.old, frozenset()) | {each.old}
            before[each.new] = known - {each.new}
    return before


def _is_vouched_for(
    revocation: Revocation, keys: Mapping[str, PublicKey], before: Mapping[str, frozenset[str]]
) -> bool:
    """A key revokes itself and those it came after: who stole an old key must not be able to end the new one."""
    by = keys.get(revocation.by)
    may = by is not None and revocation.id in before.get(by.id, frozenset()) | {by.id}
    return by is not None and may and by.checks(revocation.signature, revocation.message())
