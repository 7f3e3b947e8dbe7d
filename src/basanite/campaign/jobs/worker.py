"""A worker: runs jobs, gives signs of life, takes over from the dead, and looks after what is due.

Used by `basanite worker` in processes of their own, and by `basanite serve` in its own process. Each duty is done by
whoever comes first and again at the next round: done twice, it changes nothing.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Final

from basanite.campaign.jobs import pulse
from basanite.campaign.jobs.engine import Running, launched
from basanite.campaign.jobs.queue import client
from basanite.campaign.office import Office
from basanite.harness.sandbox.places import clear_left_behind

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
    with launched(office, patience=PATIENCE) as engine:
        pulse.begin(engine)
        restart_stranded(engine)  # at once: after a restore nothing waits in the queue, and much may be unfinished
        rounds = [
            _Rounds("pulse", office.settings.limits.silent_seconds / pulse.BEATS, _Pulse(engine)),
            _Rounds("duties", office.settings.limits.duty_seconds, _Duties(engine, _known(duties))),
        ]
        try:
            yield engine
        finally:
            for one in rounds:
                one.stop()
            pulse.end(engine)


def until_idle(office: Office, seconds: float) -> int:
    """Wait until no job is left, or the time is over; gives how many are left."""
    end = time.monotonic() + seconds
    while (left := pulse.jobs_left(client(office))) and time.monotonic() < end:
        time.sleep(min(office.settings.limits.poll_seconds, 0.2))
    see_to(office, _known(None))
    return left


def restart_stranded(engine: Running) -> None:
    """Begin again what has not ended although nobody works on it."""
    for job in pulse.restart_stranded(engine):
        log.warning("job %s was begun again", job)


def see_to(office: Office, duties: Sequence[Duty]) -> None:
    """Do everything that is due; a duty that goes wrong does not keep the others from being done."""
    for duty in duties:
        try:
            duty(office)
        except Exception:
            log.exception("a duty of the worker failed and is done again: %s", getattr(duty, "__name__", duty))


def _known(duties: Sequence[Duty] | None) -> Sequence[Duty]:
    if duties is not None:
        return duties
    known: Sequence[Duty] = import_module(DUTIES).all_duties()
    return known


class _Pulse:
    """A sign of life; then the dead are looked for."""

    def __init__(self, engine: Running) -> None:
        self.engine, self.suspected = engine, set[str]()
        self.watch = pulse.Watch(engine.office.settings.limits.silent_seconds)

    def __call__(self) -> None:
        pulse.beat(self.engine)
        for job in pulse.take_over(self.engine, self.watch):
            log.warning("job %s was taken over from a worker that is gone", job)
        self.suspected = pulse.lost_here(self.engine, self.suspected)


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
            except Exception:
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
