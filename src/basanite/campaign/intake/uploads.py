"""Files on their way: the deadline is when they start, and their content is fixed then (X-2, M60).

Who starts an upload says its length and its SHA-256, and has an attempt reserved. What arrives goes straight to disk;
the row's offset moves only after the bytes before it are synced, so that after any crash the file holds at least what
the row says, and the sender goes on from there. An upload that is never finished lapses and frees its attempt.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import quotas
from basanite.campaign.intake.accepting import Entry, admitted, check_size, enter
from basanite.campaign.intake.entitlement import belongs
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.files import Stored, check_room, room_needed
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Charge, Submission, Team, Upload

SHA256 = re.compile(r"[0-9a-f]{64}")
SYNC_BYTES = 8 * 2**20
"""How much may arrive before it is synced and acknowledged."""
PATIENCE = timedelta(days=1)
"""How long an upload may take before it lapses, or twice the transfer grace if that is longer."""


def begin(
    session: Session, office: Office, actor: Actor, team_id: str, declared: Declared, *, size: int, sha256: str
) -> Upload:
    """Start an upload: all that can be checked is checked now, and one attempt is reserved."""
    if not SHA256.fullmatch(sha256):
        raise refused("X-2", "no SHA-256 of the whole file was given", "send 64 hex digits, lower case", status=422)
    check_size(session, team_id, size)
    lapse(session, office, team_id)
    entry = enter(session, office, actor, team_id, declared)
    _check_open(session, entry)
    check_room(office.settings.data, size)
    row = _row(entry, actor, size, sha256)
    session.add(row)
    session.flush()
    entry.charge.upload_id = row.id
    data = {"team": team_id, "window": row.window, "size": size, "sha256": sha256, "door": actor.door}
    _log(session, office, actor, "upload.started", row, data)
    return row


def _row(entry: Entry, actor: Actor, size: int, sha256: str) -> Upload:
    return Upload(
        campaign_id=entry.team.campaign_id,
        team_id=entry.team.id,
        person_id=entry.person_id,
        window=entry.window.id,
        declared=asdict(entry.declared),
        size=size,
        sha256=sha256,
        offset=0,
        door=actor.door,
        started=entry.started,
        expires=entry.started + max(PATIENCE, 2 * entry.window.transfer_grace),
        state="open",
    )


def _check_open(session: Session, entry: Entry) -> None:
    """At most so many at a time, so that reservations are no way to keep a deadline open (X-2)."""
    query = select(func.count()).select_from(Upload).where(Upload.team_id == entry.team.id, Upload.state == "open")
    most = entry.plan.campaign.open_uploads
    if (session.scalar(query) or 0) >= most:
        message = f"the team has {most} uploads open"
        raise refused("X-2", message, "finish or cancel one of them first", status=409)


def find(session: Session, actor: Actor, upload_id: str, *, alone: bool = False) -> Upload:
    """An upload of the actor's own team; those of others do not exist. With `alone` its team is locked first."""
    row = session.get(Upload, upload_id)
    if row is None or not belongs(session, actor, row.team_id):
        raise missing("upload")
    if alone:
        quotas.lock_team(session, row.team_id)
        session.refresh(row)
    return row


def part(office: Office, upload_id: str) -> Path:
    """Where the bytes lie that have arrived."""
    return office.settings.data / "uploads" / upload_id


def append(office: Office, actor: Actor, upload_id: str, offset: int, pieces: Iterable[bytes]) -> int:
    """Write pieces behind what is there and give the new offset; what arrived before a fault stays and counts."""
    with office.reading() as session:
        row = find(session, actor, upload_id)
    _check_takes(row, office_now(office, row), offset)
    with _held(part(office, upload_id)) as file, room_needed():
        _rewind(office, row, file, offset)
        return _written(office, row, file, offset, pieces)


def _check_takes(row: Upload, now: datetime, offset: int) -> None:
    check_alive(row, now)
    if offset != row.offset:
        message = f"the upload stands at {row.offset}, not at {offset}"
        raise refused("X-2", message, f"go on from {row.offset}", status=409)


def check_alive(row: Upload, now: datetime) -> None:
    """Refuse an upload that is over, one way or another."""
    if row.state != "open" or now >= row.expires:
        state = row.state if row.state != "open" else "lapsed"
        fix = "nothing is to be done: it became a submission" if state == "complete" else "begin a new one"
        raise refused("X-2", f"this upload is over ({state})", fix, status=410)


def office_now(office: Office, row: Upload) -> datetime:
    """The time in the campaign of an upload."""
    with office.reading() as session:
        return in_force(session, row.campaign_id).now(office.clock())


@contextmanager
def _held(path: Path) -> Iterator[int]:
    """The file of an upload, held by one writer at a time; never through a link."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield file
    except BlockingIOError:
        fix = "wait until the other call has ended, then ask for the offset"
        raise refused("X-2", "another call is writing to this upload", fix, status=423) from None
    finally:
        os.close(file)


def _rewind(office: Office, row: Upload, file: int, offset: int) -> None:
    """Cut off what was written but never acknowledged: after a power cut it may be anything."""
    with office.reading() as session:
        known = session.scalar(select(Upload.offset).where(Upload.id == row.id))
    if known != offset or os.fstat(file).st_size < offset:
        raise refused("X-2", "the offset has moved meanwhile", "ask for the offset and go on from there", status=409)
    os.ftruncate(file, offset)
    os.lseek(file, offset, os.SEEK_SET)


def _written(office: Office, row: Upload, file: int, offset: int, pieces: Iterable[bytes]) -> int:
    kept = at = offset
    try:
        for piece in pieces:
            if at + len(piece) > row.size:
                raise refused("X-2", "more bytes than were announced", f"send {row.size} in all", status=413)
            at += _put(file, piece)
            if at - kept >= SYNC_BYTES:
                kept = _acknowledge(office, row.id, file, at)
    finally:
        if at > kept:
            kept = _acknowledge(office, row.id, file, at)
    return kept


def _put(file: int, piece: bytes) -> int:
    view = memoryview(piece)
    while view:
        view = view[os.write(file, view) :]
    return len(piece)


def _acknowledge(office: Office, upload_id: str, file: int, offset: int) -> int:
    """First the bytes are on disk, then the row says so."""
    os.fdatasync(file)
    with office.writing() as session:
        advance(session, upload_id, offset)
    return offset


def advance(session: Session, upload_id: str, offset: int) -> Upload:
    """Say how far an upload has come; whoever calls this has synced the bytes before."""
    row = session.get(Upload, upload_id, with_for_update=True, populate_existing=True)
    if row is None or row.state != "open" or offset > row.size:
        raise refused("X-2", "this upload takes no more bytes", "ask for its state", status=410)
    row.offset = max(row.offset, offset)
    return row


def finish(office: Office, actor: Actor, upload_id: str) -> Submission:
    """Make a submission of an upload that is whole; finishing twice gives the same submission."""
    with office.reading() as session:
        row = find(session, actor, upload_id)
    if row.state != "complete":
        _check_takes(row, office_now(office, row), row.size)
        try:
            stored = office.files.adopt(part(office, upload_id), expected=row.sha256)
        except FileNotFoundError:
            if (made := _made_meanwhile(office, actor, upload_id)) is None:
                raise
            return made
        if stored.digest != row.sha256:
            raise _other_content(office, actor, upload_id)
    with office.writing() as session:
        submission = _finished(session, office, actor, upload_id)
    part(office, upload_id).unlink(missing_ok=True)
    return submission


def _made_meanwhile(office: Office, actor: Actor, upload_id: str) -> Submission | None:
    """The submission of an upload that another call finished: it commits first, then it takes the file away."""
    with office.reading() as session:
        row = find(session, actor, upload_id)
        return None if row.submission_id is None else session.get_one(Submission, row.submission_id)


def _other_content(office: Office, actor: Actor, upload_id: str) -> Exception:
    """Another file than was announced is no submission: it is refused, and its attempt is free again."""
    with office.writing() as session:
        _end(session, office, actor, find(session, actor, upload_id, alone=True), "refused")
    part(office, upload_id).unlink(missing_ok=True)
    message = "the file is not the one whose SHA-256 was given at the start"
    return refused("X-2", message, "begin a new upload with the digest of the file that you send", status=422)


def _finished(session: Session, office: Office, actor: Actor, upload_id: str) -> Submission:
    row = find(session, actor, upload_id, alone=True)
    if row.submission_id is not None:
        return session.get_one(Submission, row.submission_id)
    if row.state != "open":
        raise refused("X-2", f"this upload is over ({row.state})", "begin a new one", status=410)
    entry = _entry(session, row)
    submission = admitted(session, office, replace_door(actor, row.door), entry, Stored(row.sha256, row.size))
    row.state, row.submission_id = "complete", submission.id
    return submission


def replace_door(actor: Actor, door: str) -> Actor:
    """The same actor, at the door where the upload began."""
    return replace(actor, door=door)


def _entry(session: Session, row: Upload) -> Entry:
    """What was let in when the upload began."""
    plan = in_force(session, row.campaign_id)
    team = session.get_one(Team, row.team_id)
    charge = session.scalars(select(Charge).where(Charge.upload_id == row.id)).one()
    declared = Declared(**row.declared | {name: tuple(row.declared[name]) for name in ("dataset", "domains")})
    return Entry(team, row.person_id, plan, plan.campaign.window(row.window), declared, row.started, charge)


def cancel(session: Session, office: Office, actor: Actor, upload_id: str) -> Upload:
    """Give an upload up; its attempt is free again at once."""
    row = find(session, actor, upload_id, alone=True)
    if row.state == "open":
        _end(session, office, actor, row, "lapsed")
    return row


def lapse(session: Session, office: Office, team_id: str | None = None) -> list[str]:
    """End all uploads whose time is over, of one team or of all; gives their ids."""
    query = select(Upload).where(Upload.state == "open").order_by(Upload.id)
    rows = session.scalars(query if team_id is None else query.where(Upload.team_id == team_id)).all()
    late = [row for row in rows if in_force(session, row.campaign_id).now(office.clock()) >= row.expires]
    for team in sorted(
        {row.team_id for row in late}
    ):  # all locks before the first event: else two could wait in a ring
        quotas.lock_team(session, team)
    for row in late:
        session.refresh(row)
        if row.state == "open":
            _end(session, office, SYSTEM, row, "lapsed")
    return [row.id for row in late]


def _end(session: Session, office: Office, actor: Actor, row: Upload, state: str) -> None:
    row.state = state
    quotas.free_upload(session, office, row.id)
    _log(session, office, actor, f"upload.{state}", row, {"team": row.team_id, "window": row.window})


def sweep(office: Office) -> int:
    """Let uploads lapse and remove the bytes of all that are over; gives how many files were removed."""
    with office.writing() as session:
        lapse(session, office)
    folder = part(office, "x").parent
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    over = set(names) - _wanted(office, names)
    for name in over:
        _remove(part(office, name))
    return len(over)


def _wanted(office: Office, names: list[str]) -> set[str]:
    """Files of open uploads, and what other doors are writing just now: a form's file has no row before it is whole."""
    with office.reading() as session:
        found = session.execute(select(Upload.id, Upload.state).where(Upload.id.in_(names)))
        rows = {row[0]: row[1] for row in found}
    fresh = {name for name in names if name not in rows and _age(part(office, name)) < PATIENCE.total_seconds()}
    return fresh | {name for name, state in rows.items() if state == "open"}


def _remove(path: Path) -> None:
    """Remove what was left behind, a folder of an export that broke off included."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    """Seconds since a file was last written to; one that is gone is as old as can be."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _log(session: Session, office: Office, actor: Actor, kind: str, row: Upload, data: dict[str, object]) -> None:
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )
