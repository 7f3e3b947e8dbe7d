"""The uploads of a team as it sees them: what is open and holds what until when, and what a dead server left (X-21)."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import case, or_, select, update
from sqlalchemy.orm import Session

from basanite.campaign.model import calendar
from basanite.campaign.model.plan import Declared
from basanite.campaign.model.refusals import RefusedError, problem
from basanite.campaign.model.zones import spelt
from basanite.campaign.office import Office
from basanite.campaign.store.database import database_time
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Team, Upload
from basanite.problems import Problem

BEATS: Final = 6
"""Signs of life in the time after which silence means death."""
WAIT_SECONDS: Final = 0.5
"""How long a lock is asked for again: somebody may only be looking whether it is free."""
BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_HELD: set[str] = set()
"""The names of all holds of this process."""


@dataclass(frozen=True)
class Hold:
    """An upload that one call has to itself, until it lets go or its process dies."""

    upload_id: str
    path: Path
    file: int
    name: str
    """Who holds it, as the row says it."""

    def close(self) -> None:
        """Let go; twice does no harm."""
        if self.name in _HELD:
            _HELD.remove(self.name)
            os.close(self.file)


def part(office: Office, upload_id: str) -> Path:
    """Where the bytes lie that have arrived."""
    return office.settings.data / "uploads" / upload_id


def hold(office: Office, upload_id: str, *, fresh: bool = False) -> Hold:
    """Hold an upload; BlockingIOError if another call does.

    `fresh` begins with an empty file of its own: a process that was thought dead and wakes up writes to the old one.
    """
    path = part(office, upload_id)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = lock(path)
    if fresh:
        try:
            path.unlink()
            new = lock(path)
        finally:
            os.close(file)
        file = new
    name = f"{_kernel()}/{secrets.token_hex(8)}"
    _HELD.add(name)
    return Hold(upload_id, path, file, name)


def lock(path: Path, *, create: bool = True) -> int:
    """The file of an upload, open and locked; never through a link. BlockingIOError if somebody else has it."""
    end = time.monotonic() + WAIT_SECONDS
    while True:
        file = _open_file(path, create)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(file, path):
                return file
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(file)
                raise
            time.sleep(WAIT_SECONDS / 10)
        os.close(file)


def _open_file(path: Path, create: bool) -> int:
    """A file that has become part of the store is read-only: it can be locked, and nobody writes to it any more."""
    how = os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, how | os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    except PermissionError:
        return os.open(path, how | os.O_RDONLY)


def _is_at(file: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), path.lstat())
    return False


def is_locked(path: Path) -> bool | None:
    """Whether a living process of this machine has an upload's file; None if the file is not on this machine."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def is_held(session: Session, office: Office, row: Upload) -> bool:
    """Whether a living process is at an open upload, here or on another machine."""
    locked = is_locked(part(office, row.id))
    return locked or (not (locked is False and is_from_here(row)) and is_heard_of(session, office, row))


def is_from_here(row: Upload) -> bool:
    """Whether who holds an upload runs on this machine, since it was started last."""
    return (row.holder or "").partition("/")[0] == _kernel()


def is_heard_of(session: Session, office: Office, row: Upload, times: float = 1.0) -> bool:
    """Whether who holds an upload has given a sign of life within so many times `silent_seconds`."""
    if row.holder is None or row.seen is None:
        return False
    silence = abs((database_time(session) - row.seen).total_seconds())  # from tomorrow: the clock was set meanwhile
    return silence < times * office.settings.limits.silent_seconds


def beat(office: Office) -> None:
    """Say that this process is still at what it holds."""
    if names := sorted(_HELD):
        with office.writing() as session:
            mine = update(Upload).where(Upload.state == "open", Upload.holder.in_(names))
            session.execute(mine.values(seen=database_time(session)))


@cache
def _kernel() -> str:
    """Which run of which machine this is: locks are shared by what runs on one kernel."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename


CANCELED, EXPIRED, BROKEN, INTERRUPTED = "canceled", "expired", "interrupted", "interrupted"
"""Why an upload came to nothing; the last is our own fault."""
SOON: Final = timedelta(minutes=1)
"""By then the attempt of an upload whose process is gone is free, or the upload is a submission."""
TOLD: Final = timedelta(days=1)
"""How long a team sees what became of an upload that a dead server left."""
BY_TYPE: Final = frozenset({"M66", "M67"})
COUNTED: Final = BY_TYPE | {"M64", "X-2", "X-7"}
"""The rules of refusals that an open upload may be the cause of."""


@dataclass(frozen=True)
class OpenUpload:
    """An upload that holds an attempt and a place of its team."""

    id: str
    name: str
    """The file as its sender calls it, or the label of the run."""
    declared: Mapping[str, Any]
    window: str
    size: int
    arrived: int
    """Bytes that are on disk."""
    started: datetime
    free_by: datetime
    """When its attempt is free again at the latest."""
    sending: bool
    """Whether a living call is at it just now."""

    @property
    def address(self) -> str:
        """Where it is asked for, resumed and canceled."""
        return f"/api/v1/uploads/{self.id}"

    def as_dict(self) -> dict[str, Any]:
        """What programs are told of it."""
        said = {name: self.declared.get(name, "") for name in ("task", "language", "type", "label")}
        times = {"started": self.started.isoformat(), "free_by": self.free_by.isoformat()}
        facts = {"url": self.address, "name": self.name, "window": self.window, **said, **times}
        return facts | {"size": self.size, "arrived": self.arrived, "sending": self.sending}


@dataclass(frozen=True)
class LeftUpload:
    """An upload that was under way when the server stopped, and what became of it."""

    id: str
    name: str
    window: str
    ended: datetime
    submission_id: str | None
    """None where its bytes were not all there: its attempt is free again."""


def open_uploads(session: Session, office: Office, team_id: str) -> tuple[OpenUpload, ...]:
    """What a team has open, the oldest first."""
    query = select(Upload).where(Upload.team_id == team_id, Upload.state == "open")
    found = [_open(session, office, row) for row in session.scalars(query.order_by(Upload.started, Upload.id))]
    return tuple(one for one in found if one is not None)


def _open(session: Session, office: Office, row: Upload) -> OpenUpload | None:
    now = in_force(session, row.campaign_id).now(office.clock())
    if now >= row.expires:
        return None
    sending = is_held(session, office, row)
    free_by = min(row.expires, now + SOON) if row.whole and not sending else row.expires
    arrived = row.offset
    with suppress(OSError):
        arrived = max(arrived, part(office, row.id).stat().st_size)
    facts = (row.id, _name(row), row.declared, row.window, row.size, min(arrived, row.size))
    return OpenUpload(*facts, row.started, free_by, sending)


def left_uploads(session: Session, office: Office, campaign_id: str, team_id: str) -> tuple[LeftUpload, ...]:
    """What became of a team's uploads that a dead server left, the newest first."""
    now = in_force(session, campaign_id).now(office.clock())
    sent = select(Upload.sha256).where(Upload.team_id == team_id, Upload.state == "complete")
    unsettled = or_(Upload.state == "complete", Upload.sha256.not_in(sent))  # nothing to do where it was sent again
    query = select(Upload).where(
        Upload.team_id == team_id, Upload.cause == INTERRUPTED, Upload.ended > now - TOLD, unsettled
    )
    rows = session.scalars(query.order_by(Upload.ended.desc(), Upload.id))
    return tuple(LeftUpload(row.id, _name(row), row.window, row.ended or now, row.submission_id) for row in rows)


def with_uploads(
    session: Session, office: Office, team_id: str, declared: Declared, error: RefusedError
) -> RefusedError:
    """A refusal for want of attempts or places, with the uploads that hold some, and the true time to try again."""
    rules = {one.rule for one in error.problems}
    found = open_uploads(session, office, team_id)
    if not rules & COUNTED or not found:
        return error
    times = [one.free_by for one in found if rules & {"X-2", "X-7"} or _shares(one, declared, rules)]
    times += [error.retry_at] if error.retry_at is not None else []
    zone = in_force(session, session.get_one(Upload, found[0].id).campaign_id).campaign.zone
    problems = (*error.problems, *(_upload_problem(one, zone) for one in found))
    more = RefusedError(problems, status=error.status, retry_at=min(times, default=None))
    more.uploads = [one.as_dict() for one in found]
    return more


def _shares(one: OpenUpload, declared: Declared, rules: set[str]) -> bool:
    """Whether an upload takes its attempt where this one would."""
    said = one.declared
    same = said["task"] == declared.task and declared.language in ("", said["language"])
    same &= declared.dataset in ((), tuple(said["dataset"]))
    return same and (not rules & BY_TYPE or said["type"] == declared.type)


def _upload_problem(one: OpenUpload, zone: str) -> Problem:
    state = "is in progress" if one.sending else "is open"
    message = f"the upload of {one.name} {state} ({one.arrived} of {one.size} bytes) and uses an attempt"
    fix = (
        f"send the same file again, or cancel it (DELETE {one.address}); otherwise the "
        f"attempt is given back {spelt(one.free_by, zone)}"
    )
    return problem("X-21", message, fix, found=one.name)


def _name(row: Upload) -> str:
    return str(row.declared.get("name") or row.declared.get("label") or row.id)


def same_upload(
    session: Session, office: Office, team_id: str, declared: Declared, size: int, sha256: str
) -> Upload | None:
    """The upload of the same file as the same run that is open, or whose sender was not told how it ended.

    One that we interrupted counts too once its window is closed: its start was in time (X-2).
    """
    team = session.get_one(Team, team_id)
    plan, wanted = in_force(session, team.campaign_id), replace(declared, track=declared.track or team.track)
    now, window = plan.now(office.clock()), None
    with suppress(RefusedError):
        window = calendar.row_for(plan.campaign, wanted, now, team=team.code).id
    query = select(Upload).where(Upload.team_id == team_id, Upload.sha256 == sha256, Upload.size == size)
    recent = case((Upload.state == "open", Upload.expires > now), else_=Upload.ended > now - TOLD)
    for row in session.scalars(query.where(recent).order_by(Upload.started.desc(), Upload.id)):
        if window not in (None, row.window) or not (
            _is_unfinished(office, row) or (window is None and (row.state == "lapsed" and row.cause == INTERRUPTED))
        ):
            continue
        if calendar.complete_declaration(plan.campaign, plan.campaign.window(row.window), wanted) == declared_in(row):
            return row
    return None


def _is_unfinished(office: Office, row: Upload) -> bool:
    """Whether an upload is open, or nobody was told of its submission: who would tell is gone."""
    untold = row.state == "complete" and row.holder is not None
    return row.state == "open" or (untold and not is_locked(part(office, row.id)))


def declared_in(row: Upload) -> Declared:
    """What the sender of an upload said that it will be."""
    return Declared(**row.declared | {name: tuple(row.declared[name]) for name in ("dataset", "domains")})
