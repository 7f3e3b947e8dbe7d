"""Signs of life, and what follows when they stop: jobs of a worker that is silent are given back to the queue.

Time here is the database's, never the season's and no worker's own: neither a rehearsal that plays last year nor a
machine whose clock is wrong makes workers look dead. Who watches goes by a clock that nobody can set: a worker is gone
once its sign of life has not moved for long enough, wherever the hands of any clock stand.
Of the workers alive the oldest takes over, so that no two do it at once; if that one is dead, it is silent too, soon.
A worker that was only slow loses its jobs without harm: what it still finishes is written once, by whoever is first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from dbos import DBOSClient
from sqlalchemy import select
from sqlalchemy.orm import Session

import basanite
from basanite.campaign.jobs.engine import Running
from basanite.campaign.jobs.queue import QUEUE, enqueue
from basanite.campaign.jobs.stages import FINAL, UNDER_WAY
from basanite.campaign.office import Office
from basanite.campaign.store.database import database_time
from basanite.campaign.store.tables import BatchItem, Submission, Worker

LIVE = ["ENQUEUED", "PENDING", "DELAYED"]
BEATS = 6
"""Signs of life in the time after which silence means death."""


def begin(running: Running) -> None:
    """Say that this worker is there."""
    with running.office.writing() as session:
        now = database_time(session)
        session.add(
            Worker(id=running.executor, started=now, seen=now, process=os.getpid(), version=basanite.__version__)
        )


def beat(running: Running) -> None:
    """Say that this worker is still there."""
    with running.office.writing() as session:
        session.get_one(Worker, running.executor).seen = database_time(session)


def end(running: Running) -> None:
    """Say that this worker has stopped: what it left can be taken over at once."""
    with running.office.writing() as session:
        session.get_one(Worker, running.executor).stopped = database_time(session)


def alive(session: Session, now: datetime, silent_seconds: float) -> tuple[Worker, ...]:
    """The workers that were heard of lately, oldest first."""
    question = select(Worker).where(Worker.stopped.is_(None), Worker.seen > now - timedelta(seconds=silent_seconds))
    return tuple(session.scalars(question.order_by(Worker.started, Worker.id)))


@dataclass
class Watch:
    """What one process has seen of the others' signs of life, by its own clock that nobody can set.

    Only at first sight does the time in the database count: who was silent before is not waited for again.
    """

    silent_seconds: float
    ticks: Callable[[], float] = time.monotonic
    moved: dict[str, tuple[datetime, float]] = field(default_factory=dict)

    def living(self, session: Session) -> list[str]:
        """The workers that are there, oldest first."""
        here, now = self.ticks(), database_time(session)
        rows = session.scalars(select(Worker).where(Worker.stopped.is_(None)).order_by(Worker.started, Worker.id))
        self.moved = {row.id: self._last(row, here, now) for row in rows}
        return [name for name, (_, last) in self.moved.items() if here - last < self.silent_seconds]

    def _last(self, row: Worker, here: float, now: datetime) -> tuple[datetime, float]:
        """A sign of life, and when it was there for the first time."""
        known = self.moved.get(row.id)
        if known is None:
            silent = (now - row.seen).total_seconds() >= self.silent_seconds
            return row.seen, here - self.silent_seconds if silent else here
        return known if known[0] == row.seen else (row.seen, here)


def take_over(running: Running, watch: Watch) -> tuple[str, ...]:
    """Give back to the queue what runs on workers that are gone; only the oldest worker alive does it."""
    with running.office.reading() as session:
        workers = watch.living(session)
    if not workers or workers[0] != running.executor:
        return ()
    pending = running.client.list_workflows(status="PENDING", queue_name=QUEUE, load_input=False, load_output=False)
    return give_back(running, [job.workflow_id for job in pending if job.executor_id not in workers])


def lost_here(running: Running, suspected: Iterable[str]) -> set[str]:
    """Jobs that were handed to this worker and do not run here; those suspected twice in a row are given back."""
    pending = running.client.list_workflows(
        status="PENDING", queue_name=QUEUE, executor_id=running.executor, load_input=False, load_output=False
    )
    missing = {job.workflow_id for job in pending} - running.jobs
    again = missing & set(suspected)
    give_back(running, sorted(again))
    return missing - again


def give_back(running: Running, jobs: list[str]) -> tuple[str, ...]:
    """Put jobs back into the queue, where any worker finds them."""
    if jobs:
        running.client.resume_workflows(jobs, queue_name=QUEUE)
    return tuple(jobs)


def restart_stranded(running: Running) -> tuple[str, ...]:
    """Ask again for work that has not ended although no job for it is alive: its job broke, say on a full disk."""
    office = running.office
    with office.reading() as session:
        submissions = set(session.scalars(select(Submission.id).where(Submission.state.in_(UNDER_WAY))))
        items = set(session.scalars(select(BatchItem.id).where(BatchItem.state == "waiting")))
    if not submissions | items:
        return ()
    at_work = _arguments(running)
    asked = [
        *(("process_submission", "submission_id", one) for one in sorted(submissions - at_work)),
        *(("score_item", "batch_item_id", one) for one in sorted(items - at_work)),
    ]
    return tuple(key for each in asked if (key := _ask_again(office, running, *each)))


def _arguments(running: Running) -> set[str]:
    """What the jobs that wait or run are about."""
    jobs = running.client.list_workflows(status=LIVE, queue_name=QUEUE, load_output=False)
    return {str(value) for job in jobs if job.input for value in job.input["kwargs"].values() if isinstance(value, str)}


def _ask_again(office: Office, running: Running, workflow: str, argument: str, about: str) -> str:
    """A further job for the same work, unless it ended meanwhile; gives its key."""
    before = running.client.list_workflows(
        name=workflow, workflow_id_prefix=f"{workflow}:{about}", load_input=False, load_output=False
    )
    key = f"{workflow}:{about}:{len(before)}"
    with office.writing() as session:
        if not _open(session, workflow, about):
            return ""
        enqueue(session, office, workflow, key, **{argument: about})
    return key


def _open(session: Session, workflow: str, about: str) -> bool:
    if workflow == "score_item":
        return session.get_one(BatchItem, about).state == "waiting"
    return session.get_one(Submission, about).state not in FINAL


def jobs_left(client: DBOSClient) -> int:
    """How many jobs wait or run."""
    return len(client.list_workflows(status=LIVE, queue_name=QUEUE, load_input=False, load_output=False))
