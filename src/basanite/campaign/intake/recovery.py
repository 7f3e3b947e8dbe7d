"""What dead servers left of uploads: finished where all bytes are there, freed where they cannot come (X-21).

Done again and again by workers and by web processes, at their start first. A process that finds an upload locks it, so
that one alone does it, and nobody while a living process is at it. Uploads in pieces stay: their senders go on.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import select

from basanite.campaign.intake import open_uploads, uploads
from basanite.campaign.intake.open_uploads import INTERRUPTED, part
from basanite.campaign.office import SYSTEM, Office
from basanite.campaign.store.files import Stored
from basanite.campaign.store.tables import Upload

log = logging.getLogger("basanite.intake")


def recover(office: Office, team_id: str | None = None) -> int:
    """See to the open uploads of one team or of all whose process is gone; gives how many are open no longer."""
    query = select(Upload.id).where(Upload.state == "open").order_by(Upload.id)
    with office.reading() as session:
        found = session.scalars(query if team_id is None else query.where(Upload.team_id == team_id)).all()
    return sum(_safely(office, one) for one in found)


def _safely(office: Office, upload_id: str) -> bool:
    """One that cannot be finished now, say because a store is away, keeps no other from being so."""
    try:
        return _see_to(office, upload_id)
    except Exception as error:  # noqa: BLE001 - it is tried again at the next round
        log.warning("the upload %s could not be recovered yet: %s", upload_id, type(error).__name__)
        return False


def _see_to(office: Office, upload_id: str) -> bool:
    """Finish or free one upload that nobody is at; whether it is open no longer."""
    try:
        file = open_uploads.lock(part(office, upload_id), create=False)
    except BlockingIOError:
        return False
    except FileNotFoundError:
        return _free_far_away(office, upload_id)
    try:
        with office.reading() as session:
            row = session.get_one(Upload, upload_id)
            elsewhere = not open_uploads.is_from_here(row) and open_uploads.is_heard_of(session, office, row)
        if row.state != "open" or elsewhere:
            return False
        if os.fstat(file).st_size == row.size:
            return _finish(office, row, file)
        return _free(office, row)
    finally:
        os.close(file)


def _free_far_away(office: Office, upload_id: str) -> bool:
    """The file is on another machine, which has twice the time: it may come back and have all bytes."""
    with office.reading() as session:
        row = session.get_one(Upload, upload_id)
        heard_of = open_uploads.is_heard_of(session, office, row, times=2)
    return not heard_of and row.state == "open" and _free(office, row)


def _finish(office: Office, row: Upload, file: int) -> bool:
    """Make a submission of a file that is all there; its time is that of the last byte."""
    digest = hashlib.sha256()
    for at in range(0, row.size, uploads.SYNC_BYTES):
        digest.update(os.pread(file, uploads.SYNC_BYTES, at))
    if digest.hexdigest() != row.sha256:
        return _drop_content(office, row, file)
    os.fdatasync(file)
    with office.writing() as session:
        uploads.advance(session, row.id, row.size, row.holder)
    arrived = datetime.fromtimestamp(os.fstat(file).st_mtime, UTC)
    office.files.keep(part(office, row.id), Stored(row.sha256, row.size))
    with office.writing() as session:
        uploads.complete_upload(session, office, SYSTEM, row.id, row.holder or "recovered", arrived=arrived)
        session.get_one(Upload, row.id).cause = INTERRUPTED
    part(office, row.id).unlink(missing_ok=True)
    return True


def _drop_content(office: Office, row: Upload, file: int) -> bool:
    """As long as announced, but other bytes: sent so, or written and never synced before the power went."""
    if row.offset == row.size:
        uploads.refuse_content(office, SYSTEM, row.id)
        return True
    if not row.whole:
        os.ftruncate(file, row.offset)
    return _free(office, row)


def _free(office: Office, row: Upload) -> bool:
    """Give the attempt of a call in one piece back, which cannot go on; what comes in pieces stays open."""
    if not row.whole:
        return False
    with office.writing() as session:
        if (now := uploads.find(session, SYSTEM, row.id, alone=True)).holder != row.holder:
            return False
        uploads.cancel(session, office, SYSTEM, now.id, INTERRUPTED)
    part(office, row.id).unlink(missing_ok=True)
    return True


def sweep(office: Office) -> int:
    """Recover uploads, let the others lapse, and remove the bytes of all that are over; gives how many files."""
    recover(office)
    with office.writing() as session:
        uploads.lapse(session, office)
    folder = part(office, "x").parent
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    over = set(names) - _files_in_use(office, names)
    for name in over:
        _remove(part(office, name))
    return len(over)


def _files_in_use(office: Office, names: list[str]) -> set[str]:
    """Files of open uploads, and what other doors are writing just now: a form's file has no row before it is whole."""
    with office.reading() as session:
        found = session.execute(select(Upload.id, Upload.state).where(Upload.id.in_(names)))
        rows = {row[0]: row[1] for row in found}
    patience = uploads.PATIENCE.total_seconds()
    fresh = {name for name in names if name not in rows and _age(part(office, name)) < patience}
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
