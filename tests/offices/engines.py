"""Where the offices of tests lie: on SQLite and local disk, or all of them on PostgreSQL and in an object store.

One switch moves every test that opens an office: `BASANITE_TESTS_ON=postgres+s3` (or one of the two alone). Nothing but
this module reads it. A data folder that is placed elsewhere says in a small file where; a copy of such a folder gets
copies of its own of the database and of the objects, as a copied SQLite file would be one (P-15).
"""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.offices.postgres import Postgres, name_in, postgres

from basanite.campaign.office import Clock, Office, utc_now
from basanite.campaign.settings import Settings, Storage
from basanite.campaign.store.files import Files
from basanite.campaign.store.objects import Bucket
from basanite.testing.season import Places

SHARED = ("all-files", "all-sealed")
"""Two buckets of which each office takes a part: making buckets takes time."""


@dataclass(frozen=True)
class ObjectStore:
    """A running store."""

    endpoint: str
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @cached_property
    def client(self) -> Any:
        """What speaks to it for the tests."""
        import boto3

        secrets = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **secrets)

    def fresh(self) -> Storage:
        """Settings with two buckets of their own."""
        number = next(self._numbers)
        for name in ("files", "sealed"):
            self.client.create_bucket(Bucket=f"{name}-{number}")
        return self._settings(f"s3://files-{number}/season", f"s3://sealed-{number}")

    def part(self) -> Storage:
        """Settings with parts of two buckets that all share; it takes no call."""
        number = next(self._numbers)
        files, sealed = self._shared_buckets
        return self._settings(f"s3://{files}/{number}", f"s3://{sealed}/{number}")

    def fill(self, address: str, folder: Path) -> None:
        """Put the files of a folder of copies at an address, under the names that they have there."""
        bucket, prefix = _parts(address)
        for path in sorted(folder.glob("??/*")):
            self.client.put_object(
                Bucket=bucket, Key=f"{prefix}/{path.parent.name}/{path.name}", Body=path.read_bytes()
            )

    def empty(self, storage: Storage) -> None:
        """Throw away everything at the addresses of an office."""
        for bucket, prefix in map(_parts, (storage.files, storage.sealed)):
            for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/"):
                if keys := [{"Key": one["Key"]} for one in page.get("Contents", ())]:
                    self.client.delete_objects(Bucket=bucket, Delete={"Objects": keys})

    @cached_property
    def _shared_buckets(self) -> tuple[str, str]:
        for name in SHARED:
            self.client.create_bucket(Bucket=name)
        return SHARED

    def _settings(self, files: str, sealed: str) -> Storage:
        return Storage(
            files=files,
            sealed=sealed,
            endpoint=self.endpoint,
            region="us-east-1",
            key_id="test",
            secret="test",
            plain_http=True,
        )


def _parts(address: str) -> tuple[str, str]:
    """The bucket and the prefix of an address."""
    split = urlsplit(address)
    return split.netloc, split.path.strip("/")


@contextmanager
def object_store(address: str = "127.0.0.1") -> Iterator[ObjectStore]:
    """A store that ends with the block, on loopback or at an address of this machine."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address=address, port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield ObjectStore(f"http://{host}:{port}")
    finally:
        server.stop()


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
    from basanite.campaign.store.schema import make_tables

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
        _placed[data] = _copy_place(data) if (data / NOTE).exists() else _fresh(tables=True)
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        (data / NOTE).write_text(json.dumps(str(data)), encoding="utf-8")
    return _placed[data]


def settings_of(data: Path) -> dict[str, Any]:
    """The settings that say where the office of a data folder lies."""
    return place(data).settings()


Places.settings_of = settings_of


def empty_place(data: Path) -> Place:
    """Where the test itself makes an office: a database without tables, and no folder yet."""
    data = data.resolve()
    if not chosen() or (data / NOTE).exists():
        return place(data)
    if data not in _placed:
        _placed[data] = _fresh(tables=False)
    return _placed[data]


def _fresh(*, tables: bool) -> Place:
    database = database_server().fresh(template() if tables else "template0") if "postgres" in chosen() else ""
    return Place(database, bucket_server().part() if "s3" in chosen() else Storage())


def _copy_place(data: Path) -> Place:
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
