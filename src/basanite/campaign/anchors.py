"""What the event log is checked against: signed receipts, and signed heads that were written outside the database.

A log that was cut off, or rewritten as a whole, holds in itself. But every receipt names the newest event of its
moment, and rewriting the database gives nobody the signing keys of the vault or the copies in other hands (X-31).
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.receipting import VAULT, keyring, signing_key
from basanite.campaign.store import events
from basanite.campaign.store.tables import Receipt, ReceiptKey
from basanite.campaign.store.vault import Vault
from basanite.errors import BasaniteError
from basanite.receipts.canonical import parsed
from basanite.receipts.keys import PublicKey, SigningKey, moment
from basanite.receipts.signing import make, message

HEADS: Final = "log-heads.jsonl"
"""In the data folder, unless the settings name another place."""
MOST_BROKEN: Final = 20
LARGEST: Final = 64 * 2**20
LONGEST_LINE: Final = 4096

Anchor = tuple[int, str]
"""The number and the digest of an event."""


@dataclass(frozen=True)
class Verdict:
    """Whether the log is what it was: the numbers of what was changed, its length and head, and what vouches for it."""

    broken: tuple[int, ...]
    events: int
    head: str
    anchors: int = 0
    """How many receipts and written heads it was compared with."""
    anchored: int = 0
    """The newest event that one of them names; later ones are vouched for by nothing yet."""
    unbelieved: int = 0
    """How many of them are not signed by a key of this server, or were changed."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.broken and not self.unbelieved


def verify(session: Session, vault: Vault | None, more: Iterable[bytes] = ()) -> Verdict:
    """Check every event against the one before it, and against every receipt at hand; `more` are those from outside.

    The keys are those of the vault, for anyone who can change the database can add keys to it; without a vault, as in a
    restore that leaves the secrets for later, those of the database must do.
    """
    keys = _keys(session, vault)
    found = [_anchor(content, keys) for content in (*_receipts(session, keys), *more)]
    believed = [one for one in found if one is not None]
    count, head = events.head(session)
    broken = tuple(islice(events.broken(session, believed), MOST_BROKEN))
    anchored = max((sequence for sequence, _ in believed), default=0)
    return Verdict(broken, count, head, len(found), anchored, len(found) - len(believed))


def _keys(session: Session, vault: Vault | None) -> dict[str, PublicKey]:
    if vault is None:
        return {key.id: key for key in keyring(session).keys if not key.origin}
    return {name: SigningKey(vault.read(VAULT, name)).public for name in vault.names(VAULT)}


def _receipts(session: Session, keys: Container[str]) -> Iterator[bytes]:
    """All receipts but those that came with an import, which speak of another log."""
    query = select(Receipt.content, Receipt.key_id, ReceiptKey.origin)
    rows = session.execute(query.join(ReceiptKey, ReceiptKey.id == Receipt.key_id, isouter=True))
    return (content for content, key, origin in rows if key in keys or not origin)


def _anchor(content: bytes, keys: Mapping[str, PublicKey]) -> Anchor | None:
    """What a receipt or a head says of the log, if one of the keys signed it."""
    body = parsed(content) or {}
    key, signature = keys.get(str(body.get("key"))), body.pop("signature", None)
    if key is None or not isinstance(signature, str) or not key.checks(signature, message(body)):
        return None
    log: Any = body["content"]["log"]  # signed by us, so it is as we write it
    return int(log["sequence"]), str(log["head"])


def heads_file(office: Office) -> Path:
    """Where heads of the log are written."""
    return office.settings.log_heads or office.settings.data / HEADS


def write_head(office: Office) -> bool:
    """Write the signed head of the log down outside the database, if it went on since; a worker's duty.

    Before anything was signed here there is no key, and nothing that anybody could hold against the log.
    """
    place = heads_file(office)
    with office.writing() as session:
        sequence, head = events.head(session)
        if not keyring(session).keys or sequence == _last_sequence(place):
            return False
        content = {"at": moment(office.clock()), "log": {"head": head, "sequence": sequence}}
        line = make("head", content, signing_key(session, office))
    with place.open("ab+") as file:
        file.seek(max(0, file.tell() - 1))
        torn = file.read(1) not in (b"", b"\n")  # the last writer was killed, or the disk was full
        file.write(b"\n" + line if torn else line)
        file.flush()
        os.fsync(file.fileno())
    return True


def _last_sequence(place: Path) -> int:
    """The number of the event that was written down last; 0 if none was, or the line is no head."""
    if not place.exists():
        return 0
    with place.open("rb") as file:
        file.seek(max(0, place.stat().st_size - LONGEST_LINE))
        lines = file.read().splitlines(keepends=True)
    body = (parsed(lines[-1]) if lines else None) or {}
    return int(body.get("content", {}).get("log", {}).get("sequence", 0))


def kept_heads(office: Office) -> list[bytes]:
    """The heads that were written here; a line that was never finished says nothing."""
    place = heads_file(office)
    return [line for line in read_outside([place]) if parsed(line)] if place.exists() else []


def read_outside(places: Iterable[Path]) -> list[bytes]:
    """Receipts and heads in files, one a line."""
    found: list[bytes] = []
    for place in places:
        if place.stat().st_size > LARGEST:
            raise BasaniteError(f"{place} is larger than {LARGEST // 2**20} MiB: no file of receipts or heads is.")
        found += [line + b"\n" for line in place.read_bytes().splitlines() if line.strip()]
    return found
