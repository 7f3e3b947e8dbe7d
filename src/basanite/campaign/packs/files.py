"""Adding and listing the files of a pack. A pack with a key time is encrypted before it lies anywhere (M89)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.model.plan import Campaign, Pack
from basanite.campaign.model.refusals import refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.sealing import Lock, seal
from basanite.campaign.store import events
from basanite.campaign.store.database import take_time
from basanite.campaign.store.files import PIECE, Stored
from basanite.campaign.store.tables import PackFile
from basanite.formats.bounded import check_regular

VAULT = "pack"
"""The kind of secret that keys of packs are in the vault."""
LONGEST_NAME = 120


@dataclass(frozen=True)
class PackListing:
    """One file of a pack as a team sees it."""

    id: str
    pack: str
    name: str
    size: int
    digest: str
    encrypted: bool
    usage: str
    """The column of the usage rules that it falls under (M82)."""


def find_pack(campaign: Campaign, pack_id: str) -> Pack:
    """The pack of this name in the campaign's file."""
    for pack in campaign.packs:
        if pack.id == pack_id:
            return pack
    known = ", ".join(pack.id for pack in campaign.packs) or "none"
    raise refused("M63", f"the campaign has no pack {pack_id}", f"choose one of: {known}", status=404)


def add_file(
    session: Session, office: Office, actor: Actor, campaign_id: str, pack: Pack, path: Path, name: str = ""
) -> PackFile:
    """Put a file into a pack; with a key time it is encrypted on the way in, under the pack's key in the vault."""
    name = (name or path.name) + (".sealed" if pack.key_at else "")
    _check(session, campaign_id, pack, name)
    check_regular(path)
    plain = _Hashed(path)
    take_time(session.connection())  # a pack may have many gigabytes
    stored = office.files.put(seal(plain, _lock(office, campaign_id, pack.id)) if pack.key_at else plain)
    row = _row(office, actor, campaign_id, pack, name, stored, plain)
    session.add(row)
    session.flush()
    data = {"pack": pack.id, "digest": row.digest, "encrypted": row.encrypted}
    events.record(
        session, "pack.added", at=office.clock(), actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data
    )
    return row


def list_files(session: Session, campaign_id: str, campaign: Campaign) -> tuple[PackListing, ...]:
    """All files of all packs, in the order of the calendar's packs and then by name."""
    order = {pack.id: number for number, pack in enumerate(campaign.packs)}
    usage = {pack.id: pack.usage for pack in campaign.packs}
    rows = session.scalars(select(PackFile).where(PackFile.campaign_id == campaign_id)).all()
    ordered = sorted(rows, key=lambda row: (order.get(row.pack, len(order)), row.name))
    return tuple(
        PackListing(row.id, row.pack, row.name, row.size, row.digest, row.encrypted, usage.get(row.pack, ""))
        for row in ordered
    )


def _check(session: Session, campaign_id: str, pack: Pack, name: str) -> None:
    plain = len(name) <= LONGEST_NAME and name.isascii() and name.isprintable() and name[:1].isalnum()
    if not plain or any(char in name for char in '/\\"'):
        fix = f"use at most {LONGEST_NAME} plain letters, digits, dots and dashes, beginning with a letter or digit"
        raise refused("M89", "this cannot be the name of a file of a pack", fix, status=422, found=name)
    taken = select(PackFile.id).where(PackFile.campaign_id == campaign_id, PackFile.pack == pack.id)
    if session.scalar(taken.where(PackFile.name == name)) is not None:
        fix = "give it another name: what teams may have downloaded already stays as it is"
        raise refused("M89", f"{pack.id} has a file {name} already", fix)


def _row(
    office: Office, actor: Actor, campaign_id: str, pack: Pack, name: str, stored: Stored, plain: _Hashed
) -> PackFile:
    return PackFile(
        campaign_id=campaign_id,
        pack=pack.id,
        name=name,
        digest=stored.digest,
        size=stored.size,
        encrypted=pack.key_at is not None,
        plain_digest=plain.digest.hexdigest(),
        added=office.clock(),
        added_by=actor.id,
    )


def secret_name(campaign_id: str, pack_id: str) -> str:
    """The name of a pack's key in the vault; ids of packs may hold what names of secrets may not."""
    return f"{campaign_id}-{hashlib.sha256(pack_id.encode()).hexdigest()[:16]}"


def _lock(office: Office, campaign_id: str, pack_id: str) -> Lock:
    return Lock(office.vault.secret(VAULT, secret_name(campaign_id, pack_id)))


class _Hashed:
    """The content of a file, hashed while it is read once."""

    def __init__(self, path: Path) -> None:
        self.path, self.digest = path, hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            for piece in iter(lambda: file.read(PIECE), b""):
                self.digest.update(piece)
                yield piece
