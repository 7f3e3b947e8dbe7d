"""What could keep a server from working, found before somebody else finds it; each finding has its cure."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Literal

from sqlalchemy import inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from basanite.campaign.jobs.scoring_process import start_fault
from basanite.campaign.office import Office, utc_now
from basanite.campaign.store import schema
from basanite.campaign.store.personal import keys_are_missing
from basanite.campaign.store.tables import Base, Event, Worker
from basanite.clusters.address import Cluster
from basanite.clusters.executor import workers_at
from basanite.errors import BasaniteError
from basanite.sandbox.runner import capability
from basanite.server.connections import knock
from basanite.server.connections import open_doors as listening_doors
from basanite.server.telemetry import alive_workers

State = Literal["good", "note", "bad"]
LOW_SPACE, NO_SPACE = 20 * 2**30, 2**30
SKEW = timedelta(seconds=30)
MAIL_SECONDS = 5.0
LISTEN_SAFELY = (
    "set a certificate ([tls] certificate and key), or a proxy with https before it (proxies and address), "
    "or serve this machine alone (--host 127.0.0.1); then start it again without --plain-http"
)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: how it is, and what to do if it is bad."""

    name: str
    state: State
    words: str
    cure: str = ""


def examine(office: Office) -> list[Finding]:
    """Look at everything a season needs; a check that breaks is itself a finding."""
    return [_run_check(name, check, office) for name, check in CHECKS.items()]


def _run_check(name: str, check: Callable[[Office], Finding], office: Office) -> Finding:
    try:
        return check(office)
    except (OSError, SQLAlchemyError) as error:
        return Finding(name, "bad", f"{type(error).__name__}: {_first_line(error)}", "see the settings of this part")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


def settings(office: Office) -> Finding:
    """Whether what was set can be meant."""
    loopback = "//127." in office.address or "//localhost" in office.address
    if office.settings.demo:
        return Finding("settings", "note", "this is a demo: its passwords are known", "never serve it to others")
    if office.address.startswith("http:") and not loopback:
        words = f"people reach it at {office.address}, without encryption"
        return Finding("settings", "bad", words, "put a proxy with https before it, and set `address`")
    if office.address.startswith("https:") and not (office.settings.proxies or office.settings.tls.certificate):
        words = "no proxy is set: all calls seem to come from it, and share one limit on wrong passwords"
        return Finding("settings", "note", words, 'name it: proxies = ["127.0.0.1"]')
    return Finding("settings", "good", f"people reach it at {office.address}")


def database(office: Office) -> Finding:
    """Whether the database answers."""
    with office.reading() as session:
        session.execute(text("SELECT 1"))
    return Finding("database", "good", office.database.engine.dialect.name)


def tables(office: Office) -> Finding:
    """Whether the tables are those of this version."""
    there = set(inspect(office.database.engine).get_table_names())
    missing = sorted(set(Base.metadata.tables) - there)
    if not there & set(Base.metadata.tables):
        return Finding("tables", "note", "no tables yet", "`basanite serve` creates them at its first start")
    found, newest = schema.version(office.database), schema.newest()
    try:
        schema.refuse_newer(office.database)
    except schema.SchemaError:
        words = f"the tables are of version {found}, which is newer than this program ({newest})"
        return Finding("tables", "bad", words, "update Basanite")
    if missing or found != newest:
        words = f"the tables are of version {found or 'unknown'}, and this program needs {newest}"
        return Finding("tables", "bad", words, "back up, then start `basanite serve` of this version once")
    return Finding("tables", "good", f"version {newest}")


def files(office: Office) -> Finding:
    """Whether files can be written."""
    for folder in (office.settings.data, office.files.folder, office.sealed.folder):
        place = _existing(folder)
        if not os.access(place, os.W_OK | os.X_OK):
            return Finding("files", "bad", f"{folder} cannot be written", "give the folder to the user of the server")
    return Finding("files", "good", str(office.settings.data))


def _existing(path: Path) -> Path:
    return next(place for place in (path, *path.resolve().parents) if place.exists())


def storage(office: Office) -> Finding:
    """Where files lie, and whether the object store answers."""
    buckets = [files.remote for files in (office.files, office.sealed) if files.remote is not None]
    if not buckets:
        return Finding("storage", "good", f"files lie on this machine, in {office.settings.data}")
    from obstore.exceptions import BaseError

    for bucket in buckets:
        try:
            next(iter(bucket.names()), None)
        except (BaseError, OSError) as error:
            words = f"the object store does not answer: {_first_line(error)}"
            return Finding("storage", "bad", words, "check [storage]: endpoint, buckets and credentials")
    if office.sealed.remote is None:
        words = "files lie in an object store, references on this machine alone"
        return Finding("storage", "note", words, "name a bucket in storage.sealed, or score on this machine only")
    return Finding("storage", "good", "files and references lie in an object store that answers")


def cluster(office: Office) -> Finding:
    """Whether the cluster that commands on this machine would use may be used, and works; no job of a season does."""
    address, folder = (os.environ.get(name, "") for name in ("BASANITE_CLUSTER", "BASANITE_CLUSTER_TLS"))
    if not address:
        return Finding("cluster", "good", "none is set: heavy work runs on this machine")
    try:
        count = workers_at(Cluster.of(address, Path(folder) if folder else None))
    except BasaniteError as error:
        return Finding("cluster", "bad", str(error), "fix BASANITE_CLUSTER, or remove it")
    if not count:
        return Finding("cluster", "bad", f"{address} has no workers", f"start some: dask worker {address} --nthreads 1")
    return Finding("cluster", "good", f"{address} answers, workers: {count}")


def vault(office: Office) -> Finding:
    """Whether nobody else can read the keys."""
    folder = office.vault.folder
    with office.reading() as session:
        if keys_are_missing(session, office.vault):
            cure = 'put their vault there, or name its folder: vault = "..."'
            return Finding("vault", "bad", f"the keys of the people in the database are not in {folder}", cure)
    if office.vault.is_empty():
        return Finding("vault", "note", "no keys yet", "they are created when they are first needed")
    keys, data = folder.resolve(), office.settings.data.resolve()
    if data.is_relative_to(keys) and data != keys:
        cure = 'stop server and workers, move the keys to a folder of their own, and name that one: vault = "..."'
        return Finding("vault", "bad", f"{folder} also holds the data folder: one copy holds data and keys", cure)
    open_ones = [path for path in _inside(folder) if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if open_ones:
        cure = f"chmod -R go= {folder}"
        return Finding("vault", "bad", f"others can read {len(open_ones)} entries, first {open_ones[0].name}", cure)
    if office.settings.demo:
        return Finding("vault", "good", "that of a demo, in its own folder; only this user can read it")
    if keys.is_relative_to(data):
        cure = f"stop server and workers, then: basanite admin vault move --data {office.settings.data}"
        if office.settings.vault is not None:
            cure = f'stop server and workers, move {folder} to another place, and name that one: vault = "..."'
        return Finding("vault", "bad", "it lies in the data folder: a copy of the data holds the keys", cure)
    return Finding("vault", "good", f"outside the data folder, in {folder}; only this user can read it")


def references(office: Office) -> Finding:
    """Whether a copy of the disk holds readable answer keys."""
    if office.vault.is_empty() or office.settings.demo:
        return Finding("references", "good", "none yet" if office.vault.is_empty() else "those of a demo")
    if office.sealed.lock is not None:
        return Finding("references", "good", "new ones are encrypted on disk")
    words = "references lie on disk without encryption"
    return Finding("references", "note", words, "set encrypt_references = true; older ones: back up and restore")


def listening(office: Office) -> Finding:
    """Whether what is listened on now can be overheard, whatever the settings say."""
    doors = listening_doors(office.settings.data)
    answers = {door: knock(door) for door in doors}
    told = ", ".join(f"{answers[door].scheme or 'nothing'} on {door}" for door in doors)
    public = {door: answer for door, answer in answers.items() if door.public}
    loose = sorted({name for answer in public.values() for name in answer.open_cookies})
    plain = any(answer.scheme == "http" for answer in public.values())
    behind = bool(office.settings.proxies) and office.settings.https
    if loose or (plain and not behind):
        words = f"other machines can reach {told}" + (f"; not Secure: {', '.join(loose)}" if loose else "")
        return Finding("listening", "bad", words, LISTEN_SAFELY)
    if plain:
        cure = "make sure that only the proxy can reach it: --host 127.0.0.1, or a firewall"
        return Finding("listening", "note", f"{told}, behind a proxy that speaks https", cure)
    if not all(answer.scheme for answer in answers.values()):
        return Finding("listening", "note", f"{told}: no answer within seconds", "check again when it is less busy")
    return Finding("listening", "good", told or "no server of this data folder runs on this machine")


def data(office: Office) -> Finding:
    """Whether other users of this machine can look into the data folder, where the database lies."""
    folder = office.settings.data
    if stat.S_IMODE(folder.stat().st_mode) & 0o007:
        return Finding("data", "bad", f"other users of this machine can read {folder}", f"chmod o= {folder}")
    return Finding("data", "good", "other users of this machine cannot read it")


def _inside(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (path for path in folder.rglob("*") if path.name[0] != ".")


def box(office: Office) -> Finding:
    """Whether scoring can be walled in."""
    found = capability()
    if found.mode:
        return Finding("box", "good", f"scoring runs in a sandbox ({found.mode})")
    words = "no sandbox can be created here: scoring runs in a limited child process without network access"
    if office.settings.limits.box == "required":
        words = (
            "no sandbox can be created here: sealed references are not scored, others are scored in a limited child "
            "process"
        )
    return Finding("box", "note", words, "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1")


def scoring(office: Office) -> Finding:
    """Whether the process that scores can start: it has an interpreter, packages and plug-ins of its own to import."""
    fault = start_fault(office)
    if fault:
        cure = "install what is missing for that interpreter, and let the server's user read both places"
        return Finding("scoring", "bad", f"the scoring process cannot start: {fault}", cure)
    return Finding("scoring", "good", "the scoring process starts")


def mail(office: Office) -> Finding:
    """Whether the mail server can be reached; nothing is sent."""
    host, port = office.settings.mail.host, office.settings.mail.port
    if not host:
        words = f"no mail server is set: emails are written to {office.settings.data / 'outbox'}"
        return Finding("mail", "note", words, "set mail.host to send them")
    try:
        socket.create_connection((host, port), MAIL_SECONDS).close()
    except OSError as error:
        return Finding("mail", "bad", f"{host}:{port} does not answer: {error}", "check mail.host and mail.port")
    return Finding("mail", "good", f"{host}:{port} answers")


def space(office: Office) -> Finding:
    """Whether there is room for uploads."""
    free = shutil.disk_usage(_existing(office.settings.data)).free
    words = f"{free / 2**30:.0f} GiB are free"
    if free < NO_SPACE:
        return Finding(
            "space", "bad", words, "free some space, or move `data` to a larger disk: uploads will be rejected soon"
        )
    if free < LOW_SPACE:
        return Finding("space", "note", words, "a campaign with large submissions needs more")
    return Finding("space", "good", words)


def clock(office: Office) -> Finding:
    """Whether the clock agrees with the database's and has not gone back behind the log."""
    ahead = _ahead(office)
    if abs(ahead) > SKEW:
        words = f"the machine's clock is off by {abs(ahead).total_seconds():.0f} s"
        return Finding("clock", "bad", words, "synchronize both machines with a time server")
    return Finding("clock", "good", "in step")


def _ahead(office: Office) -> timedelta:
    """How far the database's clock is ahead of ours; for a file, how far the newest event is in the future."""
    with office.reading() as session:
        if not office.database.is_sqlite:
            now: timedelta = session.execute(text("SELECT now()")).scalar_one() - utc_now()
            return now
        if not inspect(office.database.engine).has_table(Event.__tablename__):
            return timedelta(0)
        newest = session.scalar(select(Event.at).order_by(Event.sequence.desc()).limit(1))
    return max(newest - utc_now(), timedelta(0)) if newest else timedelta(0)


def drop(office: Office) -> Finding:
    """Whether the drop folder is there, if there is to be one."""
    folder = office.settings.drop
    if folder is None:
        return Finding("drop folder", "good", "closed")
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "drop folder", "bad", f"{folder} cannot be used", f"mkdir -p {folder}, owned by the server's user"
        )
    return Finding("drop folder", "good", str(folder))


def workers(office: Office) -> Finding:
    """Whether somebody scores."""
    if not inspect(office.database.engine).has_table(Worker.__tablename__):
        return Finding("workers", "note", "none yet", "`basanite serve` starts one")
    with office.reading() as session:
        here = alive_workers(session, office)
    if not here:
        return Finding("workers", "note", "none has reported recently", "start `basanite worker`, or `serve` with one")
    return Finding("workers", "good", f"{len(here)} at work")


CHECKS: dict[str, Callable[[Office], Finding]] = {
    "settings": settings,
    "database": database,
    "tables": tables,
    "files": files,
    "storage": storage,
    "data": data,
    "vault": vault,
    "references": references,
    "listening": listening,
    "box": box,
    "scoring": scoring,
    "mail": mail,
    "space": space,
    "clock": clock,
    "drop folder": drop,
    "workers": workers,
    "cluster": cluster,
}
