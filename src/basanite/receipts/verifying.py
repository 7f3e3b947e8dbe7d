"""Checking receipts offline: by keys that the caller gives, never by anything that the receipt itself says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

from basanite.problems import Problem, visible
from basanite.receipts.canonical import parsed
from basanite.receipts.keys import Keyring, PublicKey, Revocation, Rotation, moment
from basanite.receipts.signing import FORMAT, KINDS, message

RULE = "X-6"
LARGEST = 2**20
"""No receipt is longer."""
FIELDS = {"content", "format", "key", "signature", "type"}
CONTENT = {"at", "campaign", "log", "standing", "submission"}


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
        handed = tuple(_followed(keys, ring))
        before = _predecessors(handed)
        revoked = {each.id: each for each in given.revoked if each.by not in before.get(each.id, ())}
        revoked |= {each.id: each for each in ring.revoked if _vouched(each, keys, before)}
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
    body = parsed(data) if len(data) <= LARGEST else None
    if body is None or not _formed(body):
        return Verdict(False, problems=(_unreadable(body),))
    problems = tuple(_distrust(body, trusted, at))
    key = trusted.keys.get(str(body["key"]))
    if key is None or problems:
        return Verdict(False, body["type"], str(body["key"]), problems=problems)
    return Verdict(True, body["type"], key.id, body["content"], key.origin)


def _formed(body: Mapping[str, Any]) -> bool:
    return (
        set(body) == FIELDS and body["format"] == FORMAT and body["type"] in KINDS and isinstance(body["content"], dict)
    )


def problem(words: str, fix: str) -> Problem:
    """Something wrong with a receipt."""
    return Problem(RULE, "receipt", None, None, words, fix)


def _unreadable(body: Mapping[str, Any] | None) -> Problem:
    found = visible(str((body or {}).get("format", "")))[:60]
    if found.startswith("basanite-receipt/") and found != FORMAT:
        return problem(f"its format is {found}, which this version does not know", "update Basanite and try again")
    return problem("it is no receipt, or its bytes were changed", "give the file exactly as it was downloaded")


def _distrust(body: Mapping[str, Any], trusted: Trust, at: datetime) -> Iterator[Problem]:
    key = trusted.keys.get(str(body["key"]))
    if key is None:
        yield problem(
            f"it is signed by {visible(str(body['key']))[:60]}, which is none of the keys that were given or pinned",
            "get the campaign's file of keys from its organisers, not from whoever sent the receipt",
        )
        return
    unsigned = {name: value for name, value in body.items() if name != "signature"}
    if not isinstance(body["signature"], str) or not key.checks(body["signature"], message(unsigned)):
        yield problem("its signature is wrong: it was changed, or not made by this key", "ask for the receipt again")
        return
    yield from _untimely(body["content"], key, trusted, at)
    yield from _shapeless(body["content"])


def _untimely(content: Mapping[str, Any], key: PublicKey, trusted: Trust, at: datetime) -> Iterator[Problem]:
    """Moments are texts of one length, so their order is that of the texts."""
    made, ask = str(content.get("at", "")), "ask the organisers for a receipt under their present key"
    if key.id in trusted.revoked:
        yield problem(f"its key {key.id} was revoked: {visible(trusted.revoked[key.id].reason)[:200]}", ask)
    if key.expires and moment(at) > key.expires:
        yield problem(f"its key {key.id} expired at {key.expires}", ask)
    if made < key.start or made > trusted.until.get(key.id, "9"):
        yield problem(f"it was made at {visible(made)[:40]}, when its key {key.id} was not in use", ask)
    if made > moment(at):
        yield problem(f"it says that it was made at {visible(made)[:40]}, which is still to come", "check your clock")


def _shapeless(content: Mapping[str, Any]) -> Iterator[Problem]:
    missing = CONTENT - set(content)
    if missing:
        yield problem(f"it does not say {', '.join(sorted(missing))}", "ask for the receipt again")


def _followed(keys: dict[str, PublicKey], ring: Keyring) -> Iterator[Rotation]:
    """Follow signed hand-overs from trusted keys, adding what they lead to; gives those that are believed."""
    waiting = list(ring.rotations)
    while believed := [each for each in waiting if _believed(each, keys)]:
        for rotation in believed:
            waiting.remove(rotation)
            old = keys[rotation.old]
            keys.setdefault(rotation.new, PublicKey(rotation.public, start=rotation.at, origin=old.origin))
            yield rotation


def _believed(rotation: Rotation, keys: Mapping[str, PublicKey]) -> bool:
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


def _vouched(revocation: Revocation, keys: Mapping[str, PublicKey], before: Mapping[str, frozenset[str]]) -> bool:
    """A key revokes itself and those it came after: who stole an old key must not be able to end the new one."""
    by = keys.get(revocation.by)
    may = by is not None and revocation.id in before.get(by.id, frozenset()) | {by.id}
    return by is not None and may and by.checks(revocation.signature, revocation.message())
