"""Reading tasks of a campaign: teams make theirs to practise on, formal ones are made by the evaluation team (R-23).

A call is checked in one transaction, worked on in the limited child without any, and kept in another.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final, Literal

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.model.plan import Window
from basanite.campaign.model.policy import Viewer
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.store.tables import ReadingPackage, ReadingTaskRow
from basanite.campaign.work.lookup import find_row, log_event
from basanite.campaign.work.reading.packages import find, whole, without_sealed
from basanite.campaign.work.reading.process import Order, read_output, run_reading_child

Mode = Literal["practice", "formal"]
FORMATS: Final = {"ntriples": "task.nt", "turtle": "task.ttl", "rdfxml": "task.rdf", "jsonld": "task.jsonld"}
DAY: Final = timedelta(days=1)


@dataclass(frozen=True)
class Wanted:
    """What a caller asks a task to hold."""

    part: str
    mode: Mode = "practice"
    types: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    sample: int | None = None
    seed: int = 0
    phase: str = ""
    source: Literal["all", "package", "generated"] = "package"
    unanswered: bool = False
    texts: bool = True


@dataclass(frozen=True)
class Ready:
    """A call that may go on: the package, and what the child is to do."""

    package: ReadingPackage
    wanted: Wanted
    team: str | None
    sealed: bool
    order: Order


def check(session: Session, office: Office, who: Viewer, campaign_id: str, package_id: str, wanted: Wanted) -> Ready:
    """Whether this caller may make this task now."""
    package = find(session, campaign_id, package_id)
    parts = {part["name"]: bool(part["sealed"]) for part in package.parts}
    if wanted.part not in parts or (parts[wanted.part] and not who.staff):
        fix = f"choose {' or '.join(name for name, sealed in parts.items() if not sealed)}"
        raise refused("R-23", "the package has no such split for practice", fix, status=404)
    if wanted.mode == "formal":
        _check_formal(who, package)
    else:
        _check_practice(session, office, who, campaign_id, sealed=parts[wanted.part])
    given = whole(office, package) if who.staff else without_sealed(office, package)
    order = Order("task", who.party, {"package": given}, asdict(wanted), sealed=who.staff)
    return Ready(package, wanted, None if who.staff else who.team, parts[wanted.part], order)


def _check_formal(who: Viewer, package: ReadingPackage) -> None:
    if not who.staff:
        fix = "download the task by the ID that the evaluation team gives, or create one for practice"
        raise refused("R-23", "only the evaluation team can create formal tasks", fix, status=403)
    if not package.window:
        fix = "add the package with a window"
        raise refused("R-23", "this package is for practice only", fix, status=409).with_hint("--window")


def _check_practice(session: Session, office: Office, who: Viewer, campaign_id: str, *, sealed: bool) -> None:
    if sealed:
        raise refused("R-23", "sealed splits cannot be used for practice", "create a formal task", status=409)
    if who.staff:
        return
    since = office.clock() - DAY
    question = select(func.count()).where(
        ReadingTaskRow.campaign_id == campaign_id, ReadingTaskRow.team_id == who.team, ReadingTaskRow.made > since
    )
    most = office.settings.reading.practice
    if (session.scalar(question) or 0) >= most:
        raise refused("X-13", f"{most} tasks in a day", "use an existing one, or wait until tomorrow", status=429)


@dataclass(frozen=True)
class Built:
    """What the child made."""

    content: str
    queries: tuple[str, ...]
    documents: int
    files: dict[str, str]
    """Format to digest."""


def build(office: Office, ready: Ready) -> Built:
    """Make the graph in the child; what holds sealed texts is kept among the sealed files."""
    store = office.sealed if ready.sealed else office.files
    with run_reading_child(office, ready.order) as outcome:
        found = read_output(outcome, "task.json")
        files = {name: store.take(outcome.out / file).digest for name, file in FORMATS.items()}
    return Built(found["id"], tuple(found["queries"]), found["documents"], files)


def keep(session: Session, office: Office, actor: Actor, ready: Ready, built: Built) -> ReadingTaskRow:
    """Write a task down."""
    row = ReadingTaskRow(
        campaign_id=ready.package.campaign_id,
        reading_package_id=ready.package.id,
        mode=ready.wanted.mode,
        team_id=ready.team,
        part=ready.wanted.part,
        sealed=ready.sealed,
        choice={name: value for name, value in asdict(ready.wanted).items() if name not in ("part", "mode")},
        content=built.content,
        files=built.files,
        queries=list(built.queries),
        documents=built.documents,
        made=office.clock(),
        by=actor.id,
    )
    session.add(row)
    session.flush()
    facts = {"package": ready.package.id, "mode": row.mode, "part": row.part, "queries": len(row.queries)}
    log_event(session, office, actor, row, "reading.task_made", **facts)
    return row


def make(
    office: Office, actor: Actor, who: Viewer, campaign_id: str, package_id: str, wanted: Wanted
) -> ReadingTaskRow:
    """Validate, build and store a task; to be called from a request, because each step is its own transaction."""
    with office.reading() as session:
        ready = check(session, office, who, campaign_id, package_id, wanted)
    built = build(office, ready)
    with office.writing() as session:
        return keep(session, office, actor, ready, built)


def task(session: Session, office: Office, who: Viewer, campaign_id: str, task_id: str) -> ReadingTaskRow:
    """A task that this caller may fetch; to anybody else it does not exist, whatever they know of it (X-16)."""
    row = session.get(ReadingTaskRow, task_id)
    if row is None or row.campaign_id != campaign_id or not _may_fetch(session, office, who, row):
        raise missing("reading task")
    return row


def campaign_of(session: Session, task_id: str) -> str:
    """The id of the campaign that a task belongs to, for calls that name the task alone."""
    return find_row(session, ReadingTaskRow, task_id, "reading task").campaign_id


def tasks(session: Session, office: Office, who: Viewer, campaign_id: str) -> tuple[ReadingTaskRow, ...]:
    """The tasks that this caller may fetch, newest first."""
    question = select(ReadingTaskRow).where(ReadingTaskRow.campaign_id == campaign_id)
    if not who.staff:
        question = question.where(or_(ReadingTaskRow.team_id == who.team, ReadingTaskRow.mode == "formal"))
    rows = session.scalars(question.order_by(ReadingTaskRow.made.desc(), ReadingTaskRow.id))
    return tuple(row for row in rows if _may_fetch(session, office, who, row))


def _may_fetch(session: Session, office: Office, who: Viewer, row: ReadingTaskRow) -> bool:
    if who.staff:
        return True
    if who.team is None:
        return False
    if row.mode == "practice":
        return row.team_id == who.team
    plan = plans.current(session, row.campaign_id)
    window = window_of(session, row)
    return window is not None and window.opens.utc <= plans.now(office, plan.row)


def window_of(session: Session, row: ReadingTaskRow) -> Window | None:
    """The row of the calendar that a formal task belongs to."""
    package = session.get_one(ReadingPackage, row.reading_package_id)
    campaign = plans.current(session, row.campaign_id).campaign
    return next((window for window in campaign.windows if window.id == package.window), None)
