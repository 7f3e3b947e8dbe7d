"""Offices that begin as a copy: of an empty one, and of one in which the same was done before.

To put a small season in an office takes twenty times as long as to copy one, and a thousand tests begin with one.
Copies are taken where a clock stands still and everything lies in the office's own folder, on SQLite; elsewhere
everything is done again.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import sqlite3
from collections.abc import Callable, Hashable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import func, select
from tests.offices.engines import chosen, copied_office
from tests.offices.shared_engines import share_compiled_statements

from basanite.campaign.jobs import queue
from basanite.campaign.office import Clock, Office, utc_now
from basanite.campaign.store.tables import Event, Person
from basanite.testing import Season, SetClock, season, small_campaign_text, small_office

DATABASE = "basanite.sqlite"
PLACES = {"data", "vault", "database", "drop", "proxies"}
"""Settings that leave no trace in a season."""

share_compiled_statements()
_copies: dict[Hashable, tuple[Path, Any]] = {}


@functools.cache
def _folder() -> Path:
    kept = TemporaryDirectory(prefix="basanite-prepared-")
    atexit.register(kept.cleanup)
    return Path(kept.name)


@functools.cache
def empty_data(jobs: bool = True) -> Path:
    """The data folder of an office in which nothing has happened, with all tables made: those of the jobs too."""
    office = small_office(_folder() / f"empty-{jobs}")
    if jobs:
        queue.prepare(office.database.url)
    office.close()
    return office.settings.data


def fresh_office(folder: Path, clock: Clock = utc_now, *, jobs: bool = True, **settings: Any) -> Office:
    """The same as `small_office`, by copying one that was made before: making tables takes most of a test's time."""
    return copied_office(empty_data(jobs), folder, clock, **settings)


def done_once(office: Office, what: Hashable, do: Callable[[Office], Any]) -> Any:
    """Do something in an office; where it was done in one like it before, copy what came of it. Gives what `do` gave.

    What it gives must be of use in every such office: names and ids. `what` says everything that it depends on
    besides the office.
    """
    like = _likeness(office)
    if like is None:
        return do(office)
    if (like, what) not in _copies:
        given = do(office)
        _copies[like, what] = _kept(office, _folder() / f"{len(_copies)}"), given
        return given
    place, given = _copies[like, what]
    office.database.close()
    for name in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
        (office.settings.data / name).unlink(missing_ok=True)
    shutil.copytree(place / "data", office.settings.data, dirs_exist_ok=True)
    shutil.copytree(place / "vault", office.settings.vault_folder, dirs_exist_ok=True)
    return given


def small_season(office: Office, text: str | None = None) -> Season:
    """The small season in an office, as `basanite.testing.season` puts it there."""
    written = text or small_campaign_text()
    return done_once(office, ("season", written), lambda into: season(into, written))


def _likeness(office: Office) -> Hashable:
    """What decides what comes of acts in an office; None where they are to be done for real."""
    data, said = office.settings.data, office.settings
    if chosen() or not isinstance(office.clock, SetClock) or not office.database.is_sqlite:
        return None
    if office.database.engine.url.database != str(data / DATABASE) or said.storage.files or said.storage.sealed:
        return None
    secrets = _secrets(said.vault_folder)
    if (data / "files").exists() or secrets not in map(_secrets_of_empty, (True, False)):
        return None
    with office.reading() as session:
        if session.scalar(select(func.count()).select_from(Event)) or session.scalar(select(Person.id).limit(1)):
            return None
    return office.clock().isoformat(), secrets, said.model_dump_json(exclude=PLACES)


@functools.cache
def _secrets_of_empty(jobs: bool) -> tuple[tuple[str, bytes], ...]:
    """An office that was not copied from an empty one has secrets of its own, and is left alone."""
    data = empty_data(jobs)
    return _secrets(data.with_name(f"{data.name}-vault"))


def _secrets(vault: Path) -> tuple[tuple[str, bytes], ...]:
    return tuple((path.name, path.read_bytes()) for path in sorted(vault.rglob("*")) if path.is_file())


def _kept(office: Office, place: Path) -> Path:
    """A copy of an office as it is, while others may go on in it."""
    leave_out = shutil.ignore_patterns(f"{DATABASE}*")
    shutil.copytree(office.settings.data, place / "data", ignore=leave_out)
    shutil.copytree(office.settings.vault_folder, place / "vault")
    source = sqlite3.connect(office.settings.data / DATABASE)
    with closing(source), closing(sqlite3.connect(place / "data" / DATABASE)) as copy:
        source.backup(copy)
    return place
