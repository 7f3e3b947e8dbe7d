"""Data packs: adding, listing and handing out their files. A pack with a key time is always kept encrypted (M89)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions.registry import Argument, Arguments, At, Outcome, action, list_outcome
from basanite.campaign.model.plan import Campaign, Pack
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.people.agreements import standing, unaccepted_rules
from basanite.campaign.sealing import Lock, seal
from basanite.campaign.store import events
from basanite.campaign.store.database import take_time
from basanite.campaign.store.files import PIECE
from basanite.campaign.store.tables import CampaignRow, Download, Event, PackFile
from basanite.formats.bounded import check_regular
from basanite.problems import Problem

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
    raise refused("M63", f"the campaign has no data pack {pack_id}", f"choose one of: {known}", status=404)


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file for a pack, under its own name or another one."""

    path: Path
    name: str = ""


def add_file(session: Session, office: Office, actor: Actor, campaign_id: str, pack: Pack, file: NewFile) -> PackFile:
    """Put a file into a pack; with a key time it is encrypted on the way in, under the pack's key in the vault."""
    name = (file.name or file.path.name) + (".sealed" if pack.key_at else "")
    _check(session, campaign_id, pack, name)
    check_regular(file.path)
    plain = _Hashed(file.path)
    take_time(session.connection())  # a pack may have many gigabytes
    stored = office.files.put(seal(plain, _lock(office, campaign_id, pack.id)) if pack.key_at else plain)
    row = PackFile(
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
        fix = f"use at most {LONGEST_NAME} ASCII letters, digits, dots and dashes, starting with a letter or digit"
        raise refused("M89", "invalid name for a file of a data pack", fix, status=422, found=name)
    taken = select(PackFile.id).where(PackFile.campaign_id == campaign_id, PackFile.pack == pack.id)
    if session.scalar(taken.where(PackFile.name == name)) is not None:
        fix = "use another name: files that teams may have downloaded are never replaced"
        raise refused("M89", f"{pack.id} already has a file {name}", fix)


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


PUBLISHED = "pack.key_published"


@dataclass(frozen=True)
class PackKey:
    """A published key: what `basanite decrypt --key` takes."""

    pack: str
    key: str
    """64 hex digits."""
    since: datetime


def is_out(pack: Pack, now: datetime) -> bool:
    """Whether the key of a pack is published: from its minute on, not a moment earlier."""
    return pack.key_at is not None and now >= pack.key_at.utc


def published_key(session: Session, office: Office, campaign_id: str, pack: Pack) -> PackKey:
    """The key of a pack after its release time; before that nobody gets it (M89)."""
    if pack.key_at is None:
        raise refused("M89", f"{pack.id} is not encrypted", "download its files and use them", status=404)
    if not is_out(pack, campaign_time(session, office, campaign_id)):
        when = f"{pack.key_at.utc:%Y-%m-%d %H:%M} UTC"
        fix = f"come back at {when}"
        raise refused(
            "M89", f"the decryption key of {pack.id} has not been published", fix, status=403, retry_at=pack.key_at.utc
        )
    try:
        key = office.vault.read(VAULT, secret_name(campaign_id, pack.id))
    except FileNotFoundError:
        raise refused(
            "M89", f"{pack.id} has no files yet, and therefore no decryption key", "wait for its release", status=404
        ) from None
    return PackKey(pack.id, key.hex(), pack.key_at.utc)


def published_keys(session: Session, office: Office, campaign_id: str, campaign: Campaign) -> tuple[PackKey, ...]:
    """The keys of all packs whose minute has come."""
    now = campaign_time(session, office, campaign_id)
    out = [pack for pack in campaign.packs if is_out(pack, now)]
    made = set(office.vault.names(VAULT))
    return tuple(
        published_key(session, office, campaign_id, pack) for pack in out if secret_name(campaign_id, pack.id) in made
    )


def note_published(
    session: Session, office: Office, campaign_id: str, campaign: Campaign, actor: Actor = SYSTEM
) -> tuple[str, ...]:
    """Write into the log which keys came out since the last time; call it now and then. Gives their packs."""
    known = select(Event.subject).where(Event.campaign_id == campaign_id, Event.kind == PUBLISHED)
    noted = set(session.scalars(known))
    fresh = [key for key in published_keys(session, office, campaign_id, campaign) if key.pack not in noted]
    for key in fresh:
        data = {"since": key.since.isoformat()}
        events.record(
            session, PUBLISHED, at=office.clock(), actor=actor.id, subject=key.pack, campaign_id=campaign_id, data=data
        )
    return tuple(key.pack for key in fresh)


def campaign_time(session: Session, office: Office, campaign_id: str) -> datetime:
    """The time as a campaign has it: rehearsals and demonstrations play in the past."""
    return office.clock() + timedelta(seconds=session.get_one(CampaignRow, campaign_id).clock_offset)


@dataclass(frozen=True)
class Handed:
    """A file to be sent to who asked for it."""

    path: Path
    name: str
    size: int
    digest: str


def hand_out(
    session: Session, office: Office, actor: Actor, viewer: Viewer, here: tuple[CampaignRow, Campaign], file_id: str
) -> Handed:
    """Let a person have a file of a pack: checked against agreement and rules, and recorded with its digest."""
    campaign_id, campaign = here[0].id, here[1]
    row = session.get(PackFile, file_id)
    if row is None or row.campaign_id != campaign_id:
        raise missing("file")
    check_access(session, office, viewer, campaign_id, campaign, find_pack(campaign, row.pack))
    now = office.clock()
    session.add(
        Download(
            campaign_id=campaign_id, person_id=actor.id, team_id=viewer.team, pack=row.pack, digest=row.digest, at=now
        )
    )
    data = {"pack": row.pack, "digest": row.digest}
    events.record(
        session, "pack.downloaded", at=now, actor=actor.id, subject=row.id, campaign_id=campaign_id, data=data
    )
    return Handed(office.files.local(row.digest), row.name, row.size, row.digest)


def hand_out_key(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, campaign: Campaign, pack_id: str
) -> PackKey:
    """The key of a pack, from its minute on, for those who may have the pack (M89)."""
    pack = find_pack(campaign, pack_id)
    check_access(session, office, viewer, campaign_id, campaign, pack)
    return published_key(session, office, campaign_id, pack)


def check_access(
    session: Session, office: Office, viewer: Viewer, campaign_id: str, campaign: Campaign, pack: Pack
) -> None:
    """Refuse a pack to who may not have it, with everything that is still to be done."""
    if viewer.staff:
        return
    now = campaign_time(session, office, campaign_id)
    if viewer.person is None or viewer.team is None or now < pack.released.utc:
        raise missing("pack")
    found = tuple(obstacles(session, viewer, campaign_id, campaign, pack, now))
    if found:
        raise RefusedError(found, status=403)


def obstacles(
    session: Session, viewer: Viewer, campaign_id: str, campaign: Campaign, pack: Pack, now: datetime
) -> Iterator[Problem]:
    """What a member of a team must still do before getting a pack; nothing if it is open (P-26, M82)."""
    if pack.agreement:
        found = standing(session, campaign, viewer.team, pack.agreement, now)
        if found.state != "executed":
            words = f"the agreement {found.agreement.title!r} is {found.state} for your team"
            yield problem("P-26", words, "ask your PI to upload the signed copy, and wait for the countersignature")
    for rules in unaccepted_rules(session, campaign_id, viewer.person or ""):
        words = f"you have not accepted the rules {rules.id!r} in version {rules.version}"
        yield problem("M82", words, "read and accept them")


def downloads(session: Session, campaign_id: str) -> tuple[Download, ...]:
    """Who downloaded what and when, oldest first; for the evaluation team."""
    question = select(Download).where(Download.campaign_id == campaign_id).order_by(Download.at, Download.id)
    return tuple(session.scalars(question))


class OnePack(Arguments):
    """A data pack."""

    name: Annotated[str, Argument("The id of the pack.")]


@action("pack list", reads=True, hint="--data season")
def list_packs(at: At, given: Arguments) -> Outcome:
    """List the packs of the plan with their files and key times."""
    files = list_files(at.session, at.campaign_id, at.plan.campaign)
    rows = [
        {"pack": one.id, "released": one.released.utc, "key_at": None if one.key_at is None else one.key_at.utc}
        | {"files": [file.name for file in files if file.pack == one.id]}
        for one in at.plan.campaign.packs
    ]
    return list_outcome("packs", rows, ("pack", "released", "key_at", "files"), "There are no data packs.")


@action("pack key", reads=True, hint="EVAL1 --data season")
def show_key(at: At, given: OnePack) -> Outcome:
    """Print the key of the pack NAME, after its release time only."""
    found = published_key(at.session, at.office, at.campaign_id, find_pack(at.plan.campaign, given.name))
    return Outcome({"pack": given.name, "key": found.key, "since": found.since}, (found.key,))
