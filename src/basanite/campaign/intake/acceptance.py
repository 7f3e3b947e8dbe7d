"""The one place where a file becomes a submission, whatever the door: checks, count, name, log, receipt, job (M79).

All of it is one transaction with the team's row locked: a submission that exists has its attempt counted, its event
in the log, its receipt signed and its job in the queue, or it does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from basanite.campaign.intake import charges
from basanite.campaign.jobs.queue import enqueue
from basanite.campaign.model import calendar
from basanite.campaign.model.calendar import kept_name
from basanite.campaign.model.plan import Campaign, Declared, Window
from basanite.campaign.model.refusals import RefusedError, missing, problem, refused
from basanite.campaign.model.standings import standing
from basanite.campaign.model.zones import zone_of
from basanite.campaign.office import Actor, Office
from basanite.campaign.people import agreements
from basanite.campaign.people.agreements import unaccepted_rules
from basanite.campaign.people.roles import MACHINE, is_organiser
from basanite.campaign.programs import compute
from basanite.campaign.receipts import intake_receipt
from basanite.campaign.store import events
from basanite.campaign.store.files import Stored
from basanite.campaign.store.plans import InForce, in_force
from basanite.campaign.store.tables import Charge, Membership, Submission, Team
from basanite.formats.archives.archive_names import LABEL, TASKS
from basanite.problems import Problem, shortened


def responsible(session: Session, actor: Actor, team: Team) -> str:
    """The person who answers for what is submitted: a member, or the PI where a folder or a command line submits.

    To everybody else the team does not exist (404): nobody learns of other teams here.
    """
    found = _responsible(session, actor, team) if team.state == "active" else None
    if found is None:
        raise missing("team")
    return found


def belongs(session: Session, actor: Actor, team_id: str) -> bool:
    """Whether somebody may see and go on with what a team has sent."""
    return _responsible(session, actor, session.get_one(Team, team_id)) is not None


def _responsible(session: Session, actor: Actor, team: Team) -> str | None:
    active = select(Membership.person_id).where(Membership.team_id == team.id, Membership.state == "active")
    here = Membership.role == "pi" if actor.id in MACHINE else Membership.person_id == actor.id
    return session.scalars(active.where(here)).first()


def _rules(session: Session, team: Team, person_id: str) -> Iterator[Problem]:
    for rules in unaccepted_rules(session, team.campaign_id, person_id):
        message = f"the rules {rules.id!r}, version {rules.version}, are not accepted"
        yield problem("M77", message, "read and accept them on the Data page")


def _agreements(session: Session, campaign: Campaign, window: Window, team: Team, now: datetime) -> Iterator[Problem]:
    needed = {pack.agreement for pack in campaign.packs if pack.id in window.dataset and pack.agreement}
    for found in (agreements.standing(session, campaign, team.id, agreement, now) for agreement in sorted(needed)):
        if found.state != "executed":
            message = f"the agreement {found.agreement.title!r} is {found.state} for this team"
            yield problem("P-26", message, "sign it, upload the copy, and wait for the countersignature")


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
    team = charges.lock_team(session, team_id)
    person = responsible(session, actor, team)
    plan = in_force(session, team.campaign_id)
    if plan.row.published is None:
        raise refused("P-35", "this campaign is a draft", "publish it before anybody submits", status=409)
    begun = plan.now(office.clock() if started is None else started)
    _check_texts(declared)
    wanted = replace(declared, track=declared.track or team.track)
    window = calendar.row_for(plan.campaign, wanted, begun, team=team.code)
    complete = calendar.complete_declaration(plan.campaign, window, wanted)
    terms = (*_rules(session, team, person), *_agreements(session, plan.campaign, window, team, begun))
    if terms:
        raise RefusedError(terms, status=403)
    if window.programs and complete.name:
        _check_file_name(complete.name)
    compute.check(session, team.campaign_id, window, team.id)
    charge = charges.reserve(session, plan.campaign, window, team.id, complete, begun)
    return Entry(team, person, plan, window, complete, begun, charge)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file of a team that has arrived whole, and what it is said to be."""

    team_id: str
    declared: Declared
    stored: Stored
    started: datetime | None = None


def accept(session: Session, office: Office, actor: Actor, arrival: Arrival) -> Submission:
    """Make a submission of a file that has arrived whole."""
    return admit(session, office, actor, _enter(session, office, actor, arrival), arrival.stored)


def _enter(session: Session, office: Office, actor: Actor, arrival: Arrival) -> Entry:
    check_size(session, arrival.team_id, arrival.stored.size)
    return enter(session, office, actor, arrival.team_id, arrival.declared, started=arrival.started)


def send_ahead(office: Office, actor: Actor, arrival: Arrival, path: Path) -> None:
    """Bring a file to the object store, if there is one, before the transaction that makes it a submission.

    What would be refused is refused here, so that nothing is sent that nobody could ever ask for again.
    """
    if office.files.remote is None:
        return
    with office.writing() as session:
        _enter(session, office, actor, arrival)
        session.rollback()
    office.files.send(path, arrival.stored)


def admit(
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
    job = "run_program" if row.program else "process_submission"
    enqueue(session, office, job, f"{job}:{row.id}", submission_id=row.id)
    return row


def check_size(session: Session, team_id: str, size: int) -> None:
    """Refuse what is empty, or larger than the campaign takes."""
    team = charges.lock_team(session, team_id)
    most = in_force(session, team.campaign_id).campaign.largest_upload
    if size < 1:
        raise refused("X-2", "the file is empty", "upload the file of your run", status=422)
    if size > most:
        message = f"the file has {size} bytes; this campaign accepts at most {most}"
        raise refused("M60", message, "omit what is not asked for", status=413)


def _check_texts(declared: Declared) -> None:
    """Refuse a label, description or file name that cannot be kept.

    A label is part of names that we make, of files and in mails: whatever the door, it is letters and digits. A file
    keeps the name it was sent under, so it must be one that every disk and page can hold (D-3, X-14).
    """
    if not LABEL.fullmatch(declared.label) or len(declared.label) > LONGEST_LABEL:
        message = f"the label {shortened(declared.label)!r} is not a valid system label"
        raise refused("M55", message, f"use 1 to {LONGEST_LABEL} letters and digits only", status=422)
    if declared.name and declared.task not in TASKS:
        _check_file_name(declared.name)
    if sum(len(str(name)) + len(str(value)) for name, value in declared.description.items()) > LONGEST_DESCRIPTION:
        message = f"the system's description has more than {LONGEST_DESCRIPTION} characters"
        raise refused("M77", message, "shorten it", status=422)


def _check_file_name(name: str) -> None:
    plain = name.isprintable() and name.strip(". ") == name.rstrip(". ") and not set(name) & set("/\\")
    if not plain or len(name.encode()) > LONGEST_NAME:
        message = f"the file name {shortened(name)!r} is invalid"
        fix = f"use at most {LONGEST_NAME} bytes, no slashes, no control characters and no dot at the start"
        raise refused("D-3", message, fix, status=422, found=name)


def _row(session: Session, actor: Actor, entry: Entry, stored: Stored, received: datetime) -> Submission:
    campaign, declared = entry.plan.campaign, entry.declared
    last = session.scalar(select(func.max(Submission.number)).where(Submission.team_id == entry.team.id)) or 0
    return Submission(
        campaign_id=entry.team.campaign_id,
        team_id=entry.team.id,
        person_id=entry.person_id,
        number=last + 1,  # nobody else takes this number: the team's row is locked
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
        program=entry.window.programs.mode if entry.window.programs else "",
    )


def _name(campaign: Campaign, entry: Entry, received: datetime) -> str:
    """Team, date and time are ours, by the campaign's clock (M58)."""
    local = received.astimezone(zone_of(campaign.zone))
    return kept_name(campaign, entry.window, entry.declared, entry.team.code, local)


def _note_same_file(session: Session, row: Submission) -> None:
    """The same bytes from another team: noted for the organiser, and for nobody else (X-7, X-16)."""
    query = select(Submission.id).where(
        Submission.sha256 == row.sha256,
        Submission.campaign_id == row.campaign_id,
        Submission.team_id != row.team_id,
    )
    row.similar_to = session.scalars(query.order_by(Submission.received).limit(1)).first()


WAITING = ("received", "running", "validating", "scoring")


@dataclass(frozen=True)
class Place:
    """Where a submission stands in the queue."""

    ahead: int
    """Submissions of all teams that came before it and have not ended."""
    within: timedelta
    """How long it takes at the most if everything before it takes as long as anything may."""


def get(session: Session, actor: Actor, submission_id: str) -> Submission:
    """A submission of the actor's own team, or any for organisers; those of other teams do not exist."""
    row = session.get(Submission, submission_id)
    if row is None:
        raise missing("submission")
    if not (is_organiser(session, actor, row.campaign_id) or belongs(session, actor, row.team_id)):
        raise missing("submission")
    return row


def place(session: Session, office: Office, row: Submission) -> Place | None:
    """Where a submission stands in the queue; None once it has ended."""
    if row.state not in WAITING:
        return None
    waiting = select(func.count()).select_from(Submission).where(Submission.state.in_(WAITING))
    ahead = session.scalar(waiting.where(Submission.received < row.received)) or 0
    return Place(ahead, longest_wait(office, ahead))


def longest_wait(office: Office, ahead: int) -> timedelta:
    """The longest that a submission with so many before it can take on one worker process.

    Each of two stages is tried a few times, each try within its limit; a worker that died is noticed after a while.
    """
    limits = office.settings.limits
    each = 2 * limits.tries * (limits.seconds + limits.silent_seconds)
    return timedelta(seconds=each * (1 + ahead // max(office.settings.workers, 1)))


def describe(
    session: Session, office: Office, actor: Actor, submission_id: str, description: Mapping[str, str]
) -> Submission:
    """Replace the description of a submission; its file, type and label stay as they are."""
    row = get(session, actor, submission_id)
    if sum(len(name) + len(words) for name, words in description.items()) > LONGEST_DESCRIPTION:
        message = f"the system's description has more than {LONGEST_DESCRIPTION} characters"
        raise refused("M77", message, "shorten it", status=422)
    row.description = dict(description)
    events.record(
        session,
        "submission.described",
        at=office.clock(),
        actor=actor.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data={"fields": sorted(description)},
    )
    return row
