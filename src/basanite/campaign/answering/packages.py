"""Reading packages of a campaign: checked in the limited child, kept sealed, and found by id or name (R-7, R-23)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.answering.running import Order, told, worked
from basanite.campaign.jobs.running import Given
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.organising import plans
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store import events
from basanite.campaign.store.tables import ReadingPackage
from basanite.formats.archives.repair import write_archive
from basanite.formats.bounded import check_regular, read_bounded

LARGEST_FILE = 64 * 2**20


@dataclass(frozen=True)
class Prepared:
    """A package that was checked and taken in; nothing of it is in a campaign yet."""

    digest: str
    open_digest: str
    index_digest: str
    name: str
    version: str
    title: str
    parts: tuple[dict[str, Any], ...]


def prepare(office: Office, path: Path) -> Prepared:
    """Check a package folder or archive in the child, and keep it among the sealed files; problems refuse it."""
    with _archive(office, path) as archive:
        order = Order("prepare", "", {"package": Given("package.tgz", archive)}, sealed=True, patient=True)
        with worked(office, order) as outcome:
            index = told(outcome, "index.json")
            kept = {name: office.sealed.take(outcome.out / name).digest for name in ("package.tgz", "open.tgz")}
            digest = office.sealed.put(json.dumps(index, ensure_ascii=False).encode()).digest
    facts = (index["name"], index["version"], index["title"], tuple(index["parts"]))
    return Prepared(kept["package.tgz"], kept["open.tgz"], digest, *facts)


@contextmanager
def _archive(office: Office, path: Path) -> Iterator[Path]:
    """The package as one archive, in a folder beside the sealed files if it has to be packed."""
    folder = office.sealed.folder / "fresh"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        if path.is_dir():
            packed = Path(name) / "package.tgz"
            write_archive(_members(path), packed, source=path)
            yield packed
        else:
            check_regular(path)
            yield path


def _members(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            yield path.relative_to(folder).as_posix(), read_bounded(path, LARGEST_FILE)


def add(
    session: Session, office: Office, actor: Actor, campaign_id: str, prepared: Prepared, *, window: str = ""
) -> ReadingPackage:
    """Put a prepared package into a campaign; with a window, formal tasks can be made from it."""
    require_organiser(session, actor, campaign_id)
    if window:
        plans.find_window(plans.current(session, campaign_id).campaign, window)
    same = select(ReadingPackage).where(
        ReadingPackage.campaign_id == campaign_id,
        ReadingPackage.name == prepared.name,
        ReadingPackage.version == prepared.version,
    )
    if session.scalars(same.limit(1)).first() is not None:
        words = f"{prepared.name} {prepared.version} is in this campaign already"
        raise refused("R-7", words, "give the new one another version in package.toml", status=409)
    row = ReadingPackage(
        campaign_id=campaign_id,
        name=prepared.name,
        version=prepared.version,
        title=prepared.title,
        window=window,
        digest=prepared.digest,
        open_digest=prepared.open_digest,
        index_digest=prepared.index_digest,
        parts=list(prepared.parts),
        made=office.clock(),
        by=actor.id,
    )
    session.add(row)
    session.flush()
    _log(session, office, actor, row, "added")
    return row


def withdraw(session: Session, office: Office, actor: Actor, campaign_id: str, package_id: str) -> ReadingPackage:
    """Take a package out of use; what was made from it stays."""
    require_organiser(session, actor, campaign_id)
    row = find(session, campaign_id, package_id)
    row.state = "withdrawn"
    _log(session, office, actor, row, "withdrawn")
    return row


def find(session: Session, campaign_id: str, package_id: str) -> ReadingPackage:
    """A package by its id, or by its name: then the newest that is in use; the only one needs no name."""
    if not package_id:
        return _only(session, campaign_id)
    newest = (
        select(ReadingPackage)
        .where(ReadingPackage.campaign_id == campaign_id, ReadingPackage.name == package_id)
        .where(ReadingPackage.state == "active")
        .order_by(ReadingPackage.made.desc(), ReadingPackage.id)
    )
    row = session.get(ReadingPackage, package_id) or session.scalars(newest.limit(1)).first()
    if row is None or row.campaign_id != campaign_id:
        raise missing("package")
    return row


def _only(session: Session, campaign_id: str) -> ReadingPackage:
    known = packages(session, campaign_id)
    if len(known) != 1:
        fix = f"name it: package={' or '.join(one.name for one in known)}" if known else "ask the evaluation team"
        words = "there are several packages" if known else "there is no package"
        raise refused("R-23", words, fix, status=404)
    return known[0]


def packages(session: Session, campaign_id: str) -> tuple[ReadingPackage, ...]:
    """The packages in use, by name."""
    question = select(ReadingPackage).where(ReadingPackage.campaign_id == campaign_id, ReadingPackage.state == "active")
    return tuple(session.scalars(question.order_by(ReadingPackage.name, ReadingPackage.version)))


def whole(office: Office, package: ReadingPackage) -> Given:
    """The whole package, for work of the evaluation team."""
    return Given("package.tgz", office.sealed.path(package.digest), office.sealed)


def without_sealed(office: Office, package: ReadingPackage) -> Given:
    """The package without its sealed parts, for work of a team: nothing else ever enters such a child."""
    return Given("package.tgz", office.sealed.path(package.open_digest), office.sealed)


def _log(session: Session, office: Office, actor: Actor, row: ReadingPackage, what: str) -> None:
    events.record(
        session,
        f"reading.package_{what}",
        at=office.clock(),
        actor=actor.id,
        subject=row.id,
        campaign_id=row.campaign_id,
        data={"name": row.name, "version": row.version, "window": row.window},
    )
