"""Asking for a job in the transaction that causes it: both are kept, or neither is (an outbox).

The jobs stand in the tables of DBOS in the same database as everything else. A job's id is its key, so that asking
twice gives one job. Jobs of one team wait behind each other and never before those of another team;
comparisons that a team asked for are its own, those of boards wait behind those of their campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary, WeakSet

from sqlalchemy import Connection, Engine, inspect
from sqlalchemy.orm import Session

from basanite.campaign.office import Office
from basanite.campaign.store.database import Database, make_engine
from basanite.campaign.store.tables import BatchItem, Submission

if TYPE_CHECKING:
    from dbos import DBOSClient
    from dbos._sys_db import SystemDatabase

APPLICATION: Final = "basanite"
QUEUE: Final = "jobs"
MOST_LOOKED_AT: Final = 1000
LETTING_PASS: Final = 4
"""Looks at the queue that a program which gave way waits for."""
NOBODY: Final = "nobody"
"""The partition of jobs that belong to no team and no campaign."""

BY_STATUS: Final = "CREATE INDEX IF NOT EXISTS ix_jobs_by_status ON workflow_status (queue_name, status, created_at)"
"""For SQLite: the package's own indexes hold some states each, and SQLite takes them only where the question says
which state is meant. Without this one, looking for jobs at work reads all that ever were."""

_clients: WeakKeyDictionary[Database, DBOSClient] = WeakKeyDictionary()
_ready: WeakSet[Database] = WeakSet()
"""Databases known to have the tables of the jobs."""


def enqueue(
    session: Session,
    office: Office,
    workflow: str,
    key: str,
    /,
    *,
    whose: str | None = None,
    delay: float | None = None,
    **arguments: Any,
) -> None:
    """Ask for a job inside the caller's transaction; one with the same key, waiting or ended, is not made again."""
    # Six arguments, and those of the job by their names.
    options: dict[str, Any] = {
        "workflow_name": workflow,
        "queue_name": QUEUE,
        "workflow_id": key,
        "queue_partition_key": whose or _whose(session, arguments) or NOBODY,
    }
    if delay is not None:
        options["delay_seconds"] = delay
    session.flush()
    _make_tables(session, office)
    client(office).enqueue_in_transaction(session, options, **arguments)  # type: ignore[arg-type]


def _whose(session: Session, arguments: dict[str, Any]) -> str | None:
    """Whose job it is, a team's or a campaign's: nobody's jobs stand before those of others."""
    for whose in ("team_id", "campaign_id"):
        if whose in arguments:
            return str(arguments[whose])
    submission_id = arguments.get("submission_id")
    if item := arguments.get("batch_item_id"):
        row = session.get(BatchItem, item)
        submission_id = row.submission_id if row else None
    submission = session.get(Submission, submission_id) if submission_id else None
    return submission.team_id if submission else None


def go_on_later(office: Office, submission_id: str, job: str) -> None:
    """Ask for a further job that goes on with a program; once for each job that gave way.

    It waits a moment, in which workers take what others have waiting: they choose among teams at random.
    """
    first, _, number = job.partition("~")
    key, delay = f"{first}~{int(number or 0) + 1}", LETTING_PASS * office.settings.limits.poll_seconds
    with office.writing() as session:
        enqueue(session, office, "run_program", key, delay=delay, submission_id=submission_id)


def others_wait(office: Office, team_id: str) -> bool:
    """Whether jobs of anybody else wait for a worker."""
    waiting = client(office).list_workflows(
        status="ENQUEUED", queue_name=QUEUE, load_input=False, load_output=False, limit=MOST_LOOKED_AT
    )
    return any(job.queue_partition_key != team_id for job in waiting)


def client(office: Office) -> DBOSClient:
    """What writes jobs into the office's database; it starts nothing and runs nothing."""
    if office.database not in _clients:
        _clients[office.database] = make_client(office.database.engine)
    return _clients[office.database]


def make_client(engine: Engine) -> DBOSClient:
    """A client of the jobs on this engine."""
    from dbos import DBOSClient, DBOSPortableJSONSerializer

    quiet()
    serializer = DBOSPortableJSONSerializer()
    return DBOSClient(system_database_engine=engine, serializer=serializer, application_name=APPLICATION, lazy=True)


def prepare(url: str) -> None:
    """Make the tables of the jobs in a database, or bring them up to date; nothing happens if they are."""
    engine = jobs_engine(url)
    try:
        _system(engine).run_migrations()
        if engine.dialect.name == "sqlite":
            with engine.begin() as connection:
                connection.exec_driver_sql(BY_STATUS)
    finally:
        engine.dispose()


def _make_tables(session: Session, office: Office) -> None:
    """Make the tables at the first job of all; on SQLite in the caller's transaction, where nobody else may write."""
    if office.database in _ready:
        return
    if not office.database.is_sqlite:
        prepare(office.database.url)
    elif not inspect(session.connection()).has_table("workflow_status"):
        system = _system(office.database.engine)
        system.engine = _Joined(session.connection())  # type: ignore[assignment]
        system.run_migrations()
        session.connection().exec_driver_sql(BY_STATUS)
    _ready.add(office.database)


@dataclass(frozen=True)
class _Joined:
    """In the place of an engine: anyone who begins a transaction joins the one that is open."""

    connection: Connection

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """The transaction that is open."""
        yield self.connection


def jobs_engine(url: str) -> Engine:
    """An engine of the jobs' own: on SQLite every transaction writes, so each begins as one."""
    return make_engine(url).execution_options(writes=True)


def _system(engine: Engine) -> SystemDatabase:
    """The jobs' side of a database; the package has no public call that makes its tables on an engine of ours."""
    from dbos import DBOSPortableJSONSerializer
    from dbos._sys_db import SystemDatabase

    quiet()
    return SystemDatabase.create(
        system_database_url="sqlite://" if engine.dialect.name == "sqlite" else "postgresql://",
        engine_kwargs={},
        engine=engine,
        schema="dbos",
        serializer=DBOSPortableJSONSerializer(),
        executor_id=None,
        use_listen_notify=False,
        app_name=APPLICATION,
    )


def quiet() -> None:
    """Keep the package's own log to what is wrong; ours tells the rest."""
    import logging

    logging.getLogger("dbos").setLevel(logging.WARNING)
