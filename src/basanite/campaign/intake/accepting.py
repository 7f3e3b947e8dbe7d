"""The one place where a file becomes a submission, whatever the door: checks, count, name, log, receipt, job (M79).

All of it is one transaction with the team's row locked: a submission that exists has its attempt counted, its event
in the log, its receipt signed and its job in the queue, or it does not exist.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import entitlement, quotas
from basanite.campaign.jobs.queue import enqueue
from basanite.campaign.model import calendar
from basanite.campaign.model.declared import Declared
from basanite.campaign.model.names import kept_name
from basanite.campaign.model.plan import Campaign, Window
from basanite.campaign.model.refusals import refused
from basanite.campaign.model.standing import standing
from basanite.campaign.model.time.zones import zone_of
from basanite.campaign.office import Actor, Office
from basanite.campaign.receipting import intake_receipt
from basanite.campaign.store import events
from basanite.campaign.store.files import Stored
from basanite.campaign.store.plans import InForce, in_force
from basanite.campaign.store.tables import Charge, Submission, Team
from basanite.formats.packs.archive_names import LABEL, TASKS
from basanite.problems import shortened

LONGEST_LABEL = 100
LONGEST_NAME = 200
"""Bytes of a file's name: answers beside a dropped file put more behind it."""
LONGEST_DESCRIPTION = 20_000
"""Characters of a system's description, all fields together."""


class Entry(NamedTuple):
    """What has been let in so far: whose, under which plan and row, what exactly, and the attempt it takes."""

    team: Team
    person_id: str
    plan: InForce
    window: Window
    declared: Declared
    started: datetime
    charge: Charge


def enter(
    session: Session,
    office: Office,
    actor: Actor,
    team_id: str,
    declared: Declared,
    *,
    started: datetime | None = None,
) -> Entry:
    """Check everything that can be checked before the file is there, and reserve the attempt.

    `started` is when the server first saw the file, if that was before this moment (a drop folder, X-12); it is what
    decides about the deadline.
    """
    team = quotas.lock_team(session, team_id)
    person = entitlement.responsible(session, actor, team)
    plan = in_force(session, team.campaign_id)
    begun = plan.now(office.clock() if started is None else started)
    _check_label(declared)
    _check_file_name(declared)
    _check_description(declared)
    wanted = replace(declared, track=declared.track or team.track)
    window = calendar.row_for(plan.campaign, wanted, begun, team=team.code)
    complete = calendar.completed(plan.campaign, window, wanted)
    entitlement.check_terms(session, plan.campaign, window, team, person, begun)
    charge = quotas.reserve(session, plan.campaign, window, team.id, complete, begun)
    return Entry(team, person, plan, window, complete, begun, charge)


def accept(
    session: Session,
    office: Office,
    actor: Actor,
    team_id: str,
    declared: Declared,
    stored: Stored,
    *,
    started: datetime | None = None,
) -> Submission:
    """Make a submission of a file that has arrived whole."""
    check_size(session, team_id, stored.size)
    entry = enter(session, office, actor, team_id, declared, started=started)
    return admitted(session, office, actor, entry, stored)


def send_ahead(
    office: Office,
    actor: Actor,
    team_id: str,
    declared: Declared,
    path: Path,
    stored: Stored,
    *,
    started: datetime | None = None,
) -> None:
    """Bring a file to the object store, if there is one, before the transaction that makes it a submission.

    What would be refused is refused here, so that nothing is sent that nobody could ever ask for again.
    """
    if office.files.remote is None:
        return
    with office.writing() as session:
        check_size(session, team_id, stored.size)
        enter(session, office, actor, team_id, declared, started=started)
        session.rollback()
    office.files.send(path, stored)


def admitted(
    session: Session, office: Office, actor: Actor, entry: Entry, stored: Stored, *, arrived: datetime | None = None
) -> Submission:
    """The submission itself, once it has been let in: row, event, receipt and job.

    `arrived` is when its last byte came, if that was before this moment: the server stood still in between (X-21).
    """
    received = entry.plan.now(office.clock())
    if arrived is not None:
        received = min(received, max(entry.started, entry.plan.now(arrived)))
    row = _row(session, actor, entry, stored, received)
    session.add(row)
    session.flush()
    entry.charge.submission_id = row.id
    _note_same_file(session, row)
    data = {name: getattr(row, name) for name in ("team_id", "number", "window", "door", "sha256", "size", "standing")}
    events.record(
        session,
        "submission.accepted",
        at=office.clock(),
        actor=actor.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data=data,
    )
    intake_receipt(session, office, row)
    enqueue(session, office, "process_submission", f"process_submission:{row.id}", submission_id=row.id)
    return row


def check_size(session: Session, team_id: str, size: int) -> None:
    """Refuse what is empty, or larger than the campaign takes."""
    team = quotas.lock_team(session, team_id)
    most = in_force(session, team.campaign_id).campaign.largest_upload
    if size < 1:
        raise refused("X-2", "the file is empty", "send the file of your run", status=422)
    if size > most:
        message = f"the file has {size} bytes, more than the {most} that this campaign takes"
        raise refused("M60", message, "leave out what is not asked for", status=413)


def _check_label(declared: Declared) -> None:
    """A label is part of names that we make, of files and in mails: whatever the door, it is letters and digits."""
    if not LABEL.fullmatch(declared.label) or len(declared.label) > LONGEST_LABEL:
        message = f"the label {shortened(declared.label)!r} is no system label"
        raise refused("M55", message, f"write 1 to {LONGEST_LABEL} letters and digits, nothing else", status=422)


def _check_file_name(declared: Declared) -> None:
    """A file keeps the name it was sent under, so it must be one that every disk and page can hold (D-3, X-14)."""
    name = declared.name
    if declared.task in TASKS or not name:
        return
    plain = name.isprintable() and name.strip(". ") == name.rstrip(". ") and not set(name) & set("/\\")
    if not plain or len(name.encode()) > LONGEST_NAME:
        message = f"the file's name {shortened(name)!r} cannot be kept"
        fix = f"name it with at most {LONGEST_NAME} bytes, no slash, no control character and no dot at the start"
        raise refused("D-3", message, fix, status=422, found=name)


def _check_description(declared: Declared) -> None:
    if sum(len(str(name)) + len(str(value)) for name, value in declared.description.items()) > LONGEST_DESCRIPTION:
        message = f"the system's description has more than {LONGEST_DESCRIPTION} characters"
        raise refused("M77", message, "shorten it", status=422)


def _row(session: Session, actor: Actor, entry: Entry, stored: Stored, received: datetime) -> Submission:
    campaign, declared = entry.plan.campaign, entry.declared
    return Submission(
        campaign_id=entry.team.campaign_id,
        team_id=entry.team.id,
        person_id=entry.person_id,
        number=_next_number(session, entry.team.id),
        door=actor.door,
        window=entry.window.id,
        task=declared.task,
        language=declared.language,
        dataset="+".join(declared.dataset),
        queryset=declared.queryset,
        type=declared.type,
        track=declared.track,
        label=declared.label,
        name=_name(campaign, entry, received),
        size=stored.size,
        sha256=stored.digest,
        description=dict(declared.description),
        plan_version=entry.plan.version,
        started=entry.started,
        received=received,
        standing=standing(entry.window, entry.started, received),
        state="received",
        state_at=received,
    )


def _name(campaign: Campaign, entry: Entry, received: datetime) -> str:
    """Team, date and time are ours, by the campaign's clock (M58)."""
    local = received.astimezone(zone_of(campaign.zone))
    return kept_name(campaign, entry.window, entry.declared, entry.team.code, local)


def _next_number(session: Session, team_id: str) -> int:
    """With the team's row locked nobody else takes this number."""
    return (session.scalar(select(func.max(Submission.number)).where(Submission.team_id == team_id)) or 0) + 1


def _note_same_file(session: Session, row: Submission) -> None:
    """The same bytes from another team: noted for the organiser, and for nobody else (X-7, X-16)."""
    query = select(Submission.id).where(
        Submission.sha256 == row.sha256,
        Submission.campaign_id == row.campaign_id,
        Submission.team_id != row.team_id,
    )
    row.similar_to = session.scalars(query.order_by(Submission.received).limit(1)).first()
