"""The durable engine (DBOS) in this process: which jobs there are, and how it is started and stopped.

One database holds everything, so that a job and what causes it are written together. Each start is an executor of its
own: two processes never believe to be the same one. The engine's own recovery is not used; `pulse` decides from signs
of life in the database whose jobs are taken over, and by whom.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from dbos import DBOS, DBOSClient, DBOSConfig, DBOSPortableJSONSerializer

from basanite.campaign.jobs import comparing, stages
from basanite.campaign.jobs.queue import APPLICATION, QUEUE, jobs_engine, make_client, quiet
from basanite.campaign.office import Office

VERSION: Final = "1"
"""The version of the jobs below, not of the package: it changes only if a job that was begun could not be ended by the
new code. Jobs of another version are not run."""
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


def held() -> Running:
    """The engine of this process; jobs run only while there is one."""
    if _running is None:
        raise RuntimeError("no engine is running in this process")
    return _running


@contextmanager
def launched(office: Office, *, patience: int = 0) -> Iterator[Running]:
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
    running, job = held(), str(DBOS.workflow_id)
    running.jobs.add(job)
    try:
        yield running.office
    finally:
        running.jobs.discard(job)


@DBOS.step(name="validate")
def _validate(submission_id: str) -> dict[str, Any]:
    return stages.validate(held().office, submission_id)


@DBOS.step(name="score")
def _score(submission_id: str, result: dict[str, str] | None) -> str:
    return stages.score(held().office, submission_id, result)


@DBOS.step(name="score_item")
def _score_item(batch_item_id: str) -> str:
    return comparing.score_item(held().office, batch_item_id)


@DBOS.step(name="compare")
def _compare(key: str, campaign_id: str, window: str, purpose: str, subject: dict[str, Any]) -> str:
    return comparing.compare(held().office, key, campaign_id, window, purpose, subject)


@DBOS.workflow(name="process_submission", max_recovery_attempts=NOT_LIMITED)
def process_submission(submission_id: str) -> str:
    """Validate a submission and, if it is valid, score it; gives its final state."""
    with _at_work():
        checked = _validate(submission_id)
        if checked["state"] != "scoring":
            return str(checked["state"])
        return _score(submission_id, checked["result"])


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
