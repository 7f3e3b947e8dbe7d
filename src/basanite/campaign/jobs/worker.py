"""A worker: runs jobs, gives signs of life, takes over from the dead, and looks after what is due.

Used by `basanite worker` in processes of their own, and by `basanite serve` in its own process. Each duty is done by
anyone who comes first and again at the next round: done twice, it changes nothing.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer
from sqlalchemy import select
from sqlalchemy.orm import Session

import basanite
from basanite.campaign.jobs import comparison, stages
from basanite.campaign.jobs.queue import (
    APPLICATION,
    QUEUE,
    client,
    enqueue,
    go_on_later,
    jobs_engine,
    make_client,
    quiet,
)
from basanite.campaign.jobs.stages import FINAL, UNDER_WAY
from basanite.campaign.office import Office
from basanite.campaign.store.database import database_time
from basanite.campaign.store.tables import BatchItem, ProgramRun, Submission, Worker
from basanite.sandbox.runner import clear_left_behind

VERSION: Final = "1"
"""The version of the jobs below, not of the package: it changes only if a job that was begun could not be ended by the
new code. Jobs of another version are not run."""
PROGRAMS: Final = "basanite.campaign.programs.run"
"""Where runs of programs are brought on; it builds on jobs, so it is looked up by name."""
NOT_LIMITED: Final = None
"""How often a job may be taken over: the tries of a submission are counted in its own row."""


@dataclass
class Running:
    """The engine at work: the office, this start's own name, and the jobs that run here now."""

    office: Office
    executor: str
    client: DBOSClient
    jobs: set[str] = field(default_factory=set)


_running: Running | None = None


def running_engine() -> Running:
    """The engine of this process; jobs run only while there is one."""
    if _running is None:
        raise RuntimeError("no engine is running in this process")
    return _running


@contextmanager
def launch(office: Office, *, patience: int = 0) -> Iterator[Running]:
    """Start the engine in this process; at the end, jobs that still run after some seconds are left to others."""
    global _running
    if _running is not None:
        raise RuntimeError("an engine is running in this process already")
    quiet()
    engine = jobs_engine(office.database.url)
    running = Running(office, f"{os.getpid()}-{secrets.token_hex(6)}", make_client(engine))
    _running = running
    try:
        DBOS(config=_config(running.executor, engine))
        DBOS.launch()
        _register_queue(office)
        yield running
    finally:
        DBOS.destroy(workflow_completion_timeout_sec=patience)
        _running = None
        engine.dispose()


def _config(executor: str, engine: Any) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_engine": engine,
        "serializer": DBOSPortableJSONSerializer(),
        "application_version": VERSION,
        "executor_id": executor,
        "use_listen_notify": False,
        "log_level": "WARNING",
        "scheduler_polling_interval_sec": 3600.0,
    }


def _register_queue(office: Office) -> None:
    """One queue with a part for each team: one job of a team at a time, and no team's jobs wait for another's."""
    DBOS.register_queue(
        QUEUE,
        worker_concurrency=office.settings.workers,
        partition_concurrency=1,
        polling_interval_sec=office.settings.limits.poll_seconds,
        on_conflict="always_update",
    )


@contextmanager
def _at_work() -> Iterator[Office]:
    """Say that a job runs here as long as it does."""
    running, job = running_engine(), str(DBOS.workflow_id)
    running.jobs.add(job)
    try:
        yield running.office
    finally:
        running.jobs.discard(job)


@DBOS.step(name="validate")
def _validate(submission_id: str) -> dict[str, Any]:
    return stages.validate(running_engine().office, submission_id)


@DBOS.step(name="score")
def _score(submission_id: str, result: dict[str, str] | None) -> str:
    return stages.score(running_engine().office, submission_id, result)


@DBOS.step(name="score_item")
def _score_item(batch_item_id: str) -> str:
    return comparison.score_item(running_engine().office, batch_item_id)


@DBOS.step(name="compare")
def _compare(key: str, campaign_id: str, window: str, purpose: str, subject: dict[str, Any]) -> str:
    return comparison.compare(running_engine().office, key, campaign_id, window, purpose, subject)


@DBOS.workflow(name="process_submission", max_recovery_attempts=NOT_LIMITED)
def process_submission(submission_id: str) -> str:
    """Validate a submission and, if it is valid, score it; gives its final state."""
    with _at_work():
        checked = _validate(submission_id)
        if checked["state"] != "scoring":
            return str(checked["state"])
        return _score(submission_id, checked["result"])


@DBOS.step(name="bring_on")
def _bring_on(submission_id: str) -> str:
    return import_module(PROGRAMS).bring_on(running_engine().office, submission_id)  # type: ignore[no-any-return]


@DBOS.workflow(name="run_program", max_recovery_attempts=NOT_LIMITED)
def run_program(submission_id: str) -> str:
    """Run the program of a submission for a while; where others wait it gives way, and a further job goes on."""
    with _at_work() as office:
        state = _bring_on(submission_id)
        if state == "again":
            go_on_later(office, submission_id, str(DBOS.workflow_id))
        return state


@DBOS.workflow(name="score_item", max_recovery_attempts=NOT_LIMITED)
def score_item(batch_item_id: str) -> str:
    """Score one submission of a batch."""
    with _at_work():
        return _score_item(batch_item_id)


@DBOS.workflow(name="compare", max_recovery_attempts=NOT_LIMITED)
def compare(key: str, campaign_id: str, window: str, purpose: str, subject: dict[str, Any]) -> str:
    """Compare systems for a board."""
    with _at_work():
        return _compare(key, campaign_id, window, purpose, subject)


LIVE = ["ENQUEUED", "PENDING", "DELAYED"]
BEATS = 6
"""Signs of life in the time after which silence means death."""


def register_worker(running: Running) -> None:
    """Say that this worker is there."""
    with running.office.writing() as session:
        now = database_time(session)
        session.add(
            Worker(id=running.executor, started=now, seen=now, process=os.getpid(), version=basanite.__version__)
        )


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
        """The registered workers, oldest first."""
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


def requeue_stranded(running: Running) -> tuple[str, ...]:
    """Queue again unfinished work that has no live job, for example because its job failed on a full disk."""
    office = running.office
    with office.reading() as session:
        submissions = set(session.scalars(select(Submission.id).where(Submission.state.in_(UNDER_WAY))))
        items = set(session.scalars(select(BatchItem.id).where(BatchItem.state == "waiting")))
    if not submissions | items:
        return ()
    at_work = _arguments(running)
    asked = [
        *((kind, "submission_id", one) for one in sorted(submissions - at_work) if (kind := _next_job(office, one))),
        *(("score_item", "batch_item_id", one) for one in sorted(items - at_work)),
    ]
    return tuple(key for each in asked if (key := _ask_again(office, running, *each)))


def _next_job(office: Office, submission_id: str) -> str:
    """What brings a submission on: its program is run first; nothing while it waits for its minute."""
    with office.reading() as session:
        row, run = session.get_one(Submission, submission_id), session.get(ProgramRun, submission_id)
        if not row.program or row.state not in ("received", "running"):
            return "process_submission"
        return "" if run is not None and run.due is not None else "run_program"


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
        if workflow == "score_item":
            ended = session.get_one(BatchItem, about).state != "waiting"
        else:
            ended = session.get_one(Submission, about).state in FINAL
        if ended:
            return ""
        enqueue(session, office, workflow, key, **{argument: about})  # type: ignore[arg-type]
    return key


def jobs_left(client: DBOSClient) -> int:
    """How many jobs wait or run."""
    return len(client.list_workflows(status=LIVE, queue_name=QUEUE, load_input=False, load_output=False))


Duty = Callable[[Office], object]
DUTIES: Final = "basanite.campaign.duties"
"""Where the duties are listed: they call on parts of a campaign that build on jobs, so they are looked up by name."""
PATIENCE: Final = 10
"""Seconds that jobs get to end when a worker is stopped; what is left then, others do."""
SCRATCH_HOURS: Final = 24
log = logging.getLogger("basanite.jobs")


def run(office: Office, stop: threading.Event, duties: Sequence[Duty] | None = None) -> None:
    """Work until `stop` is set."""
    with running(office, duties):
        stop.wait()


@contextmanager
def running(office: Office, duties: Sequence[Duty] | None = None) -> Iterator[Running]:
    """Work beside the block, and stop in good order at its end."""
    with launch(office, patience=PATIENCE) as engine:
        register_worker(engine)
        restart_stranded(engine)  # at once: after a restore nothing waits in the queue, and much may be unfinished
        rounds = [
            _Rounds("pulse", office.settings.limits.silent_seconds / BEATS, _Pulse(engine)),
            _Rounds("duties", office.settings.limits.duty_seconds, _Duties(engine, _all_duties(duties))),
        ]
        try:
            yield engine
        finally:
            for one in rounds:
                one.stop()
            with office.writing() as session:  # what this worker left can be taken over at once
                session.get_one(Worker, engine.executor).stopped = database_time(session)


def until_idle(office: Office, seconds: float) -> int:
    """Wait until no job is left, or the time is over; gives how many are left."""
    end = time.monotonic() + seconds
    while (left := jobs_left(client(office))) and time.monotonic() < end:
        time.sleep(min(office.settings.limits.poll_seconds, 0.2))
    see_to(office, _all_duties(None))
    return left


def restart_stranded(engine: Running) -> None:
    """Begin again what has not ended although nobody works on it."""
    for job in requeue_stranded(engine):
        log.warning("job %s was begun again", job)


def see_to(office: Office, duties: Sequence[Duty]) -> None:
    """Do everything that is due; a duty that goes wrong does not keep the others from being done."""
    for duty in duties:
        try:
            duty(office)
        except Exception:  # one duty that fails must not keep the others from being done
            log.exception("a duty of the worker failed and is done again: %s", getattr(duty, "__name__", duty))


def _all_duties(duties: Sequence[Duty] | None) -> Sequence[Duty]:
    if duties is not None:
        return duties
    known: Sequence[Duty] = import_module(DUTIES).all_duties()
    return known


class _Pulse:
    """A sign of life; then the dead are looked for."""

    def __init__(self, engine: Running) -> None:
        self.engine, self.suspected = engine, set[str]()
        self.watch = Watch(engine.office.settings.limits.silent_seconds)

    def __call__(self) -> None:
        with self.engine.office.writing() as session:
            session.get_one(Worker, self.engine.executor).seen = database_time(session)
        for job in take_over(self.engine, self.watch):
            log.warning("job %s was taken over from a worker that is gone", job)
        self.suspected = lost_here(self.engine, self.suspected)


class _Duties:
    """Everything that is due now and then."""

    def __init__(self, engine: Running, duties: Sequence[Duty]) -> None:
        self.engine, self.duties = engine, duties

    def __call__(self) -> None:
        restart_stranded(self.engine)
        sweep(self.engine.office)
        see_to(self.engine.office, self.duties)


class _Rounds:
    """A thread that does something again and again until it is stopped."""

    def __init__(self, name: str, seconds: float, work: Callable[[], None]) -> None:
        self.seconds, self.work, self.stopped = seconds, work, threading.Event()
        self.thread = threading.Thread(target=self._go_round, name=f"basanite-{name}", daemon=True)
        self.thread.start()

    def _go_round(self) -> None:
        while not self.stopped.wait(self.seconds):
            try:
                self.work()
            except Exception:  # a thread that ends here would never be started again
                log.exception("%s failed and is done again", self.thread.name)

    def stop(self) -> None:
        """Stop after the round that is on."""
        self.stopped.set()
        self.thread.join(30)


def sweep(office: Office) -> None:
    """Throw away what killed workers and servers left behind: folders of children, boxes, files that got no name."""
    clear_left_behind()
    oldest = time.time() - 3600 * SCRATCH_HOURS - office.settings.limits.seconds
    for place in (office.settings.data / "scratch", office.files.folder / "fresh", office.sealed.folder / "fresh"):
        for left in place.iterdir() if place.is_dir() else ():
            _throw_away(left, oldest)


def _throw_away(left: Path, oldest: float) -> None:
    """Unless it was changed of late, or somebody else was quicker."""
    with suppress(FileNotFoundError):
        if left.lstat().st_mtime >= oldest:
            return
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink()
