"""What the event log is checked against: signed receipts, and signed heads that were written outside the database.

A log that was cut off, or written anew as a whole, holds in itself. But every receipt names the newest event of its
moment, and whoever rewrites the database has neither the signing key nor the copies in other hands (X-31).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.receipting import keyring, signing_key
from basanite.campaign.store import events
from basanite.campaign.store.tables import Receipt, ReceiptKey
from basanite.errors import BasaniteError
from basanite.receipts.canonical import parsed
from basanite.receipts.keys import PublicKey, moment
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
    unbelieved: int = 0
    """How many of them are not signed by a key of this server, or were changed."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.broken and not self.unbelieved


def verify(session: Session, more: Iterable[bytes] = ()) -> Verdict:
    """Check every event against the one before it, and against every receipt at hand; `more` are those from outside."""
    keys = {key.id: key for key in keyring(session).keys if not key.origin}
    found = [_anchor(content, keys) for content in (*_receipts(session), *more)]
    count, head = events.head(session)
    broken = tuple(islice(events.broken(session, filter(None, found)), MOST_BROKEN))
    return Verdict(broken, count, head, len(found), found.count(None))


def _receipts(session: Session) -> Iterator[bytes]:
    """All receipts that were signed here; those that came with an import speak of another log."""
    query = select(Receipt.content).join(ReceiptKey, ReceiptKey.id == Receipt.key_id, isouter=True)
    return iter(session.scalars(query.where((ReceiptKey.origin == "") | ReceiptKey.id.is_(None))))


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
    with place.open("ab") as file:
        file.write(line)
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
    """The heads that were written here."""
    place = heads_file(office)
    return read_outside([place]) if place.exists() else []


def read_outside(places: Iterable[Path]) -> list[bytes]:
    """Receipts and heads in files, one a line."""
    found: list[bytes] = []
    for place in places:
        if place.stat().st_size > LARGEST:
            raise BasaniteError(f"{place} is larger than {LARGEST // 2**20} MiB: no file of receipts or heads is.")
        found += [line + b"\n" for line in place.read_bytes().splitlines() if line.strip()]
    return found
