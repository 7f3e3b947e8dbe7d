"""Where the offices of tests lie: on SQLite and local disk, or all of them on PostgreSQL and in an object store.

One switch moves every test that opens an office: `BASANITE_TESTS_ON=postgres+s3` (or one of the two alone). Nothing but
this module reads it. A data folder that is placed elsewhere says in a small file where; a copy of such a folder gets
copies of its own of the database and of the objects, as a copied SQLite file would be one (P-15).
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from basanite.campaign.office import Clock, Office, utc_now
from basanite.campaign.settings import Settings, Storage
from basanite.campaign.store.files import Files
from basanite.campaign.store.objects import Bucket
from basanite.testing.object_store import ObjectStore, object_store
from basanite.testing.postgres import Postgres, name_in, postgres

SWITCH: Final = "BASANITE_TESTS_ON"
NOTE: Final = ".placed.json"
KEPT: Final = ("files", "sealed")
"""The folders whose content lies in buckets, where there are buckets."""

_servers = ExitStack()
atexit.register(_servers.close)
_placed: dict[Path, Place] = {}


@dataclass(frozen=True)
class Place:
    """The settings that say where an office lies; those of a folder alone if nothing is said."""

    database: str = ""
    storage: Storage = field(default_factory=Storage)

    def settings(self) -> dict[str, Any]:
        """Both as settings."""
        return {"database": self.database, "storage": self.storage}

    def environment(self) -> dict[str, str]:
        """Both as the environment of a command; nothing for a folder alone."""
        said = self.storage.model_dump(exclude_defaults=True)
        found = {f"BASANITE_STORAGE__{name.upper()}": str(value) for name, value in said.items()}
        return found | ({"BASANITE_DATABASE": self.database} if self.database else {})


def chosen() -> frozenset[str]:
    """What the offices of tests lie on besides a folder: `postgres`, `s3`, both or nothing."""
    names = frozenset(filter(None, os.environ.get(SWITCH, "").split("+")))
    if unknown := names - {"postgres", "s3"}:
        raise ValueError(f"{SWITCH} cannot be {'+'.join(sorted(unknown))}: write postgres, s3 or postgres+s3")
    return names


def title() -> str:
    """What the offices of tests lie on, in words."""
    parts = ["PostgreSQL" if "postgres" in chosen() else "SQLite", "S3" if "s3" in chosen() else "local files"]
    return " + ".join(parts)


@functools.cache
def database_server() -> Postgres:
    """The one PostgreSQL of this process, started when it is first asked for."""
    return _servers.enter_context(postgres())


@functools.cache
def bucket_server() -> ObjectStore:
    """The one object store of this process."""
    return _servers.enter_context(object_store())


@functools.cache
def template() -> str:
    """The name of a database with all tables, which others begin as a copy of: making tables takes seconds."""
    from basanite.campaign.jobs.queue import prepare
    from basanite.campaign.store.database import Database
    from basanite.campaign.store.migrating import make_tables

    url = database_server().fresh()
    database = Database(url)
    make_tables(database)
    database.close()
    prepare(url)
    return name_in(url)


def place(data: Path) -> Place:
    """Where the office of a data folder lies: where it was put before, or in a fresh place, or in a copied one."""
    data = data.resolve()
    if not chosen():
        return Place()
    if data not in _placed:
        _placed[data] = _copied(data) if (data / NOTE).exists() else _fresh(tables=True)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / NOTE).write_text(json.dumps(str(data)), encoding="utf-8")
    return _placed[data]


def empty_place(data: Path) -> Place:
    """Where an office is to be made by whoever is tested: a database without tables, and no folder yet."""
    data = data.resolve()
    if not chosen() or (data / NOTE).exists():
        return place(data)
    if data not in _placed:
        _placed[data] = _fresh(tables=False)
    return _placed[data]


def _fresh(*, tables: bool) -> Place:
    database = database_server().fresh(template() if tables else "template0") if "postgres" in chosen() else ""
    return Place(database, bucket_server().part() if "s3" in chosen() else Storage())


def _copied(data: Path) -> Place:
    """A copy of the place that a folder was copied from; nobody may be connected to that."""
    origin = _placed[Path(json.loads((data / NOTE).read_text(encoding="utf-8")))]
    database = database_server().fresh(name_in(origin.database)) if origin.database else ""
    if not origin.storage.files:
        return Place(database)
    storage = bucket_server().part()
    for name in KEPT:
        bucket_server().fill(getattr(storage, name), data / name)
        shutil.rmtree(data / name, ignore_errors=True)  # what is used is fetched, as on a machine that is new
    return Place(database, storage)


def open_office(folder: Path, clock: Clock = utc_now, **settings: Any) -> Office:
    """The office whose data lie in `data/` of a folder, wherever this run of the tests has put it."""
    data = folder / "data"
    return Office.open(Settings(data=data, **(place(data).settings() | settings)), clock)


def copied_office(data: Path, folder: Path, clock: Clock = utc_now, **settings: Any) -> Office:
    """An office that begins as a copy of another one, which is closed."""
    shutil.copytree(data, folder / "data")
    if (vault := data.with_name(f"{data.name}-vault")).exists():
        shutil.copytree(vault, folder / "data-vault")
    return open_office(folder, clock, **settings)


def lose(files: Files, digest: str) -> None:
    """Lose a content, on this machine and in the store, as no program of ours ever does."""
    names = [f"{path.parent.name}/{path.name}" for path in files.folder.glob(f"{digest[:2]}/{digest[2:]}*")]
    for name in names:
        (files.folder / name).unlink()
        if isinstance(files.remote, Bucket):
            files.remote.store.delete(name)


def leave(folder: Path) -> None:
    """Throw away the databases and the objects of all data folders in a folder."""
    for data in list(_inside(folder.resolve())):
        gone = _placed.pop(data)
        if gone.database:
            database_server().drop(gone.database)
        if gone.storage.files:
            bucket_server().empty(gone.storage)


def _inside(folder: Path) -> Iterator[Path]:
    return (data for data in _placed if data.is_relative_to(folder))
