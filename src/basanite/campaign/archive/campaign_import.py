"""A campaign from another server: its history, and nobody's rights (X-15).

The folder or archive is a stranger's: it is read by the one reader of strangers' archives, every row is checked against
its table, no row may speak of anything outside of the campaign, and every file must be what its name says. Persons
become pseudonyms that no local person has. What the old server signed stays verifiable, and is marked foreign.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from basanite.campaign.actions.references import NONCES, commitment
from basanite.campaign.archive.campaign_export import (
    BY_CAMPAIGN,
    CARRIED,
    EXPORT_FORMAT,
    INSIDE,
    MANIFEST,
    NOBODY,
    PERSONS,
    key_of,
)
from basanite.campaign.archive.rows import TABLES, insert, is_digest, row_digests, row_from_line
from basanite.campaign.model.campaign_file import load
from basanite.campaign.model.refusals import RefusedError, refused
from basanite.campaign.office import Actor, Office
from basanite.campaign.people.names import LONGEST, name_problems, skeleton, team_name_problems
from basanite.campaign.store import events, looks
from basanite.campaign.store.tables import Adoption, CampaignRow, ReceiptKey, Reference
from basanite.errors import BasaniteError
from basanite.formats.archives.archive import open_source
from basanite.formats.archives.members import GIB, Limits, Member
from basanite.problems import Findings, visible
from basanite.receipts.signatures import Keyring, PublicKey, moment_of

LIMITS: Final = Limits(member_bytes=GIB, ratio=1000)
FOREIGN: Final = "foreign-"
ON_ITS_WAY: Final = frozenset({"received", "running", "validating", "scoring"})
IMPORTED: Final = " - imported"
NOT_SCORED: Final = "it was imported from another server before it was scored there"


@dataclass(frozen=True)
class Imported:
    """What came in, and what could not be kept."""

    campaign_id: str
    slug: str
    origin: str
    rows: Mapping[str, int]
    files: int
    not_kept: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "campaign": self.slug,
            "files": self.files,
            "id": self.campaign_id,
            "not_kept": list(self.not_kept),
            "origin": self.origin,
            "rows": {name: count for name, count in self.rows.items() if count},
        }


@dataclass
class _Parcel:
    """The parts of an export, as they are read."""

    texts: dict[str, bytes] = field(default_factory=dict)
    stored: dict[str, set[str]] = field(default_factory=lambda: {"files": set(), "sealed": set()})


def import_campaign(office: Office, actor: Actor, path: Path) -> Imported:
    """Import a campaign that another server exported; all of it, or nothing but unused files."""
    parcel = _unpack(office, path)
    manifest = _manifest(parcel)
    rows = {table: _table(parcel, table, manifest) for table in CARRIED}
    _check_inside(rows, manifest["id"])
    try:
        with office.writing() as session:
            return _write_campaign(session, office, actor, parcel, manifest, rows)
    except IntegrityError as error:
        raise _bad("it contains an ID that is already used here", str(error.orig)) from error


def _unpack(office: Office, path: Path) -> _Parcel:
    parcel, findings = _Parcel(), Findings()
    source = open_source(path, limits=LIMITS, depth=2, where="metadata")
    for member in source.members(findings, hashed=False):
        _take(office, parcel, member)
    if not findings.valid or not source.complete:
        raise RefusedError(findings.problems, status=422)
    return parcel


def _take(office: Office, parcel: _Parcel, member: Member) -> None:
    store, _, name = member.name.rpartition("/")
    if store not in parcel.stored:
        parcel.texts[member.name] = member.data
        return
    files = office.sealed if store == "sealed" else office.files
    if not is_digest(name) or hashlib.sha256(member.data).hexdigest() != name:
        raise _bad("a file does not match its digest", member.name)
    files.put(member.data)
    parcel.stored[store].add(name)


def _manifest(parcel: _Parcel) -> dict[str, Any]:
    try:
        manifest = json.loads(parcel.texts[MANIFEST])
        if manifest["format"] != EXPORT_FORMAT:
            raise ValueError(f"its format is {visible(str(manifest['format']))[:40]}, not {EXPORT_FORMAT}")
        for name, digest in manifest["digests"].items():
            if hashlib.sha256(parcel.texts[name]).hexdigest() != digest:
                raise ValueError(f"{visible(name)[:60]} was changed")
        if not all(isinstance(manifest[name], str) for name in ("id", "campaign", "origin")):
            raise ValueError("it does not name its origin")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _bad("this is not a campaign export", str(error)) from error
    return dict(manifest)


def _table(parcel: _Parcel, table: str, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = parcel.texts.get(f"rows/{table}.jsonl", b"")
    try:
        rows = [_local(row_from_line(TABLES[table], line)) for line in content.split(b"\n") if line]
        if len(rows) != manifest["rows"].get(table, 0):
            raise ValueError(f"{table} has {len(rows)} rows, which differs from the export's count")
        for store, digest in (found for row in rows for found in row_digests(table, row)):
            if not is_digest(digest) or store not in ("files", "sealed"):
                raise ValueError(f"{visible(digest)[:80]!r} is not a digest")
    except (BasaniteError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad("its rows cannot be read", str(error)) from error
    return rows


def _local(row: dict[str, Any]) -> dict[str, Any]:
    """Persons of the other server get ids that no local person has: nobody gains a right by an import."""
    for column in PERSONS & set(row):
        if row[column] is not None and row[column] not in NOBODY:
            row[column] = FOREIGN + str(row[column])
    return row


def _check_inside(rows: Mapping[str, list[dict[str, Any]]], campaign_id: str) -> None:
    """Refuse rows that speak of another campaign, or of rows that are not in the export."""
    if [row["id"] for row in rows["campaigns"]] != [campaign_id]:
        raise _bad("it does not hold exactly the campaign that it names", campaign_id)
    known = {table: {row[key_of(table)] for row in rows[table]} for table in CARRIED}
    for table, entries in rows.items():
        for row in entries:
            if table in BY_CAMPAIGN and row["campaign_id"] != campaign_id:
                raise _bad(f"a row of {table} belongs to another campaign", str(row["campaign_id"]))
            for column, other in INSIDE.items():
                if row.get(column) is not None and row[column] not in known[other]:
                    raise _bad(f"a row of {table} refers to something that is not in the export", column)


def _write_campaign(
    session: Session,
    office: Office,
    actor: Actor,
    parcel: _Parcel,
    manifest: dict[str, Any],
    rows: dict[str, list[dict[str, Any]]],
) -> Imported:
    _check_new(session, rows)
    renamed = _check_names(session, office, rows["teams"])
    _prepare(session, parcel, rows)
    counts = {table: insert(session.connection(), TABLES[table], rows[table]) for table in CARRIED}
    looks.recount(session, manifest["id"])
    _keep_keys(session, office, parcel, manifest["origin"])
    _keep_nonces(session, office, parcel, manifest["id"])
    log = office.files.put(parcel.texts.get("log.jsonl", b""))
    data = {"origin": manifest["origin"][:200], "log": log.digest}
    id_ = manifest["id"]
    events.record(
        session, "campaign.imported", at=office.clock(), actor=actor.id, subject=id_, campaign_id=id_, data=data
    )
    files = sum(map(len, parcel.stored.values()))
    not_kept = (*_not_kept(parcel, rows), *renamed)
    return Imported(id_, rows["campaigns"][0]["slug"], manifest["origin"], counts, files, not_kept)


def _check_new(session: Session, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    row = rows["campaigns"][0]
    taken = select(CampaignRow).where((CampaignRow.id == row["id"]) | (CampaignRow.slug == row["slug"]))
    if session.scalar(taken) is not None:
        raise refused("X-15", f"there is already a campaign {row['slug']!r} here", "import it on another server")
    for plan in rows["plans"]:
        load(plan["text"])
        plan["digest"] = hashlib.sha256(plan["text"].encode()).hexdigest()


def _check_names(session: Session, office: Office, teams: list[dict[str, Any]]) -> list[str]:
    """Refuse teams that can be taken for each other; who could be taken for an organizer of ours gets another name."""
    seen: set[str] = set()
    renamed = []
    for row in teams:
        name, row["skeleton"] = row["name"], skeleton(row["name"])
        if row["skeleton"] in seen or list(name_problems(name)):
            raise _bad("a team name is invalid, or looks like another team's", name)
        seen.add(row["skeleton"])
        if list(team_name_problems(session, office, row["campaign_id"], name)):
            row["name"] = f"{name[: LONGEST - len(IMPORTED)]}{IMPORTED}"
            row["skeleton"] = skeleton(row["name"])
            renamed.append(
                f"the team {name!r} is renamed {row['name']!r}: its name could be confused with an organizer's here"
            )
    return renamed


def _prepare(session: Session, parcel: _Parcel, rows: Mapping[str, list[dict[str, Any]]]) -> None:
    """What does not go on here as it was there: work on its way, references without files, numbers of adoptions."""
    for row in rows["submissions"]:
        if row["state"] in ON_ITS_WAY:
            row["state"], row["fault"] = "failed", NOT_SCORED
    for row in rows["references"]:
        if not {digest for _, digest in row_digests("references", row)} <= parcel.stored["sealed"]:
            row["state"] = "superseded" if row["state"] == "active" else row["state"]
    newest = session.scalar(select(func.max(Adoption.sequence))) or 0
    for number, row in enumerate(sorted(rows["adoptions"], key=lambda row: int(row["sequence"])), newest + 1):
        row["sequence"] = number
    if session.get_bind().dialect.name == "postgresql":
        last = newest + len(rows["adoptions"])
        counter = "pg_get_serial_sequence('adoptions', 'sequence')"
        session.execute(text(f"SELECT setval({counter}, :last)"), {"last": max(last, 1)})


def _keep_keys(session: Session, office: Office, parcel: _Parcel, origin: str) -> None:
    """The old server's public keys: they sign nothing here, and what they signed is foreign."""
    ring = Keyring.of(parcel.texts.get("keys.json", b""), "keys.json")
    for key in ring.keys:
        if session.get(ReceiptKey, key.id) is None:
            session.add(_foreign(ring, key, origin, office))
    session.flush()


def _foreign(ring: Keyring, key: PublicKey, origin: str, office: Office) -> ReceiptKey:
    row = ReceiptKey(id=key.id, public=key.public, origin=(key.origin or origin)[:200] or "another server")
    row.start = moment_of(key.start) or office.clock()
    for rotation in ring.rotations:
        if rotation.old == key.id:
            row.ended, row.successor, row.handed_over = moment_of(rotation.at), rotation.new, rotation.signature
    for word in ring.revoked:
        if word.id == key.id:
            row.revoked, row.revoked_by, row.reason = moment_of(word.at), word.by, word.reason
            row.revocation = word.signature
    return row


def _keep_nonces(session: Session, office: Office, parcel: _Parcel, campaign_id: str) -> None:
    """Published nonces come along; a reference that is still sealed is committed to again, under a nonce of ours."""
    nonces = json.loads(parcel.texts.get("nonces.json", b"{}"))
    for row in session.scalars(select(Reference).where(Reference.campaign_id == campaign_id)):
        nonce = nonces.get(row.id)
        if row.released is not None and isinstance(nonce, str) and is_digest(nonce):
            office.vault.keep(NONCES, row.id, bytes.fromhex(nonce))
        else:
            row.commitment = commitment(office, row)
    session.flush()


def _not_kept(parcel: _Parcel, rows: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    yield "accounts, roles, memberships, tokens, acceptances, signed agreements and messages are not part of an export"
    absent = sum(1 for row in rows["references"] if row["state"] == "superseded")
    if absent:
        yield f"{absent} references came without their files, or had been superseded"
    wanted = {pair for table in CARRIED for row in rows[table] for pair in row_digests(table, row)}
    lost = [digest for store, digest in wanted if store == "files" and digest not in parcel.stored["files"]]
    if lost:
        yield f"{len(lost)} referenced files were not in the export"


def _bad(words: str, found: str) -> RefusedError:
    fix = "export it again on the other server, and import that file unchanged"
    return refused("X-15", words, fix, status=422, found=visible(found)[:200])
