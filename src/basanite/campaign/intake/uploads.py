"""Files on their way: the deadline is when they start, and their content is fixed then (X-2, M60).

Who starts an upload says its length and its SHA-256, and has an attempt reserved. What arrives goes straight to disk;
the row's offset moves only after the bytes before it are synced, so that after any crash the file holds at least what
the row says, and the sender goes on from there. An upload that is never finished lapses and frees its attempt.

Anyone who begins the same upload again takes the open one over, and is told of the submission that was made of it if
nobody has been told yet: a server that dies costs no attempt, and none twice (X-21).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import charges, open_uploads
from basanite.campaign.intake.acceptance import Entry, admit, belongs, check_size, enter, responsible
from basanite.campaign.intake.open_uploads import CANCELED, EXPIRED, Hold, declared_in, part, same_upload, with_uploads
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError, missing, refused
from basanite.campaign.office import SYSTEM, Actor, Office
from basanite.campaign.store import events
from basanite.campaign.store.database import database_time
from basanite.campaign.store.files import Stored, check_room, room_needed
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Charge, Submission, Team, Upload

SHA256 = re.compile(r"[0-9a-f]{64}")
SYNC_BYTES = 8 * 2**20
"""How much may arrive before it is synced and acknowledged."""
PATIENCE = timedelta(days=1)
"""How long an upload may take before it lapses, or twice the transfer grace if that is longer."""


@dataclass(frozen=True, slots=True)
class NewUpload:
    """A file that is to come: what it is, how long, and its digest."""

    declared: Declared
    size: int
    sha256: str


def begin(session: Session, office: Office, actor: Actor, team_id: str, new: NewUpload) -> Upload:
    """Start an upload, or take up the same one: all that can be checked is checked now, and one attempt is reserved."""
    declared, size, sha256 = new.declared, new.size, new.sha256
    if not SHA256.fullmatch(sha256):
        raise refused("X-2", "the SHA-256 of the whole file is missing", "send 64 lowercase hex digits", status=422)
    check_size(session, team_id, size)
    lapse(session, office, team_id)
    same = same_upload(session, office, team_id, declared, size, sha256)
    if same is not None and same.state != "lapsed":
        return _taken_up(session, office, actor, same)
    try:
        entry = enter(session, office, actor, team_id, declared, started=same.started if same else None)
        _check_open(session, entry)
    except RefusedError as error:
        raise with_uploads(session, office, team_id, declared, error) from None
    check_room(office.settings.data, size)
    row = _row(entry, actor, size, sha256)
    session.add(row)
    session.flush()
    entry.charge.upload_id = row.id
    data = {"team": team_id, "window": row.window, "size": size, "sha256": sha256, "door": actor.door}
    _log(session, office, actor, "upload.started", row, data)
    return row


def _taken_up(session: Session, office: Office, actor: Actor, row: Upload) -> Upload:
    """Anyone on the team can resume an open upload, but not one that is being sent in a single call."""
    person = responsible(session, actor, session.get_one(Team, row.team_id))
    if row.state == "complete":
        return row
    if row.whole and open_uploads.is_held(session, office, row):
        raise _busy(session, office, row)
    _in_pieces(row)
    row.person_id = person
    _log(session, office, actor, "upload.taken up", row, {"team": row.team_id, "offset": row.offset})
    return row


def _busy(session: Session, office: Office, row: Upload) -> RefusedError:
    """Another call is at the same file; if it is gone without a word, that is known after `silent_seconds`."""
    again = in_force(session, row.campaign_id).now(office.clock())
    again += timedelta(seconds=office.settings.limits.silent_seconds)
    message, fix = "another call is uploading this file", "wait until it ends, or cancel it"
    return with_uploads(session, office, row.team_id, declared_in(row), refused("X-2", message, fix, retry_at=again))


def receive(
    office: Office, actor: Actor, team_id: str, declared: Declared, *, size: int, sha256: str
) -> tuple[str, Hold | None]:
    """Begin an upload that comes in one call, or the same one again from its first byte; its id, held by the caller.

    Without a hold it is a submission already, whose sender was never told.
    """
    held = None
    try:
        with office.writing() as session:
            row = begin(session, office, actor, team_id, NewUpload(declared, size=size, sha256=sha256))
            if row.submission_id is not None:
                return row.id, None
            if open_uploads.is_held(session, office, row):
                raise _busy(session, office, row)
            held = open_uploads.hold(office, row.id, fresh=True)
            row.whole, row.holder, row.seen, row.offset = True, held.name, database_time(session), 0
    except BaseException:  # whatever ends the call, the lock on the file is let go
        if held is not None:
            held.close()
        raise
    return row.id, held


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
        message = f"the team already has {most} open uploads"
        raise refused("X-2", message, "finish or cancel one of them first", status=409)


def find(session: Session, actor: Actor, upload_id: str, *, alone: bool = False) -> Upload:
    """An upload of the actor's own team; those of others do not exist. With `alone` its team is locked first."""
    row = session.get(Upload, upload_id)
    if row is None or not belongs(session, actor, row.team_id):
        raise missing("upload")
    if alone:
        charges.lock_team(session, row.team_id)
        session.refresh(row)
    return row


def append(
    office: Office, actor: Actor, upload_id: str, offset: int, pieces: Iterable[bytes], hold: Hold | None = None
) -> int:
    """Write pieces behind what is there and give the new offset; what arrived before a fault stays and counts."""
    with office.reading() as session:
        row = find(session, actor, upload_id)
    _check_takes(row, office_now(office, row), offset)
    with nullcontext(hold) if hold else holding(office, actor, upload_id) as mine, room_needed():
        _rewind(office, row, mine.file, offset)
        return _write_pieces(office, row, mine, offset, pieces)


def _check_takes(row: Upload, now: datetime, offset: int) -> None:
    check_alive(row, now)
    if offset != row.offset:
        message = f"the upload is at offset {row.offset}, not {offset}"
        raise refused("X-2", message, f"continue from {row.offset}", status=409)


def check_alive(row: Upload, now: datetime) -> None:
    """Refuse an upload that is over, one way or another."""
    if row.state != "open" or now >= row.expires:
        state = row.state if row.state != "open" else "lapsed"
        fix = "there is nothing to do: it is already a submission" if state == "complete" else "start a new one"
        raise refused("X-2", f"this upload has ended ({state})", fix, status=410)


def office_now(office: Office, row: Upload) -> datetime:
    """The time in the campaign of an upload."""
    with office.reading() as session:
        return in_force(session, row.campaign_id).now(office.clock())


@contextmanager
def holding(office: Office, actor: Actor, upload_id: str) -> Iterator[Hold]:
    """Have an upload to oneself for a while."""
    mine = take_hold(office, actor, upload_id)
    try:
        yield mine
    finally:
        mine.close()


def take_hold(office: Office, actor: Actor, upload_id: str) -> Hold:
    """Have an upload to oneself until it is let go; what a call that is gone was to receive whole goes on in pieces."""
    with office.reading() as session:
        row = find(session, actor, upload_id)
        busy = row.whole and open_uploads.is_held(session, office, row)
    check_alive(row, office_now(office, row))
    try:
        if busy:
            raise BlockingIOError
        mine = open_uploads.hold(office, upload_id)
    except BlockingIOError:
        fix = "wait until the other call has ended, then ask for the offset"
        raise refused("X-2", "another call is writing to this upload", fix, status=423) from None
    if row.whole:
        with office.writing() as session:
            _in_pieces(find(session, actor, upload_id, alone=True))
    return mine


def _in_pieces(row: Upload) -> None:
    if row.state == "open":
        row.whole, row.holder, row.seen = False, None, None


def _rewind(office: Office, row: Upload, file: int, offset: int) -> None:
    """Cut off what was written but never acknowledged: after a power cut it may be anything."""
    with office.reading() as session:
        known = session.scalar(select(Upload.offset).where(Upload.id == row.id))
    if known != offset or os.fstat(file).st_size < offset:
        raise refused("X-2", "the offset has changed", "ask for the offset and continue from there", status=409)
    os.ftruncate(file, offset)
    os.lseek(file, offset, os.SEEK_SET)


def _write_pieces(office: Office, row: Upload, hold: Hold, offset: int, pieces: Iterable[bytes]) -> int:
    kept = at = offset
    try:
        for piece in pieces:
            if at + len(piece) > row.size:
                raise refused("X-2", "more bytes than announced", f"send {row.size} in total", status=413)
            at += _write_all(hold.file, piece)
            if at - kept >= SYNC_BYTES:
                kept = _acknowledge(office, row, hold, at)
    finally:
        if at > kept:
            kept = _acknowledge(office, row, hold, at)
    return kept


def _write_all(file: int, piece: bytes) -> int:
    view = memoryview(piece)
    while view:
        view = view[os.write(file, view) :]
    return len(piece)


def _acknowledge(office: Office, row: Upload, hold: Hold, offset: int) -> int:
    """First the bytes are on disk, then the row says so."""
    os.fdatasync(hold.file)
    with office.writing() as session:
        advance(session, row.id, offset, hold.name if row.whole else None)
    return offset


def advance(session: Session, upload_id: str, offset: int, holder: str | None = None) -> Upload:
    """Record how far an upload has come; the caller has synced the bytes before and holds the upload alone."""
    row = session.get(Upload, upload_id, with_for_update=True, populate_existing=True)
    if row is None or row.state != "open" or offset > row.size:
        raise refused("X-2", "this upload accepts no more bytes", "ask for its status", status=410)
    _check_holder(row, holder)
    row.offset = max(row.offset, offset)
    return row


def _check_holder(row: Upload, holder: str | None) -> None:
    """Refuse a call that was thought dead, and whose upload another one has."""
    if row.holder != holder:
        raise refused("X-2", "another call has taken over this upload", "ask for its status", status=409)


def finish(office: Office, actor: Actor, upload_id: str, hold: Hold | None = None) -> Submission:
    """Make a submission of an upload that is whole; finishing twice gives the same submission.

    With a hold the caller says when the sender has been told (`release`).
    """
    with office.reading() as session:
        row = find(session, actor, upload_id)
    if row.state != "complete":
        _check_takes(row, office_now(office, row), row.size)
        _check_holder(row, hold.name if hold and row.whole else None)
        try:
            stored = office.files.adopt(part(office, upload_id), expected=row.sha256)
        except FileNotFoundError:
            with office.reading() as session:  # another call that finishes it commits, then takes the file away
                made = find(session, actor, upload_id).submission_id
                if made is None:
                    raise
                return session.get_one(Submission, made)
        if stored.digest != row.sha256:
            raise refuse_content(office, actor, upload_id)
    with office.writing() as session:
        submission = complete_upload(session, office, actor, upload_id, hold.name if hold else None)
    if hold is None:
        part(office, upload_id).unlink(missing_ok=True)
    return submission


def release(office: Office, hold: Hold) -> None:
    """Let go of an upload once its sender has been told what became of it."""
    try:
        tell(office, hold.upload_id)
        hold.path.unlink(missing_ok=True)
    finally:
        hold.close()


def give_up(office: Office, hold: Hold, cause: str) -> None:
    """End an upload in one call that broke off, unless it is whole already, or another call has taken it over."""
    try:
        with office.writing() as session:
            row = find(session, SYSTEM, hold.upload_id, alone=True)
            mine = row.state == "open" and row.holder == hold.name
            if mine:
                _end(session, office, SYSTEM, row, "lapsed", cause)
        if mine:
            hold.path.unlink(missing_ok=True)
    finally:
        hold.close()


def tell(office: Office, upload_id: str) -> None:
    """Note that the sender of an upload knows of the submission: the same file sent again is another one."""
    with office.writing() as session:
        row = session.get_one(Upload, upload_id, with_for_update=True, populate_existing=True)
        if row.state == "complete":
            row.holder = row.seen = None


def refuse_content(office: Office, actor: Actor, upload_id: str) -> RefusedError:
    """Another file than was announced is no submission: it is refused, and its attempt is free again."""
    with office.writing() as session:
        _end(session, office, actor, find(session, actor, upload_id, alone=True), "refused")
    part(office, upload_id).unlink(missing_ok=True)
    message = "the file does not match the SHA-256 given at the start"
    return refused("X-2", message, "start a new upload with the digest of the file that you send", status=422)


def complete_upload(
    session: Session,
    office: Office,
    actor: Actor,
    upload_id: str,
    holder: str | None,
    *,
    arrived: datetime | None = None,
) -> Submission:
    """The submission of an upload whose file is kept; `holder` is who will tell the sender."""
    row = find(session, actor, upload_id, alone=True)
    if row.submission_id is not None:
        return session.get_one(Submission, row.submission_id)
    if row.state != "open":
        raise refused("X-2", f"this upload has ended ({row.state})", "start a new one", status=410)
    entry = _entry(session, row)
    stored = Stored(row.sha256, row.size)
    submission = admit(session, office, replace(actor, door=row.door), entry, stored, arrived=arrived)
    row.state, row.submission_id, row.holder, row.seen = "complete", submission.id, holder, None
    row.ended = entry.plan.now(office.clock())
    return submission


def _entry(session: Session, row: Upload) -> Entry:
    """What was let in when the upload began."""
    plan = in_force(session, row.campaign_id)
    team = session.get_one(Team, row.team_id)
    charge = session.scalars(select(Charge).where(Charge.upload_id == row.id)).one()
    return Entry(team, row.person_id, plan, plan.campaign.window(row.window), declared_in(row), row.started, charge)


def cancel(session: Session, office: Office, actor: Actor, upload_id: str, cause: str = CANCELED) -> Upload:
    """Give an upload up; its attempt is free again at once."""
    row = find(session, actor, upload_id, alone=True)
    if row.state == "open":
        _end(session, office, actor, row, "lapsed", cause)
    return row


def lapse(session: Session, office: Office, team_id: str | None = None) -> list[str]:
    """End all uploads whose time is over, of one team or of all; gives their ids."""
    query = select(Upload).where(Upload.state == "open").order_by(Upload.id)
    rows = session.scalars(query if team_id is None else query.where(Upload.team_id == team_id)).all()
    late = [row for row in rows if in_force(session, row.campaign_id).now(office.clock()) >= row.expires]
    for team in sorted(
        {row.team_id for row in late}
    ):  # all locks before the first event: else two could wait in a ring
        charges.lock_team(session, team)
    for row in late:
        session.refresh(row)
        if row.state == "open":
            _end(session, office, SYSTEM, row, "lapsed", EXPIRED)
    return [row.id for row in late]


def _end(session: Session, office: Office, actor: Actor, row: Upload, state: str, cause: str = "") -> None:
    row.state, row.cause, row.holder, row.seen = state, cause, None, None
    row.ended = in_force(session, row.campaign_id).now(office.clock())
    charges.free_upload(session, office, row.id)
    data = {"team": row.team_id, "window": row.window} | ({"cause": cause} if cause else {})
    _log(session, office, actor, f"upload.{state}", row, data)


def _log(session: Session, office: Office, actor: Actor, kind: str, row: Upload, data: Mapping[str, object]) -> None:
    events.record(
        session, kind, at=office.clock(), actor=actor.id, subject=row.id, campaign_id=row.campaign_id, data=data
    )
