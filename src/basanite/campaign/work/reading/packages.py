"""Reading packages of a campaign: checked in the limited child, kept sealed, found by name, read as plain data."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from basanite.campaign.actions import plans
from basanite.campaign.jobs.scoring_process import Given
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.roles import require_organiser
from basanite.campaign.store.files import Files
from basanite.campaign.store.tables import ReadingPackage
from basanite.campaign.work.lookup import log_event
from basanite.campaign.work.reading.child import read_bindings
from basanite.campaign.work.reading.fulltext import Index, Text, index
from basanite.campaign.work.reading.process import Order, read_output, run_reading_child
from basanite.formats.archives.output import write_archive
from basanite.formats.bounded import check_regular, read_bounded
from basanite.metrics.answers import Bindings
from basanite.reading.patterns import Prefixes

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
        with run_reading_child(office, order) as outcome:
            index = read_output(outcome, "index.json")
            kept = {name: office.sealed.take(outcome.out / name).digest for name in ("package.tgz", "open.tgz")}
            digest = office.sealed.put(json.dumps(index, ensure_ascii=False).encode()).digest
    facts = (index["name"], index["version"], index["title"], tuple(index["parts"]))
    return Prepared(kept["package.tgz"], kept["open.tgz"], digest, *facts)


@contextmanager
def _archive(office: Office, path: Path) -> Iterator[Path]:
    """The package as one archive, in a folder beside the sealed files if it has to be packed."""
    with tempfile.TemporaryDirectory(dir=office.sealed.scratch) as name:
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
        words = f"{prepared.name} {prepared.version} is already in this campaign"
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
    facts = {"name": row.name, "version": row.version, "window": row.window}
    log_event(session, office, actor, row, f"reading.package_{what}", **facts)


IN_MEMORY: Final = 4
"""Packages whose texts are held at a time."""


@dataclass(frozen=True)
class Document:
    """A text of the corpus."""

    name: str
    part: str
    text: str


@dataclass(frozen=True)
class Asked:
    """A query as people and programs are asked it."""

    id: str
    type: str
    question: str
    variables: tuple[str, ...]
    literals: frozenset[str]
    """The variables whose values are numbers, dates or other literals; all others are things with names."""
    part: str
    """The part that it is asked of; "" for every part."""
    lines: tuple[str, ...]
    capabilities: tuple[str, ...]
    labels: Mapping[str, str]
    """What people call the things that variables stand for."""
    ranges: Mapping[str, str]
    """What its variables stand for, as far as the ontology knows: `thing` or a type of values."""
    generated: bool = False
    """Whether it comes from the ontology and stands in no file of the package."""


@dataclass(frozen=True)
class GoldLine:
    """An answer of the gold that the package came with."""

    query: str
    document: str
    bindings: Bindings
    kind: str
    verdict: str
    line: str
    """As it stands in its file."""


@dataclass(frozen=True)
class Corpus:
    """All of a package that is shown to people."""

    documents: Mapping[str, Document]
    queries: Mapping[str, Asked]
    sealed: frozenset[str]
    """The names of sealed parts."""
    gold: Mapping[str, tuple[GoldLine, ...]]
    """The versions of the gold that the package came with, oldest first."""
    prefixes: Prefixes

    @cached_property
    def index(self) -> Index:
        """The texts, to be searched."""
        return index([Text(one.name, one.part, one.text) for one in self.documents.values()])

    def parts(self, *, sealed: bool) -> frozenset[str]:
        """The parts that may be looked at, sealed ones only if so."""
        every = frozenset(one.part for one in self.documents.values())
        return every if sealed else every - self.sealed

    def document(self, name: str, *, sealed: bool) -> Document:
        """A text; one that may not be seen does not exist."""
        found = self.documents.get(name)
        if found is None or (found.part in self.sealed and not sealed):
            raise missing("document")
        return found


def corpus(office: Office, package: ReadingPackage) -> Corpus:
    """The texts and queries of a package; refused where they stayed behind when the campaign was exported (X-15)."""
    if not office.sealed.has(package.index_digest):
        fix = "export the campaign with its references, or add the package again"
        raise refused("X-15", "the sealed files of this package are not on this server", fix, status=409)
    return _read(office.sealed, package.index_digest)


@lru_cache(maxsize=IN_MEMORY)
def _read(files: Files, digest: str) -> Corpus:
    data = json.loads(files.read(digest))
    return Corpus(
        {one["name"]: Document(**one) for one in data["documents"]},
        {one["id"]: _query(one) for one in data["queries"]},
        frozenset(data["sealed"]),
        {name: tuple(map(_gold, lines)) for name, lines in data["gold"].items()},
        Prefixes(data["namespace"], data["prefixes"]),
    )


def _query(one: Mapping[str, Any]) -> Asked:
    return Asked(
        one["id"],
        one["type"],
        one["question"],
        tuple(one["variables"]),
        frozenset(one["literals"]),
        one["part"],
        tuple(one["lines"]),
        tuple(one["capabilities"]),
        one["labels"],
        one.get("ranges", {}),  # packages that were added before answers were read by their ranges have none
        one["generated"],
    )


def _gold(one: Mapping[str, Any]) -> GoldLine:
    return GoldLine(
        one["query"], one["document"], read_bindings(one["bindings"]), one["kind"], one["verdict"], one["line"]
    )
