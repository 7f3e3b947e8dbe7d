"""The uploads of a team as it sees them: what is open and holds what until when, and what a dead server left (X-21)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import holds
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.refusals import RefusedError, problem
from basanite.campaign.model.time.zones import spelt
from basanite.campaign.office import Office
from basanite.campaign.store.plans import in_force
from basanite.campaign.store.tables import Upload
from basanite.problems import Problem

CANCELED, EXPIRED, BROKEN, INTERRUPTED = "canceled", "expired", "broken off", "interrupted"
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

    def submission_address(self, slug: str) -> str | None:
        """Where its submission is, if it became one."""
        return f"/api/v1/campaigns/{slug}/submissions/{self.submission_id}" if self.submission_id else None


def open_uploads(session: Session, office: Office, team_id: str) -> tuple[OpenUpload, ...]:
    """What a team has open, the oldest first."""
    query = select(Upload).where(Upload.team_id == team_id, Upload.state == "open")
    found = [_open(session, office, row) for row in session.scalars(query.order_by(Upload.started, Upload.id))]
    return tuple(one for one in found if one is not None)


def _open(session: Session, office: Office, row: Upload) -> OpenUpload | None:
    now = in_force(session, row.campaign_id).now(office.clock())
    if now >= row.expires:
        return None
    sending = holds.is_held(session, office, row)
    free_by = min(row.expires, now + SOON) if row.whole and not sending else row.expires
    arrived = row.offset
    with suppress(OSError):
        arrived = max(arrived, holds.part(office, row.id).stat().st_size)
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
    problems = (*error.problems, *(_told(one, zone) for one in found))
    more = RefusedError(problems, status=error.status, retry_at=min(times, default=None))
    more.uploads = [one.as_dict() for one in found]
    return more


def _shares(one: OpenUpload, declared: Declared, rules: set[str]) -> bool:
    """Whether an upload takes its attempt where this one would."""
    said = one.declared
    same = said["task"] == declared.task and declared.language in ("", said["language"])
    same &= declared.dataset in ((), tuple(said["dataset"]))
    return same and (not rules & BY_TYPE or said["type"] == declared.type)


def _told(one: OpenUpload, zone: str) -> Problem:
    state = "is being sent" if one.sending else "is open"
    message = f"the upload of {one.name} {state} ({one.arrived} of {one.size} bytes) and holds an attempt"
    fix = f"send the same file again, or cancel it (DELETE {one.address}): else it is free {spelt(one.free_by, zone)}"
    return problem("X-21", message, fix, found=one.name)


def _name(row: Upload) -> str:
    return str(row.declared.get("name") or row.declared.get("label") or row.id)
