"""What runs beside the calls of a server, each in a thread of its own: worker, uploads, drop folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from basanite.campaign.office import Office
from basanite.server.faults import note_fault

LOOK_SECONDS = 2.0
"""How often the drop folder is looked into (X-12)."""
PATIENCE_SECONDS = 60.0
Work = Callable[[Office, threading.Event], None]


@contextmanager
def running(office: Office, *, worker: bool) -> Iterator[None]:
    """Run what is wanted until the block ends; then let each end in good order."""
    wanted: list[Work] = [warm_up, look_after_uploads]
    wanted += [watch_drops] if office.settings.drop is not None else []
    wanted += [work] if worker else []
    with _all_running(office, wanted):
        yield


@contextmanager
def _all_running(office: Office, wanted: list[Work]) -> Iterator[None]:
    stop = threading.Event()
    threads = [
        threading.Thread(target=_guarded, args=(one, office, stop), name=one.__name__, daemon=True) for one in wanted
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)


def _guarded(work: Work, office: Office, stop: threading.Event) -> None:
    try:
        work(office, stop)
    except Exception as error:  # noqa: BLE001 - the server answers on; health and the doctor tell that nobody works
        note_fault(error)


def work(office: Office, stop: threading.Event) -> None:
    """Run jobs. The engine of jobs must not be started where an event loop runs, so it has a thread of its own."""
    from basanite.campaign.jobs.worker import run

    run(office, stop)


def warm_up(office: Office, stop: threading.Event) -> None:
    """Load what asks for jobs, which takes a second: not the first who submits shall wait for it."""
    from basanite.campaign.jobs.queue import client

    client(office)


def look_after_uploads(office: Office, stop: threading.Event) -> None:
    """Say that this process is at what it receives, and see to what dead ones left: at the start first (X-21)."""
    from basanite.campaign.intake import holds, recovery

    limits, looked = office.settings.limits, float("-inf")
    pause = limits.silent_seconds / holds.BEATS
    while True:
        try:
            holds.beat(office)
            if time.monotonic() - looked >= limits.duty_seconds:
                recovery.recover(office)
                looked = time.monotonic()
        except Exception as error:  # noqa: BLE001 - the database may be away for a while
            note_fault(error)
        if stop.wait(pause):
            return


def watch_drops(office: Office, stop: threading.Event) -> None:
    """Look into the drop folder again and again."""
    from basanite.campaign.intake.drop_folder import look

    while not stop.wait(LOOK_SECONDS):
        try:
            look(office)
        except Exception as error:  # noqa: BLE001 - one bad look must not close the door for good
            note_fault(error)
