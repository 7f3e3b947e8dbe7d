"""A whole campaign as a folder: rows, files, receipts with the public keys, and its part of the event log.

It is for organisers, who see everything in it. References that are still sealed come along only if asked for; keys of
any kind never do, but the nonces of what has been released are public by then (X-1, X-15).
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Select, select
from sqlalchemy.orm import Session

from basanite import __version__
from basanite.campaign.actions.references import NONCES
from basanite.campaign.archive.backup import BackupError, snapshot
from basanite.campaign.archive.rows import TABLES, is_digest, lines, row_digests
from basanite.campaign.jobs.scoring_process import Given, Material, material, scored_file, shared_parts
from basanite.campaign.model.refusals import missing, refused
from basanite.campaign.office import Office
from basanite.campaign.receipts import keyring
from basanite.campaign.results.facts import adopted_results
from basanite.campaign.score_receipts import score_receipts
from basanite.campaign.store.files import Files
from basanite.campaign.store.tables import CampaignRow, Event, Receipt, Reference, Result, Submission
from basanite.receipts.reproduction import FORMAT, ROLES, SINGLE

EXPORT_FORMAT: Final = "basanite-export/1"
MANIFEST: Final = "export.json"
BY_CAMPAIGN: Final = (
    "plans",
    "freezes",
    "deviations",
    "pack_files",
    "teams",
    "resources",
    "submissions",
    "references",
    "batches",
    "boards",
    "releases",
    "certifications",
    "appeals",
    "milestone_states",
    "announcements",
    "questions",
    "downloads",
    "panels",
    "annotation_projects",
    "annotation_configs",
    "annotation_documents",
    "annotation_suggestions",
    "annotation_tasks",
    "annotation_events",
    "annotation_decisions",
    "reading_packages",
    "reading_tasks",
    "reading_runs",
    "reading_effort",
    "reading_uploads",
    "reading_pool",
    "reading_answers",
    "reading_decisions",
    "reading_golds",
    "reading_scores",
    "reading_marks",
)
BY_OTHER: Final[Mapping[str, tuple[str, str]]] = {
    "charges": ("team_id", "teams"),
    "extras": ("team_id", "teams"),
    "results": ("submission_id", "submissions"),
    "adoptions": ("submission_id", "submissions"),
    "batch_items": ("batch_id", "batches"),
    "receipts": ("submission_id", "submissions"),
    "program_runs": ("submission_id", "submissions"),
    "panel_schemes": ("panel_id", "panels"),
    "panel_items": ("panel_id", "panels"),
    "panel_images": ("panel_id", "panels"),
    "panel_assignments": ("panel_id", "panels"),
    "judgements": ("panel_id", "panels"),
    "panel_round_ends": ("panel_id", "panels"),
    "panel_decisions": ("panel_id", "panels"),
    "panel_hidden": ("panel_id", "panels"),
    "crowd_batches": ("panel_id", "panels"),
}
"""Tables without a campaign of their own: by which column they belong to which table."""
CARRIED: Final = tuple(name for name in TABLES if name == "campaigns" or name in BY_CAMPAIGN or name in BY_OTHER)
"""All tables that are carried, those that others refer to first."""
PERSONS: Final = frozenset(
    {
        "added_by",
        "answered_by",
        "by",
        "decided_by",
        "ended_by",
        "executed_by",
        "imported_by",
        "made_by",
        "named_by",
        "person_id",
        "seconded_by",
        "standing_by",
    }
)
"""Columns that hold the id of a person: a pseudonym, here and there (P-21)."""
NOBODY: Final = frozenset({"system", "command"})
INSIDE: Final[Mapping[str, str]] = {
    "team_id": "teams",
    "submission_id": "submissions",
    "reference_id": "references",
    "result_key": "results",
    "batch_id": "batches",
    "appeal_id": "appeals",
    "panel_id": "panels",
    "item_id": "panel_items",
    "assignment_id": "panel_assignments",
    "annotation_project_id": "annotation_projects",
    "annotation_document_id": "annotation_documents",
    "annotation_task_id": "annotation_tasks",
    "reading_package_id": "reading_packages",
    "reading_task_id": "reading_tasks",
    "reading_run_id": "reading_runs",
    "reading_upload_id": "reading_uploads",
    "reading_pool_id": "reading_pool",
}
"""Columns that name a row of another table, which must be carried too: nothing may reach into another campaign."""


def rows_of(table: str, campaign_id: str) -> Select[Any]:
    """The question for the rows of a table that belong to a campaign."""
    columns = TABLES[table].columns
    if table == "campaigns":
        return select(TABLES[table]).where(columns["id"] == campaign_id)
    if table in BY_CAMPAIGN:
        return select(TABLES[table]).where(columns["campaign_id"] == campaign_id)
    column, other = BY_OTHER[table]
    ids = select(TABLES[other].columns["id"]).where(TABLES[other].columns["campaign_id"] == campaign_id)
    return select(TABLES[table]).where(columns[column].in_(ids))


def key_of(table: str) -> str:
    """The column that names a row."""
    return str(next(iter(TABLES[table].primary_key.columns)).name)


@dataclass(frozen=True)
class Exported:
    """What an export holds."""

    campaign: str
    rows: dict[str, int]
    files: int
    references: int
    missing: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {
            "campaign": self.campaign,
            "files": self.files,
            "missing": list(self.missing),
            "references": self.references,
            "rows": {name: count for name, count in self.rows.items() if count},
        }


def export_campaign(office: Office, campaign_id: str, out: Path, *, references: bool = False) -> Exported:
    """Export a campaign to a new folder, or to an archive if the name ends in .tgz."""
    with _fresh(out) as folder, snapshot(office) as connection:
        writer = _Writer(office, connection, campaign_id, folder)
        exported = writer.all(references=references)
        if out.name.endswith(".tgz"):
            _pack_folder(folder)
    return exported


@contextmanager
def _fresh(out: Path) -> Iterator[Path]:
    """A folder that gets its name only when it is whole; for an archive, the archive in it does."""
    if out.exists():
        raise BackupError(f"{out} already exists. Choose another name: files are never overwritten.")
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_name(f".{out.name}.{secrets.token_hex(6)}.part")
    fresh.mkdir(mode=0o700)
    try:
        yield fresh
        (fresh / ".packed" if out.name.endswith(".tgz") else fresh).rename(out)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _pack_folder(folder: Path) -> None:
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    with tarfile.open(folder / ".packed", "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for name in names:
            tar.add(folder / name, name, filter=_plain)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing about the machine or its users."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


class _Writer:
    """An export on its way out."""

    def __init__(self, office: Office, connection: Connection, campaign_id: str, folder: Path) -> None:
        self.office, self.connection, self.campaign_id, self.folder = office, connection, campaign_id, folder
        self.wanted: set[tuple[str, str]] = set()
        self.rows: dict[str, int] = {}

    def all(self, *, references: bool) -> Exported:
        """Write everything, the manifest last."""
        for name in ("rows", "files", "sealed"):
            (self.folder / name).mkdir()
        for table in CARRIED:
            self._table(table)
        with Session(self.connection) as session:
            campaign = session.get_one(CampaignRow, self.campaign_id)
            released = select(Reference).where(
                Reference.campaign_id == self.campaign_id, Reference.released.is_not(None)
            )
            secret = self.office.vault.secret  # nonces of references that were released: what anybody may know by now
            nonces = {row.id: secret(NONCES, row.id).hex() for row in session.scalars(released)}
            (self.folder / "keys.json").write_bytes(keyring(session).as_bytes())
            self._log(session)
        _write(self.folder / "nonces.json", nonces)
        missing = self._files(nonces, references=references)
        counts = {store: len(list((self.folder / store).iterdir())) for store in ("files", "sealed")}
        exported = Exported(campaign.slug, self.rows, counts["files"], counts["sealed"], missing)
        _write(self.folder / MANIFEST, self._manifest(campaign, exported))
        return exported

    def _manifest(self, campaign: CampaignRow, exported: Exported) -> dict[str, Any]:
        texts = [path for path in sorted(self.folder.rglob("*.json*")) if path.is_file()]
        digests = {path.relative_to(self.folder).as_posix(): _sha256(path) for path in texts}
        return exported.as_dict() | {
            "digests": digests,
            "format": EXPORT_FORMAT,
            "id": campaign.id,
            "made": self.office.clock().isoformat(),
            "origin": self.office.address,
            "software": __version__,
        }

    def _table(self, table: str) -> None:
        self.rows[table] = 0
        with (self.folder / "rows" / f"{table}.jsonl").open("wb") as file:
            for line in lines(self.connection, TABLES[table], rows_of(table, self.campaign_id)):
                file.write(line)
                self.rows[table] += 1
                self.wanted.update(row_digests(table, json.loads(line)))

    def _log(self, session: Session) -> None:
        question = select(TABLES["events"]).where(Event.campaign_id == self.campaign_id)
        with (self.folder / "log.jsonl").open("wb") as file:
            file.writelines(lines(session.connection(), TABLES["events"], question))

    def _files(self, nonces: dict[str, str], *, references: bool) -> tuple[str, ...]:
        with Session(self.connection) as session:
            rows = session.scalars(select(Reference).where(Reference.campaign_id == self.campaign_id)).all()
        open_rows = [row for row in rows if row.id in nonces or not row.sealed]
        unsealed = {digest for row in open_rows for _, digest in row_digests("references", {"files": row.files})}
        missing = []
        for store, digest in sorted(self.wanted):
            if store == "sealed" and not references and digest not in unsealed:
                continue
            source = self.office.sealed if store == "sealed" else self.office.files
            if is_digest(digest) and source.has(digest):
                with (self.folder / store / digest).open("wb") as file:
                    file.writelines(source.pieces(digest))
            else:
                missing.append(digest)
        return tuple(missing)


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    with open(os.open(path, os.O_RDONLY), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_bundle(session: Session, office: Office, submission_id: str, out: Path, *, staff: bool = False) -> Path:
    """Write the bundle of the result that holds into a new folder."""
    submission = session.get(Submission, submission_id)
    if submission is None:
        raise missing("submission")
    if out.exists():
        raise BackupError(f"{out} already exists. Choose another name: files are never overwritten.")
    result = adopted_results(session, [submission_id]).get(submission_id)
    if result is None:
        raise refused("M80", "this submission has no result", "wait until it is scored", status=404)
    newest = result.plan_version != submission.plan_version
    made = material(session, office, submission, reference_id=result.reference_id, newest=newest)
    is_open = made.reference.released is not None or not made.reference.sealed
    if not (is_open or staff):
        raise refused("M71", "the reference of this result is sealed", "wait until it is released", status=403)
    out.mkdir(parents=True)
    files = _copy_files(office, submission, made, out)
    (out / "bundle.json").write_text(json.dumps(_note(office, made, files, is_open=is_open), indent=1, sort_keys=True))
    for receipt in _receipts(session, submission_id, result):
        (out / f"{receipt.kind}.receipt.json").write_bytes(receipt.content)
    return out


def _note(office: Office, made: Material, files: Mapping[str, Any], *, is_open: bool) -> dict[str, Any]:
    reference = made.reference
    return {
        "committed": {role: value for role, value in reference.files.items() if role != "names"},
        "draws": made.draws,
        "files": files,
        "format": FORMAT,
        "nonce": office.vault.secret(NONCES, reference.id).hex() if is_open else None,
        "seed": made.seed,
        "settings": dict(made.settings),
        "software": made.software,
        "task": made.task,
    }


def _copy_files(office: Office, submission: Submission, made: Material, out: Path) -> dict[str, Any]:
    """Copy all files into the folder, each under a name of its own."""
    order = shared_parts(office, made)
    scored = scored_file(office, submission)
    name = f"submission{_ending(scored.name)}"
    (scored.store or office.files).copy(Files.digest_at(scored.path), out / name)
    files: dict[str, Any] = {"submission": name}
    for role in ROLES:
        files[role] = [_copy(given, role, number, out) for number, given in enumerate(order[role], 1)]
    for role in SINGLE:
        files[role] = _copy(order[role], role, 1, out) if order[role] else None
    return files


def _copy(given: Given, role: str, number: int, out: Path) -> str:
    name = f"{role}-{number}{_ending(given.name)}"
    if given.store is None:
        shutil.copyfile(given.path, out / name)
    else:
        given.store.copy(given.store.digest_at(given.path), out / name)
    return name


def _ending(name: str) -> str:
    """What tells the format; never the rest of a name, which may name its team (P-25)."""
    return "".join(Path(name).suffixes[-2:]) if name.endswith(".tar.gz") else Path(name).suffix


def _receipts(session: Session, submission_id: str, result: Result) -> list[Receipt]:
    return [receipt for receipt in score_receipts(session, submission_id) if receipt.result_key == result.key]
